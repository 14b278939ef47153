// areal bench histogram --figure poostchi: the comparisons of Figures 7 to 11, 19 and 20 and of section 3.1 of Poostchi
// et al. 2017, with areal's default.
//
// Time on an H200 with 16 cores: cw-b has b (h + w + 1) launches, 131 thousand for 2048 x 2048 x 32, some 0.4 s an
// execute, of which a race makes 3 rounds, and as many for the launches; all else on the GPU is below a second a case,
// the 16 more blocks of the sweep included.
// The CPU's versions are recurrences of 2 ns an entry and thread, 3 rounds and one that does not count: 8 cases of
// 240 million entries in all, a few seconds. Together well below a minute.

#include <fmt/format.h>
#include <algorithm>
#include <areal/error.hpp>
#include <areal/research/histogram.hpp>
#include "bench/harness/cpu_histograms.hpp"
#include "bench/papers/figure.hpp"

namespace areal::bench {
namespace {

struct Case {
  Size size;
  std::int64_t bins;
};

/// The algorithms of the figures, and the tiles of those that have them.
const std::vector<Racer> racers = {
    {"cw-b"},
    {"cw-sts"},
    {"cw-tis", 0.25, WarpScan::kogge_stone, 16},
    {"cw-tis", 0.25, WarpScan::kogge_stone, 32},
    {"cw-tis", 0.25, WarpScan::kogge_stone, 64},
    {"wf-tis", 0.25, WarpScan::kogge_stone, 16},
    {"wf-tis", 0.25, WarpScan::kogge_stone, 32},
    {"wf-tis", 0.25, WarpScan::kogge_stone, 64},
    {"auto"},
};

/// Those, and for Figures 9 and 10, which are of one image, the same tiles by blocks of all other threads.
std::vector<Racer> racers_of(bool sweep) {
  std::vector<Racer> all = racers;
  for (const Racer& racer : sweep ? racers : std::vector<Racer>())
    if (racer.algorithm == "cw-tis" || racer.algorithm == "wf-tis")
      for (const int threads : research::tile_threads(racer.tile))
        if (threads != research::default_tile_threads(racer.tile)) {
          all.push_back(racer);
          all.back().tile_threads = threads;
        }
  return all;
}

constexpr std::int64_t most_cpu_pixels = 2048 * 2048;  // the paper's largest

/// Launches of one kernel in a row as one, and what they are of the algorithm.
std::vector<LaunchTime> by_phase(const std::vector<LaunchTime>& launches) {
  std::vector<LaunchTime> phases;
  for (const LaunchTime& l : launches) {
    if (phases.empty() || phases.back().kernel != l.kernel) {
      phases.push_back(l);
      continue;
    }
    LaunchTime& last = phases.back();
    last.launches += l.launches, last.blocks += l.blocks;
    last.time = {last.time.min + l.time.min, last.time.median + l.time.median, last.time.max + l.time.max};
  }
  bool transposed = false;
  for (LaunchTime& l : phases) {
    if (l.kernel == "InitialiseTensor") l.phase = "initialisation";
    if (l.kernel == "Prescan") l.phase = transposed ? "vertical" : "horizontal";
    if (l.kernel == "TransposePlanes") l.phase = "transpose", transposed = true;
    if (l.kernel == "TransposeBack") l.phase = "last transpose";
    if (l.kernel == "TiledHorizontalScan") l.phase = "horizontal";
    if (l.kernel == "TiledVerticalScan") l.phase = "vertical";
    if (l.kernel == "TiledWavefrontScan") l.phase = "wave-front";
    if (l.phase.empty()) l.phase = "own";
  }
  return phases;
}

/// A record of the device in addition to those of a race.
Record companion(const Case& of, const std::string& what, const std::string& algorithm, const Times& time,
                 std::uint64_t bytes, const Options& options) {
  Record record{what, algorithm, "8u32u", of.size.width, of.size.height, of.bins};
  record.threads = 0;
  record.time = time;
  record.bytes = bytes;
  record.backend = Backend::cuda;
  record.device = device_name(options.device);
  record.border = Border::none;
  record.shown = options.shown;
  return record;
}

/// Returns whether anything ran.
bool measure_gpu(const Case& of, bool sweep, const Options& options, Report& report) {
  Race race;
  race.size = of.size;
  race.bins = of.bins;
  race.racers = racers_of(sweep);
  race.launches = true;
  const Ranks ranks = keep_race(race, options, report, by_phase);
  // Every algorithm of the paper begins with the same launch: keep that of the last one that ran.
  const LaunchTime* first = nullptr;
  std::uint64_t bytes = 0;
  for (const std::optional<Record>& record : ranks)
    if (record && !record->launches.empty() && record->launches[0].phase == "initialisation")
      first = &record->launches[0], bytes = record->bytes;
  if (first != nullptr) report.add(companion(of, "initialisation", "device", first->time, bytes, options));
  return std::any_of(ranks.begin(), ranks.end(), [](const auto& record) { return record.has_value(); });
}

void measure_link(const Case& of, const Options& options, Report& report) {
  const auto image = static_cast<std::uint64_t>(of.size.width * of.size.height);
  const std::uint64_t tensor = 4 * image * static_cast<std::uint64_t>(of.bins);
  try {
    const LinkTimes small = link_times(image, image, options), large = link_times(tensor, tensor, options);
    report.add(companion(of, "transfer", "image up", small.up, image, options));
    report.add(companion(of, "transfer", "tensor up", large.up, tensor, options));
    report.add(companion(of, "transfer", "tensor down", large.down, tensor, options));
  } catch (const Error& error) {  // pinned memory is scarce on some machines
    report.note(fmt::format("{}, {} bins: the transfers were not timed: {}", text_of(of.size), of.bins, error.what()));
  }
}

void measure_cpu(const Case& of, const std::vector<int>& threads, const Options& options, Report& report) {
  if (of.size.width * of.size.height > most_cpu_pixels) {
    report.note(fmt::format("{}: not timed on the CPU, as the paper's largest image is 2048x2048", text_of(of.size)));
    return;
  }
  const auto add = [&](Record record) {
    record.shown = options.shown;
    report.add(record);
  };
  try {
    CpuHistograms tensors(of.size, of.bins);
    add(tensors.time_initialisation(1, options.repetitions));
    if (threads.back() > 1) add(tensors.time_initialisation(threads.back(), options.repetitions));
    add(tensors.time("serial", 1, options.repetitions));
    for (const int n : threads) add(tensors.time("parallel", n, options.repetitions));
    add(tensors.time("auto", threads.back(), options.repetitions));
  } catch (const OutOfMemory& error) {
    report.note(fmt::format("{}, {} bins: not timed on the CPU: {}", text_of(of.size), of.bins, error.what()));
  }
}

/// 1, 2, 4, 8 and 16, as many as may be used.
std::vector<int> threads_of(const Options& options, Report& report) {
  std::vector<int> threads;
  std::string left_out;
  const int most = options.threads.back();
  for (const int n : {1, 2, 4, 8, 16})
    if (n <= most)
      threads.push_back(n);
    else
      left_out += (left_out.empty() ? "" : ", ") + std::to_string(n);
  if (!left_out.empty())
    report.note(
        fmt::format("the CPU's parallel version is not timed with {} threads: only {} may be used", left_out, most));
  return threads;
}

/// That one if it is among them, else the first.
template <class T, class Same>
std::size_t chosen(const std::vector<T>& list, const Same& same) {
  const auto found = std::find_if(list.begin(), list.end(), same);
  return found == list.end() ? 0 : static_cast<std::size_t>(found - list.begin());
}

}  // namespace

void bench_poostchi(const Options& options, Report& report) {
  check_figure(options);
  std::vector<Size> sizes = options.sizes;
  if (sizes.empty()) sizes = {{256, 256}, {512, 512}, {640, 480}, {1024, 1024}, {2048, 2048}};
  const std::vector<std::int64_t> bins =
      options.bins.empty() ? std::vector<std::int64_t>{16, 32, 64, 128} : options.bins;
  const std::int64_t all_sizes = bins[chosen(bins, [](std::int64_t b) { return b == 32; })];
  const std::size_t all_bins = chosen(sizes, [](const Size& s) { return s.width == 512 && s.height == 512; });
  const std::vector<int> threads = threads_of(options, report);

  bool any = false;
  const auto measure = [&](const Case& of, bool sweep) {
    any = measure_gpu(of, sweep, options, report) || any;
    measure_link(of, options, report);
    measure_cpu(of, threads, options, report);
  };
  for (std::size_t i = 0; i < sizes.size(); ++i) measure({sizes[i], all_sizes}, i == all_bins);
  for (const std::int64_t b : bins)
    if (b != all_sizes) measure({sizes[all_bins], b}, false);
  if (!any) throw Unavailable("--figure poostchi: nothing ran; the notes say why");
}

}  // namespace areal::bench
