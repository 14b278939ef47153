// areal bench spread: one table over several devices against the same table on the first of them and against copies,
// all in turns, with resident pixels and tables. With --bins: the tensor of one image, its bins spread over the
// devices.
//
// Time on two H200: 65536x65536 32f32f about a minute, most of it the checks.

#include <fmt/format.h>
#include <algorithm>
#include <areal/device.hpp>
#include <areal/error.hpp>
#include <areal/histogram.hpp>
#include <areal/spread.hpp>
#include <memory>
#include <set>
#include <thread>
#include <utility>
#include "bench/harness/bench.hpp"
#include "bench/harness/noise.hpp"
#include "bench/harness/product_image.hpp"
#include "bench/harness/tensor_check.hpp"

namespace areal::bench {
namespace {

constexpr std::uint64_t seed = 14;
constexpr std::int64_t checked_at_once = std::int64_t{64} << 20;  // bytes

Execution execution_of(const Worker& worker) {
  return {.backend = worker.backend, .device = worker.device, .threads = worker.threads};
}

/// The devices, and the one that all of them are compared with.
struct Devices {
  std::vector<Worker> all;
  Worker one;

  explicit Devices(const Options& options) : all(options.workers) {
    if (all.empty() && options.backend == Backend::cuda) all = workers_named("all");
    if (all.empty()) {  // two halves of the CPU
      const int threads = options.threads.back();
      all = {{.threads = std::max(1, threads / 2)}, {.threads = std::max(1, threads / 2)}};
      one = {.threads = threads};
    } else {
      one = all.front();
    }
    for (const Worker& worker : all) OwnedStream(execution_of(worker)).wait();  // throws Unavailable before any work
  }
  bool on_cuda() const { return one.backend == Backend::cuda; }
};

/// `queue(i)` for each, at once: CUDA's by one thread, the CPU's each by its own.
template <class Queue>
void at_once(std::size_t n, bool on_cuda, const Queue& queue) {
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < n; ++i)
    if (on_cuda)
      queue(i);
    else
      threads.emplace_back([&queue, i] { queue(i); });
  for (std::thread& thread : threads) thread.join();
}

/// Some rows of the image, and of its table, on a device.
struct Rows {
  Execution on;
  OwnedStream stream;
  std::int64_t first;
  DeviceArray pixels, table, from, to;  // from, to: if pixels and table differ in size

  Rows(const ProductImage& image, const Worker& worker, std::int64_t first_row, std::int64_t count, Type sums)
      : on(execution_of(worker)),
        stream(on),
        first(first_row),
        pixels({image.width(), count}, image.type(), on),
        table({image.width(), count}, sums, on) {
    if (pixels.bytes() != table.bytes()) {
      const Shape half{static_cast<std::int64_t>((pixels.bytes() + table.bytes()) / 2), 1};
      from = DeviceArray(half, Type::u8, on), to = DeviceArray(half, Type::u8, on);
      clear_view(from.view(), stream);
    }
    const DeviceArray kinds = DeviceArray::copy_of(image.kinds().view(), on);
    for (std::int64_t y = 0; y < count; ++y)
      copy_view(row_of(kinds.view(), image.kind_of(first + y)), row_of(pixels.view(), y), stream.get());
    stream.wait();
  }
  template <class V>
  static V row_of(const V& view, std::int64_t y) {
    return V(view.row(y), view.type, {view.shape.width, 1}).in(view.memory);
  }
  /// Queues a copy that reads and writes as many bytes in all as making the table does.
  void copy() {
    if (from.bytes() > 0) return copy_view(std::as_const(from).view(), to.view(), stream.get());
    const auto as_bytes = [](DeviceArray& of) {
      return View(of.view().data, Type::u8, {static_cast<std::int64_t>(of.bytes()), 1}).in(of.memory());
    };
    copy_view(ConstView(as_bytes(pixels)), as_bytes(table), stream.get());
  }
  /// Overwrites the table.
  void spoil() { clear_view(table.view(), stream), stream.wait(); }
  /// "" if every entry is right.
  std::string wrong(const ProductImage& image) {
    const std::int64_t row_bytes = std::max<std::int64_t>(1, table.view().row_pitch);
    const std::int64_t height =
        std::clamp<std::int64_t>(checked_at_once / row_bytes, 1, std::max<std::int64_t>(1, table.shape().height));
    PinnedArray block({image.width(), height}, table.type(), on);
    for (std::int64_t y = 0; y < table.shape().height; y += height) {
      const Shape shape{image.width(), std::min(height, table.shape().height - y)};
      const View here(block.data(), table.type(), shape);
      copy_view(ConstView(table.view().row(y), table.type(), shape).in(table.memory()), here);
      if (std::string what = image.wrong_sums(here, first + y); !what.empty()) return what;
    }
    return {};
  }
};

Record record_of(const char* what, const std::string& algorithm, const std::string& types, const Size& size,
                 const Devices& devices, bool alone) {
  Record record{what, algorithm, types, size.width, size.height};
  record.backend = devices.one.backend;
  record.border = Border::none;
  if (devices.on_cuda()) record.device = device_name(devices.one.device);
  record.threads = devices.one.threads;
  for (const Worker& worker : alone ? std::vector<Worker>{devices.one} : devices.all)
    record.devices += (record.devices.empty() ? "" : ",") + name_of(worker);
  return record;
}

struct Cut {
  SpreadSat spread;
  std::string words;
};

void bench_tables(const Size& size, TypePair types, const Devices& devices, const Options& options, Report& report) {
  const ProductImage image(size.width, size.height, types.input, seed);
  const Shape shape{size.width, size.height};
  SatOptions sat{.border = Border::none, .types = types};
  if (!options.algorithms.empty()) sat.algorithm = options.algorithms.front();
  const SatPlan plan(shape, types.input, {.border = Border::none, .types = types}, execution_of(devices.one));
  Workspace workspace(plan);
  Rows whole(image, devices.one, 0, size.height, types.table);

  std::vector<Cut> cuts;
  std::vector<Size> requests{{0, 0}};  // bands x parts; first what the library chooses
  requests.insert(requests.end(), options.cuts.begin(), options.cuts.end());
  if (options.cuts.empty() && devices.on_cuda())
    requests.insert(requests.end(), {{16, 2}, {24, 1}, {24, 2}, {48, 1}, {48, 2}, {48, 4}, {96, 2}});
  for (const Size& cut : requests) {
    const std::int64_t band = cut.width == 0 ? 0 : (size.width + cut.width - 1) / cut.width;
    SpreadSat spread(shape, types.input, sat,
                     {.devices = devices.all, .band_width = band, .parts = static_cast<int>(cut.height)});
    std::string words = fmt::format("{} bands of {}, {} parts{}", spread.bands(), spread.band_width(), spread.parts(),
                                    cut.width == 0 ? " (chosen)" : "");
    cuts.push_back({std::move(spread), std::move(words)});
  }
  std::vector<std::unique_ptr<Rows>> strips;
  std::vector<ConstView> pixels;
  std::vector<View> tables;
  for (const SpreadStrip& strip : cuts[0].spread.strips()) {
    strips.push_back(std::make_unique<Rows>(image, strip.worker, strip.first, strip.pixels.height, types.table));
    pixels.emplace_back(std::as_const(strips.back()->pixels).view());
    tables.push_back(strips.back()->table.view());
  }

  std::vector<Contestant> contestants{
      {"copy on one", [&] { whole.copy(), whole.stream.wait(); }},
      {"copy on all",
       [&] {
         at_once(strips.size(), devices.on_cuda(), [&](std::size_t i) { strips[i]->copy(); });
         for (const auto& strip : strips) strip->stream.wait();
       }},
      {"one", [&] {
         plan.execute({std::as_const(whole.pixels).view(), whole.table.view()}, workspace);
       }}};
  for (Cut& cut : cuts) contestants.push_back({cut.words, [&] { cut.spread.execute(pixels, tables); }});
  const std::vector<Times> times = measure(contestants, options.repetitions);

  const auto report_wrong = [&](const std::string& name, const std::string& what) {
    if (!what.empty() && options.wrong)
      options.wrong(fmt::format("{}x{} {}, {}: {}", size.width, size.height, name_of(types), name, what));
  };
  const std::uint64_t bytes = bytes_of(shape, types.input) + bytes_of(shape, types.table);
  const auto keep = [&](Record record, const Times& time, const Times& floor) {
    record.time = time, record.floor = "copy", record.floor_time = floor, record.bytes = bytes;
    report.add(record);
  };
  whole.spoil();
  contestants[2].run();
  report_wrong("one device", whole.wrong(image));
  keep(record_of("spread", plan.algorithm(), name_of(types), size, devices, true), times[2], times[0]);
  std::size_t best = 0;
  for (std::size_t i = 0; i < cuts.size(); ++i) {
    for (const auto& strip : strips) strip->spoil();
    contestants[3 + i].run();
    for (const auto& strip : strips) report_wrong(cuts[i].words, strip->wrong(image));
    Record record = record_of("spread", sat.algorithm, name_of(types), size, devices, false);
    record.part = cuts[i].words;
    keep(record, times[3 + i], times[1]);
    if (times[3 + i].median < times[3 + best].median) best = i;
  }
  for (std::size_t i = 0; i < strips.size(); ++i)
    report.note(fmt::format("{}: {} rows{}", name_of(cuts[0].spread.strips()[i].worker),
                            strips[i]->pixels.shape().height,
                            i == 0 || !devices.on_cuda()        ? ""
                            : cuts[0].spread.strips()[i].direct ? ", the row above comes straight from the device above"
                                                                : ", the row above comes through the host"));
  report.note(fmt::format(
      "{}x{} {} over {} devices: {:.3f} times one device as chosen, {:.3f} times with {}; copies {:.3f} times",
      size.width, size.height, name_of(types), devices.all.size(), times[2].median / times[3].median,
      times[2].median / times[3 + best].median, cuts[best].words, times[0].median / times[1].median));
}

/// Some bins of a tensor, on a device.
struct Bins {
  HistogramPlan plan;
  OwnedStream stream;
  Workspace workspace;
  DeviceArray image, tensor;
  std::int64_t first;

  Bins(const Array& pixels, const Binning& binning, std::int64_t first_bin, std::int64_t count, const Worker& worker)
      : Bins(pixels, binning.slice(first_bin, count), first_bin, execution_of(worker),
             OwnedStream(execution_of(worker))) {}
  void compute() { plan.execute({std::as_const(image).view(), tensor.view()}, workspace); }

 private:
  Bins(const Array& pixels, const Binning& some, std::int64_t first_bin, Execution on, OwnedStream own)
      : plan(pixels.shape(), Type::u8, some, {}, with(on, own)),
        stream(std::move(own)),
        workspace(plan),
        image(DeviceArray::copy_of(pixels.view(), on)),
        tensor(plan.tensor_shape(), Type::u32, on),
        first(first_bin) {}
  static Execution with(Execution on, const OwnedStream& own) {
    on.stream = own.get();
    return on;
  }
};

void bench_bins(const Size& size, std::int64_t bins, const Devices& devices, const Options& options, Report& report) {
  Array image({size.width, size.height}, Type::u8);
  fill_noise(image.view(), seed);
  const Binning binning = Binning::uniform(bins, 0, 256);
  Bins whole(image, binning, 0, bins, devices.one);
  std::vector<std::unique_ptr<Bins>> some;
  const auto n = static_cast<std::int64_t>(devices.all.size());
  for (std::int64_t i = 0, first = 0; i < n; ++i) {
    const std::int64_t count = bins / n + (i < bins % n ? 1 : 0);
    if (count > 0)
      some.push_back(std::make_unique<Bins>(image, binning, first, count, devices.all[static_cast<std::size_t>(i)]));
    first += count;
  }
  const auto all = [&](const auto& queue) {
    at_once(some.size(), devices.on_cuda(), [&](std::size_t i) { queue(*some[i]); });
    for (const auto& of : some) of->stream.wait();
  };
  const std::vector<Contestant> contestants{
      {"memset on one", [&] { clear_view(whole.tensor.view(), whole.stream.get()), whole.stream.wait(); }},
      {"memset on all", [&] { all([](Bins& of) { clear_view(of.tensor.view(), of.stream.get()); }); }},
      {"one", [&] { whole.compute(), whole.stream.wait(); }},
      {"all", [&] { all([](Bins& of) { of.compute(); }); }}};
  const std::vector<Times> times = measure(contestants, options.repetitions);
  for (const Contestant& contestant : contestants) contestant.run();  // compute the tensors that are checked

  // Every entry of each device's first, middle and last bin.
  const TensorCheck check(image.as<std::uint8_t>(), size, bins);
  PinnedArray plane({size.width, size.height}, Type::u32, execution_of(devices.one));
  const auto look = [&](Bins& of, const char* name) {
    const std::int64_t count = of.tensor.shape().channels;
    for (const std::int64_t bin : std::set<std::int64_t>{0, count / 2, count - 1}) {
      const ConstView there = ConstView(of.tensor.view().row(0, bin), Type::u32, plane.shape()).in(of.tensor.memory());
      copy_view(there, plane.view());
      const ConstView here(plane.data(), Type::u32, {size.width, size.height, 1, 1, Layout::planar});
      if (const std::string what = check.whole(here, of.first + bin); !what.empty() && options.wrong)
        options.wrong(
            fmt::format("{}x{}, {} bins, {}, bin {}: {}", size.width, size.height, bins, name, of.first + bin, what));
    }
  };
  look(whole, "one device");
  for (const auto& of : some) look(*of, "all devices");
  for (const bool alone : {true, false}) {
    Record record = record_of("spread", whole.plan.algorithm(), "8u32u", size, devices, alone);
    record.bins = bins, record.time = times[alone ? 2 : 3];
    record.floor = "memset", record.floor_time = times[alone ? 0 : 1];
    record.part = "bins";
    record.bytes = static_cast<std::uint64_t>(size.width * size.height * (1 + 4 * bins));
    report.add(record);
  }
  report.note(fmt::format("{}x{}, {} bins over {} devices: {:.3f} times one device; memset {:.3f} times", size.width,
                          size.height, bins, devices.all.size(), times[2].median / times[3].median,
                          times[0].median / times[1].median));
}

}  // namespace

void bench_spread(const Options& options, Report& report) {
  const Devices devices(options);
  std::vector<Size> sizes = options.sizes;
  if (!options.bins.empty()) {
    if (sizes.empty()) sizes = {devices.on_cuda() ? Size{8192, 8192} : Size{1024, 1024}};
    for (const Size& size : sizes)
      for (const std::int64_t bins : options.bins) bench_bins(size, bins, devices, options, report);
    return;
  }
  if (sizes.empty()) sizes = {devices.on_cuda() ? Size{65536, 65536} : Size{8192, 8192}};
  for (const Size& size : sizes)
    for (const TypePair types : options.pairs.empty() ? std::vector<TypePair>{type_pair("32f32f")} : options.pairs)
      bench_tables(size, types, devices, options, report);
}

}  // namespace areal::bench
