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
#include "bench/papers/poostchi.hpp"

namespace areal::bench {
namespace {

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
    last.time.min += l.time.min, last.time.median += l.time.median, last.time.max += l.time.max;
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
Record companion(const PoostchiCase& of, const std::string& what, const std::string& algorithm, const Times& time,
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

void measure_gpu(PoostchiCase& of, bool sweep, const Options& options, Report& report) {
  Race race;
  race.size = of.size;
  race.bins = of.bins;
  race.racers = poostchi_racers;
  if (sweep)
    for (const Racer& racer : poostchi_sweep()) race.racers.push_back(racer);
  race.launches = true;
  of.ranks = keep_race(race, options, report, by_phase);
  // Every algorithm of the paper begins with the same launch: keep that of the last one that ran.
  const LaunchTime* first = nullptr;
  std::uint64_t bytes = 0;
  for (const std::optional<Record>& record : of.ranks)
    if (record && !record->launches.empty() && record->launches[0].phase == "initialisation")
      first = &record->launches[0], bytes = record->bytes;
  if (first == nullptr) return;
  of.initialised = first->time.median;
  report.keep(companion(of, "initialisation", "device", first->time, bytes, options));
}

void measure_link(PoostchiCase& of, const Options& options, Report& report) {
  const auto image = static_cast<std::uint64_t>(of.size.width * of.size.height);
  const std::uint64_t tensor = 4 * image * static_cast<std::uint64_t>(of.bins);
  try {
    const LinkTimes small = link_times(image, image, options), large = link_times(tensor, tensor, options);
    of.image_up = small.up.median, of.tensor_up = large.up.median, of.tensor_down = large.down.median;
    report.keep(companion(of, "transfer", "image up", small.up, image, options));
    report.keep(companion(of, "transfer", "tensor up", large.up, tensor, options));
    report.keep(companion(of, "transfer", "tensor down", large.down, tensor, options));
  } catch (const Error& error) {  // pinned memory is scarce on some machines
    report.note(fmt::format("{}, {} bins: the transfers were not timed: {}", text_of(of.size), of.bins, error.what()));
  }
}

void measure_cpu(PoostchiCase& of, const std::vector<int>& threads, const Options& options, Report& report) {
  if (of.size.width * of.size.height > most_cpu_pixels) {
    report.note(fmt::format("{}: not timed on the CPU, as the paper's largest image is 2048x2048", text_of(of.size)));
    return;
  }
  const auto keep = [&](Record record, std::vector<Record>& list) {
    record.shown = options.shown;
    report.keep(record);
    list.push_back(record);
  };
  try {
    CpuHistograms tensors(of.size, of.bins);
    keep(tensors.time_initialisation(1, options.repetitions), of.host);
    if (threads.back() > 1) keep(tensors.time_initialisation(threads.back(), options.repetitions), of.host);
    keep(tensors.time("serial", 1, options.repetitions), of.cpu);
    for (const int n : threads) keep(tensors.time("parallel", n, options.repetitions), of.cpu);
    keep(tensors.time("auto", threads.back(), options.repetitions), of.cpu);
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

std::vector<Racer> poostchi_sweep() {
  std::vector<Racer> sweep;
  for (const Racer& racer : poostchi_racers) {
    if (racer.algorithm != "cw-tis" && racer.algorithm != "wf-tis") continue;
    for (const int threads : research::tile_threads(racer.tile)) {
      if (threads == research::default_tile_threads(racer.tile)) continue;
      sweep.push_back(racer);
      sweep.back().tile_threads = threads;
    }
  }
  return sweep;
}

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
  const auto measured = [&](const Size& size, std::int64_t b, bool sweep) {
    PoostchiCase of;
    of.size = size, of.bins = b;
    measure_gpu(of, sweep, options, report);
    for (const std::optional<Record>& record : of.ranks) any = any || record;
    measure_link(of, options, report);
    measure_cpu(of, threads, options, report);
    return of;
  };
  Poostchi what;
  what.swept = all_bins;
  for (std::size_t i = 0; i < sizes.size(); ++i) what.by_size.push_back(measured(sizes[i], all_sizes, i == all_bins));
  for (const std::int64_t b : bins)
    what.by_bins.push_back(b == all_sizes ? what.by_size[all_bins] : measured(sizes[all_bins], b, false));
  if (!any) throw Unavailable("--figure poostchi: nothing ran; the notes say why");
  print(what);
  if (!options.plot.empty()) write_picture(options.plot, picture(what));
}

}  // namespace areal::bench
