// areal bench sat --table sweep: every algorithm that `auto` may choose, and `auto`, in rounds of random order. A
// record is a case; tests/policy/sat_sweep_test.cpp holds src/policy/sat_choice.hpp to it.
#include <fmt/format.h>
#include <algorithm>
#include <areal/error.hpp>
#include "bench/harness/bench.hpp"
#include "bench/harness/peers.hpp"

namespace areal::bench {
namespace {

struct Grid {
  Size size;
  std::int64_t batch;
};
constexpr Grid all_sizes[] = {{{256, 256}, 1},   {{512, 512}, 1},   {{640, 480}, 1},   {{1024, 1024}, 1},
                              {{1280, 720}, 1},  {{1920, 1080}, 1}, {{2048, 2048}, 1}, {{3840, 2160}, 1},
                              {{4096, 4096}, 1}, {{5000, 7000}, 1}, {{8192, 8192}, 1}, {{16384, 16384}, 1},
                              {{640, 480}, 64},  {{1920, 1080}, 8}};
constexpr const char* all_pairs[] = {"32f32f", "32u32u", "8u32u",  "8u32s", "8u32f",
                                     "16u32u", "64f64f", "32f64f", "8u64f"};
const std::vector<std::string> choices{"auto",  "lookback", "lookback-diagonal", "all-partials", "thin",
                                       "bands", "relay"};
constexpr double most_us = 4e5;  // of a case's rounds

struct Case {
  TypePair types;
  Squares squares;
  Border border;
  Grid grid;
};

void run(const Case& c, const Options& options, CudaBenchSweep bench, Report& report) {
  const auto [size, batch] = c.grid;
  const std::optional<Type> squares = squares_type(c.types, c.squares);
  Record record{"sat", "auto", name_of(c.types, squares), size.width, size.height, 0, batch};
  const auto pixels = static_cast<std::uint64_t>(size.width * size.height * batch);
  const std::int64_t more = c.border == Border::zero ? 1 : 0;
  const auto entries = static_cast<std::uint64_t>((size.width + more) * (size.height + more) * batch);
  record.bytes =
      pixels * size_of(c.types.input) + entries * (size_of(c.types.table) + (squares ? size_of(*squares) : 0));
  record.threads = 0;
  record.backend = Backend::cuda;
  record.device = device_name(options.device);
  record.border = c.border;
  record.shown = options.shown;
  record.floor = size_of(c.types.input) == size_of(c.types.table) && !squares ? "copy" : "widen";
  std::vector<std::string> names = options.algorithms.empty() ? choices : options.algorithms;
  if (squares) names = {"auto"};
  CudaSweep sweep{c.types,
                  c.squares,
                  c.border,
                  size.width,
                  size.height,
                  batch,
                  names,
                  options.is_repetitions_given ? options.repetitions : 300,
                  options.device,
                  most_us,
                  {},
                  {},
                  {},
                  {}};
  const std::string where =
      fmt::format("{} {}x{}x{} border {}", record.types, size.width, size.height, batch, name_of(c.border));
  sweep.floor = [&](const std::vector<double>& times) { record.floor_time = times_of(times); };
  sweep.done = [&](std::size_t i, const CudaSweep::Row& row) {
    const bool is_default = names[i] == "auto";
    if (is_default) record.time = times_of(row.times);
    record.rows.push_back({names[i], is_default ? row.algorithm : "", times_of(row.times),
                           static_cast<std::int64_t>(row.kernels.size())});
  };
  sweep.refused = [&](std::size_t i, const std::string& why) {
    report.note(fmt::format("{} of {} did not run: {}", names[i], where, why));
  };
  sweep.wrong = [&](std::size_t i, const std::string& why) {
    if (options.wrong) options.wrong(fmt::format("{} of {}: {}", names[i], where, why));
  };
  call(bench, sweep, where + ": ");
  if (record.rows.empty() || record.rows[0].algorithm != "auto")
    report.note(where + " is left out, as auto did not run");
  else
    report.add(record);
}

std::vector<Grid> grid_of(const Options& options) {
  std::vector<Grid> grid;
  for (const Size& size : options.sizes) grid.push_back({size, options.batch});
  if (!grid.empty()) return grid;
  for (const Grid& one : all_sizes)
    if (!options.is_batch_given || one.batch == options.batch) grid.push_back(one);
  return grid;
}

}  // namespace

void bench_sweep(const Options& options, Report& report) {
  if (options.border == Border::exclusive) throw InvalidArgument("--border exclusive: a sweep has none and zero");
  if (!options.algorithms.empty() && options.algorithms[0] != "auto")
    throw InvalidArgument("--algorithm " + options.algorithms[0] + ": a sweep begins with auto");
  const auto bench = cuda_bench<CudaBenchSweep>("areal_cuda_bench_sweep");
  std::vector<std::pair<TypePair, Squares>> pairs;
  for (const TypePair types : options.pairs) pairs.emplace_back(types, options.squares);
  if (pairs.empty() && options.squares == Squares::no)
    for (const char* name : all_pairs) pairs.emplace_back(type_pair(name), Squares::no);
  if (options.pairs.empty())
    pairs.emplace_back(type_pair("8u32u"), options.squares == Squares::no ? Squares::u64 : options.squares);
  std::vector<Border> borders{Border::none, Border::zero};
  if (options.is_border_given) borders = {options.border};
  for (const auto& [types, squares] : pairs)
    for (const Border border : borders)
      for (const Grid& grid : grid_of(options)) run({types, squares, border, grid}, options, bench, report);
}

}  // namespace areal::bench
