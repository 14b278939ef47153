// areal bench region --table stores: each store of histograms or of quantiles, built and read, in rounds of random
// order. A record is a case; tests/policy/store_sweep_test.cpp holds the choice of Store::automatic to it.
#include <fmt/format.h>
#include <algorithm>
#include <areal/error.hpp>
#include <areal/histogram_store.hpp>
#include <areal/region_quantile.hpp>
#include <array>
#include <map>
#include <memory>
#include <string_view>
#include "bench/harness/bench.hpp"
#include "bench/harness/peers.hpp"

namespace areal::bench {
namespace {

constexpr std::array<Size, 3> all_sizes{{{512, 512}, {1920, 1080}, {4096, 4096}}};
constexpr std::array<std::int64_t, 2> all_bins{32, 256};
constexpr std::array<std::int64_t, 2> sides{32, 200};
constexpr std::array<std::int64_t, 6> counts{1, 10, 100, 1000, 10'000, 100'000};
constexpr std::uint64_t most_tensor = std::uint64_t{1} << 29;  // larger ones are never the fastest
constexpr std::int64_t most_answers = std::int64_t{1} << 22;   // numbers that a case answers
constexpr std::int64_t most_area = 200'000'000;  // pixels of a case's boxes, beyond which none is never the fastest
constexpr double most_us = 1e6;                  // of a case's rounds on the CPU
constexpr int least_rounds = 5;

/// Histograms, or medians where `bins` is 0.
struct Case {
  Size size;
  Type type;
  std::int64_t bins, count, side;
};

std::vector<Store> stores_of(const Case& c) {
  if (c.bins == 0) return {Store::none, Store::rank};
  const auto pixels = static_cast<std::uint64_t>(c.size.width * c.size.height);
  if (4 * pixels * static_cast<std::uint64_t>(c.bins) > most_tensor) return {Store::none, Store::compact};
  return {Store::none, Store::compact, Store::tensor};
}

Record record_of(const Case& c, Backend backend, int threads, const Options& options) {
  Record record{"stores",     "auto",        std::string(name_of(c.type)) + (c.bins == 0 ? "-64f" : "-64u"),
                c.size.width, c.size.height, c.bins};
  record.batch = c.count;
  record.part = fmt::format("{}x{}", c.side, c.side);
  record.threads = threads;
  record.backend = backend;
  if (backend == Backend::cuda) record.device = device_name(options.device);
  record.border = Border::none;
  record.shown = options.shown;
  record.bytes = static_cast<std::uint64_t>(c.count * c.side * c.side) * size_of(c.type);
  return record;
}

StorePlan plan_of(const Case& c, Store store, const Execution& execution) {
  StoreOptions options{.store = store, .regions = c.count, .area = c.count * c.side * c.side};
  const Shape shape{c.size.width, c.size.height};
  if (c.bins == 0) return StorePlan(shape, c.type, options, execution);
  return StorePlan(shape, c.type, Binning::of_type(c.type, c.bins), options, execution);
}

/// The row of a store, and the time of the one that `automatic` chooses.
void add_row(Record& record, Store store, Store chosen, const Times& time) {
  record.rows.push_back({std::string(name_of(store)), "", time, 0});
  if (store == chosen) record.time = time;
}

void run_on_cpu(const Case& c, int threads, const Options& options, Report& report) {
  const Array image = random_image(c.size, c.type);
  const std::vector<Region> boxes = random_squares(c.size, c.count, c.side);
  const Execution execution{.backend = Backend::cpu, .threads = threads};
  const QueryOptions query{.execution = execution};
  const std::vector<double> half{0.5};
  struct Racer {
    StorePlan plan;
    HistogramStore store;
    std::vector<std::uint64_t> counts;
    std::vector<double> medians;
  };
  std::vector<std::unique_ptr<Racer>> racers;
  std::vector<Contestant> contestants;
  for (const Store store : stores_of(c)) {
    racers.push_back(std::unique_ptr<Racer>(new Racer{plan_of(c, store, execution), {}, {}, {}}));
    Racer& racer = *racers.back();
    if (c.bins == 0)
      racer.medians.resize(boxes.size());
    else
      racer.counts.resize(boxes.size() * static_cast<std::size_t>(c.bins));
    contestants.push_back({std::string(name_of(store)), [&, &racer = racer] {
                             racer.plan.build({image.view()}, racer.store);
                             if (c.bins == 0)
                               region_quantiles(racer.store, boxes, half, racer.medians, QuantileMethod::linear, query);
                             else
                               region_histograms(racer.store, boxes, racer.counts, query);
                           }});
  }
  // A first round says how many the time allows.
  double round = 0;
  for (const Times& time : measure(contestants, 1)) round += time.median;
  const int rounds = options.is_repetitions_given
                         ? options.repetitions
                         : std::clamp(static_cast<int>(most_us / std::max(round, 1.0)), least_rounds, 51);
  const std::vector<Times> times = measure(contestants, rounds);
  for (const auto& racer : racers)
    if (racer->counts != racers[0]->counts || racer->medians != racers[0]->medians)
      throw Error(fmt::format("store {}: an answer is not that of none", name_of(racer->plan.store())));
  Record record = record_of(c, Backend::cpu, threads, options);
  const Store chosen = plan_of(c, Store::automatic, execution).store();
  for (std::size_t i = 0; i < racers.size(); ++i) add_row(record, racers[i]->plan.store(), chosen, times[i]);
  report.add(record);
}

void run_on_cuda(const Case& c, const Options& options, CudaBenchBoxes bench, Report& report) {
  const Array image = random_image(c.size, c.type);
  const std::vector<Region> boxes = random_squares(c.size, c.count, c.side);
  const Execution on_cpu{.backend = Backend::cpu};
  std::vector<std::uint64_t> expected(boxes.size() * static_cast<std::size_t>(c.bins)), answers(expected.size());
  region_histograms(plan_of(c, Store::compact, on_cpu).build({image.view()}), boxes, expected);
  std::map<std::string_view, Times> times;
  CudaBoxes what{c.size.width,   c.size.height, c.bins, image.data(), boxes, options.repetitions,
                 options.device, answers,       {}};
  what.done = [&](const char* query, const std::vector<double>& found, const std::vector<double>&) {
    if (std::string_view(query) != CudaBoxes::build && answers != expected)
      throw Error(fmt::format("{}: an answer is not the CPU's", query));
    times.emplace(query, times_of(found));
  };
  call(bench, what);
  Record record = record_of(c, Backend::cuda, 0, options);
  const Store chosen = plan_of(c, Store::automatic, {.backend = Backend::cuda, .device = options.device}).store();
  add_row(record, Store::none, chosen, times.at(CudaBoxes::of_pixels));
  add_row(record, Store::compact, chosen, times.at(CudaBoxes::of_new_store));
  add_row(record, Store::tensor, chosen, times.at(CudaBoxes::of_tensor));
  report.add(record);
}

}  // namespace

void bench_stores(const Options& options, Report& report) {
  if (options.backend == Backend::simt)
    throw InvalidArgument("--backend simt: it counts memory accesses and cannot be timed");
  const bool on_cpu = options.backend == Backend::cpu;
  const auto bench = on_cpu ? nullptr : cuda_bench<CudaBenchBoxes>("areal_cuda_bench_boxes");
  const auto run = [&](const Case& c) {
    if (c.count * std::max<std::int64_t>(1, c.bins) > most_answers || c.count * c.side * c.side > most_area) return;
    if (!on_cpu) return run_on_cuda(c, options, bench, report);
    for (const int threads : options.threads) run_on_cpu(c, threads, options, report);
  };
  const std::vector<Size> sizes =
      !options.sizes.empty() ? options.sizes : std::vector<Size>(all_sizes.begin(), all_sizes.end());
  const std::vector<std::int64_t> bins =
      !options.bins.empty() ? options.bins : std::vector<std::int64_t>(all_bins.begin(), all_bins.end());
  std::vector<std::int64_t> numbers(counts.begin(), counts.end());
  if (options.regions) numbers = {*options.regions};
  for (const Size& size : sizes)
    for (const std::int64_t side : sides)
      for (const std::int64_t count : numbers) {
        if (side > std::min(size.width, size.height)) continue;
        for (const std::int64_t k : bins) run({size, Type::u8, k, count, side});
        if (!on_cpu) continue;  // there the type matters little, and quantiles have one store
        for (const std::int64_t k : bins) run({size, Type::u16, k, count, side});
        for (const Type type : {Type::u8, Type::u16})
          if (count <= 10'000) run({size, type, 0, count, side});
      }
}

}  // namespace areal::bench
