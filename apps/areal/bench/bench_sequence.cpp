// areal bench sequence: frames that lie in the slots' own memory, through a HistogramSequence: 100 boxes of each, or
// its whole tensor. One slot shows the stages one after another; more overlap them. The floor is the longest stage, the
// link's taken from plain copies beside it.

#include <fmt/format.h>
#include <algorithm>
#include <areal/error.hpp>
#include <areal/region_histogram.hpp>
#include <areal/sequence.hpp>
#include <chrono>
#include <cstring>
#include <map>
#include <utility>
#include "bench.hpp"
#include "race.hpp"

namespace areal::bench {
namespace {

constexpr int images = 4;  // that the slots' memory holds in turns

struct Case {
  Size size;
  std::int64_t bins = 32;
  bool tensors = false;
  std::vector<Worker> workers;
};

struct Measured {
  double frame_us = 0;                   // from one answer to the next, the first slots left out
  double up = 0, compute = 0, down = 0;  // microseconds of a frame's stages, as a worker told them
};

class Runner {
 public:
  Runner(const Case& of, const std::function<void(const std::string&)>& wrong)
      : case_(of), wrong_(wrong), binning_(Binning::uniform(of.bins, 0, 256)), regions_(random_regions(of.size, 100)) {
    for (int i = 0; i < images; ++i) {
      Array image = random_image(of.size, Type::u8);
      for (std::size_t at = 0; at < image.bytes(); ++at)  // others of the same values
        image.as<std::uint8_t>()[at] = static_cast<std::uint8_t>(image.as<std::uint8_t>()[at] + 31 * i);
      expected_.push_back(
          region_histograms(std::as_const(image).view(), binning_, regions_, {.execution = {.backend = Backend::cpu}}));
      images_.push_back(std::move(image));
    }
  }

  Measured run(int slots, std::int64_t frames) {
    HistogramSequence sequence({case_.size.width, case_.size.height}, Type::u8, binning_,
                               {.workers = case_.workers, .slots = slots, .tensors = case_.tensors});
    std::map<const void*, int> holds;  // which image each slot's memory holds
    std::int64_t next = 0, answers = 0;
    using Clock = std::chrono::steady_clock;
    Clock::time_point first, last;
    const std::int64_t warm = std::min<std::int64_t>(2 * slots, frames / 2);
    const auto source = [&](const View& room, Frame& frame) {
      if (next == frames) return false;
      if (const auto [at, is_new] = holds.emplace(room.data, static_cast<int>(holds.size()) % images); is_new)
        std::memcpy(room.data, images_[static_cast<std::size_t>(at->second)].data(), images_[0].bytes());
      frame.number = next++;
      return true;
    };
    const auto boxes = [&](const Frame&, std::vector<Region>& out) { out.assign(regions_.begin(), regions_.end()); };
    const SequenceReport report = sequence.run(source, boxes, [&](const FrameAnswer& answer) {
      check(answer, holds.at(answer.frame.pixels.data), answers);
      if (++answers == warm) first = Clock::now();
      last = Clock::now();
      return true;
    });
    Measured measured;
    measured.frame_us =
        std::chrono::duration<double, std::micro>(last - first).count() / static_cast<double>(frames - warm);
    const double n = static_cast<double>(frames);
    measured.up = report.stage_seconds[StageTime::upload] * 1e6 / n;
    measured.compute = report.stage_seconds[StageTime::compute] * 1e6 / n;
    measured.down = report.stage_seconds[StageTime::download] * 1e6 / n;
    return measured;
  }

 private:
  // Every frame's number and first counts; of every hundredth and of the tensors' corners all.
  void check(const FrameAnswer& answer, int image, std::int64_t answers) {
    const std::vector<std::uint64_t>& expected = expected_[static_cast<std::size_t>(image)];
    const std::size_t compared = answers % 100 == 0 ? expected.size() : static_cast<std::size_t>(case_.bins);
    bool right =
        answer.frame.number == answers && answer.counts.size() == expected.size() &&
        std::equal(expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(compared), answer.counts.begin());
    if (answer.tensor) {  // the last entry of each bin is the count of the whole image
      const ConstView& tensor = answer.tensor->view;
      std::uint64_t pixels = 0;
      for (std::int64_t bin = 0; bin < case_.bins; ++bin)
        pixels += static_cast<const std::uint32_t*>(tensor.row(case_.size.height - 1, bin))[case_.size.width - 1];
      right = right && pixels == static_cast<std::uint64_t>(case_.size.width * case_.size.height);
    }
    if (!right)
      wrong_(fmt::format("sequence: frame {} of {}x{}, {} bins", answers, case_.size.width, case_.size.height,
                         case_.bins));
  }

  const Case& case_;
  const std::function<void(const std::string&)>& wrong_;
  Binning binning_;
  std::vector<Region> regions_;
  std::vector<Array> images_;
  std::vector<std::vector<std::uint64_t>> expected_;
};

std::string names_of(const std::vector<Worker>& workers) {
  std::string names;
  for (const Worker& worker : workers) names += (names.empty() ? "" : ",") + name_of(worker);
  return names;
}

/// As many as take half a second, at the least 40.
std::int64_t frames_for(double frame_us) {
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(5e5 / frame_us), 40, 20000);
}

void bench_case(const Case& of, const Options& options, Report& report) {
  Runner runner(of, options.wrong);
  const bool one_device = of.workers.size() == 1 && of.workers[0].backend == Backend::cuda;
  const double first = runner.run(1, 10).frame_us;
  double alone = 0;  // frames a microsecond of all workers alone
  if (of.workers.size() > 1)
    for (const Worker& worker : of.workers) {
      const Case single{of.size, of.bins, of.tensors, {worker}};
      alone += 1 / Runner(single, options.wrong).run(8, frames_for(first)).frame_us;
    }
  const Measured stages = runner.run(1, frames_for(first));
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
