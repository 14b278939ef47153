// areal bench sequence: frames in the slots' own memory through a HistogramSequence: 100 boxes of each, or its whole
// tensor. With one slot the stages run one after another, with more they overlap. The floor is the longest stage; plain
// copies measure the link's.

#include <fmt/format.h>
#include <algorithm>
#include <utility>
#include "bench/harness/bench.hpp"
#include "bench/harness/frames_in_memory.hpp"
#include "bench/harness/race.hpp"

namespace areal::bench {
namespace {

/// As many as take half a second, at the least 40.
std::int64_t frames_for(double frame_us) {
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(5e5 / frame_us), 40, 20000);
}

void bench_case(const FramesCase& of, const Options& options, Report& report) {
  FramesInMemory runner(of, options.wrong);
  const bool one_device = of.workers.size() == 1 && of.workers[0].backend == Backend::cuda;
  const double first = runner.run(1, 10).frame_us;
  double alone = 0;  // sum over the workers of frames per microsecond, each measured alone
  if (of.workers.size() > 1)
    for (const Worker& worker : of.workers) {
      const FramesCase single{of.size, of.bins, of.tensors, {worker}};
      alone += 1 / FramesInMemory(single, options.wrong).run(8, frames_for(first)).frame_us;
    }
  const FrameTimes stages = runner.run(1, frames_for(first));
  double floor_us = of.workers.size() > 1 ? 1 / alone : 0;
  std::string floor = of.workers.size() > 1 ? "alone" : "";
  if (one_device) {
    const auto pixels = static_cast<std::uint64_t>(of.size.width * of.size.height);
    const std::uint64_t down =
        of.tensors ? pixels * static_cast<std::uint64_t>(of.bins) * 4 : 100 * static_cast<std::uint64_t>(of.bins) * 8;
    const LinkTimes link = link_times(pixels, down, options);
    const std::pair<double, const char*> longest = std::max(
        {std::pair(stages.compute, "compute"), std::pair(link.up.median, "link"), std::pair(link.down.median, "link")});
    floor_us = longest.first, floor = longest.second;
  }
  std::vector<int> sweep{1, 2, 4, 8};
  if (of.workers.size() > 1) sweep.insert(sweep.end(), {16, 32});  // a slow worker helps behind a queue that is as long
  for (const int slots : sweep) {
    std::vector<double> times;
    for (int i = 0; i < std::min(options.repetitions, 5); ++i)
      times.push_back(runner.run(slots, frames_for(first)).frame_us);
    Record record{"sequence",
                  fmt::format("{} {} slots {}", of.tensors ? "tensors" : "answers", names_of(of.workers), slots),
                  "8u-32u",
                  of.size.width,
                  of.size.height,
                  of.bins,
                  1};
    record.threads = 0;
    record.border = Border::none;
    record.backend = of.workers[0].backend;
    if (record.backend == Backend::cuda) record.device = device_name(of.workers[0].device);
    record.time = times_of(times);
    record.floor = floor;
    record.floor_time = {floor_us, floor_us, floor_us};
    record.bytes = static_cast<std::uint64_t>(of.size.width * of.size.height);
    report.add(record);
  }
  report.note(fmt::format("{}x{}, {} bins, one slot: {:.1f} us up, {:.1f} compute, {:.1f} down", of.size.width,
                          of.size.height, of.bins, stages.up, stages.compute, stages.down));
}

}  // namespace

void bench_sequence(const Options& options, Report& report) {
  std::vector<Worker> workers = options.workers;
  if (workers.empty()) {
    if (options.backend == Backend::cuda)
      workers = {{.backend = Backend::cuda, .device = options.device}};
    else
      workers = {{.threads = options.threads.back()}};
  }
  const std::vector<Size> sizes = options.sizes.empty() ? std::vector<Size>{{1920, 1080}} : options.sizes;
  const std::vector<std::int64_t> all_bins = options.bins.empty() ? std::vector<std::int64_t>{32} : options.bins;
  for (const Size& size : sizes)
    for (const std::int64_t bins : all_bins)
      for (const bool tensors : {false, true}) bench_case({size, bins, tensors, workers}, options, report);
}

}  // namespace areal::bench
