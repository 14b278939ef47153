// areal bench track --backend cuda: many boxes tracked on a GPU, against the tensor's kernel and the loads of a step,
// in a plug-in. The boxes are compared with the CPU's.
#include <fmt/format.h>
#include <areal/error.hpp>
#include <areal/histogram.hpp>
#include <areal/info.hpp>
#include <areal/track.hpp>
#include <cstring>
#include <deque>
#include <random>
#include "bench/harness/bench.hpp"
#include "bench/harness/peers.hpp"

namespace areal::bench {
namespace {

constexpr std::int64_t bins = 16, default_boxes = 16, edge = 16;
constexpr std::size_t frame_count = 6;
constexpr Size least{640, 480};

/// Blocks of 4 x 4 pixels, seeded, that move by some pixels from frame to frame, with noise.
Array moving_picture(const Size& size, std::size_t frame) {
  Array image({size.width, size.height}, Type::u8);
  std::mt19937_64 random(20060617 + frame);
  const auto moved = static_cast<std::int64_t>(frame) * 5;
  auto* pixel = image.as<std::uint8_t>();
  for (std::int64_t y = 0; y < size.height; ++y)
    for (std::int64_t x = 0; x < size.width; ++x) {
      auto block = static_cast<std::uint64_t>((y + moved) / 4 * 65537 + (x - moved + 4096) / 4);
      for (int round = 0; round < 2; ++round) block = (block ^ block >> 31) * 0x9e3779b97f4a7c15u;
      *pixel++ = static_cast<std::uint8_t>((block >> 57) * 2 + (random() >> 62));
    }
  return image;
}

/// Seeded boxes of 24 x 32 to 150 x 200 pixels.
std::vector<Region> some_boxes(const Size& size, std::int64_t count) {
  std::mt19937_64 random(1);
  const auto between = [&](std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(high - low + 1));
  };
  std::vector<Region> boxes;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t width = between(24, 150), height = between(32, 200);
    boxes.push_back(
        {between(edge, size.width - width - edge), between(edge, size.height - height - edge), width, height});
  }
  return boxes;
}

/// The boxes after each step, as the CPU finds them.
std::vector<TrackedBox> on_cpu(const std::deque<Array>& frames, const std::vector<Region>& boxes) {
  std::deque<FragmentTracker> trackers(boxes.size());
  std::vector<TrackedBox> found;
  for (const Array& frame : frames) {
    const HistogramTensor tensor =
        integral_histogram(frame.view(), Binning::of_type(Type::u8, bins), {}, {.backend = Backend::cpu});
    for (std::size_t i = 0; i < boxes.size(); ++i) {
      if (&frame == &frames.front())
        trackers[i].start(tensor, boxes[i]);
      else
        found.push_back(trackers[i].step(tensor));
    }
  }
  return found;
}

void run(const Size& size, const Options& options, CudaBenchTrack bench, Report& report) {
  if (size.width < least.width || size.height < least.height)
    throw InvalidArgument(fmt::format("--size {}x{}: bench track on cuda needs {}x{} or more", size.width, size.height,
                                      least.width, least.height));
  std::deque<Array> frames;
  std::vector<const void*> pixels;
  for (std::size_t i = 0; i < frame_count; ++i) pixels.push_back(frames.emplace_back(moving_picture(size, i)).data());
  const std::vector<Region> boxes = some_boxes(size, options.regions.value_or(default_boxes));
  const std::vector<TrackedBox> expected = on_cpu(frames, boxes);
  std::size_t moved = 0;
  for (std::size_t i = boxes.size(); i < expected.size(); ++i)
    moved += expected[i].region() != expected[i - boxes.size()].region();
  Record record{"track", "tensor", "8u-32u", size.width, size.height, bins, static_cast<std::int64_t>(boxes.size())};
  record.threads = 0;
  record.backend = Backend::cuda;
  record.device = devices().at(static_cast<std::size_t>(options.device)).name;
  record.border = Border::none;
  record.bytes = static_cast<std::uint64_t>(size.width * size.height) * (1 + bins * sizeof(std::uint32_t));
  std::vector<TrackedBox> found(expected.size());
  const auto done = [&](const std::vector<double>& tensor, const std::vector<double>& loads,
                        const std::vector<double>& step) {
    for (std::size_t i = 0; i < found.size(); ++i)
      if (std::memcmp(&found[i], &expected[i], sizeof(TrackedBox)) != 0)
        throw Error(fmt::format("step {}, box {}: {},{},{},{} at {}, the CPU's is {},{},{},{} at {}",
                                i / boxes.size() + 1, i % boxes.size(), found[i].x, found[i].y, found[i].width,
                                found[i].height, found[i].distance, expected[i].x, expected[i].y, expected[i].width,
                                expected[i].height, expected[i].distance));
    record.time = times_of(tensor);
    report.add(record);
    record.algorithm = "fragments";
    record.floor = "tensor + loads";
    record.floor_time = times_of(loads);
    record.time = times_of(step);
    report.add(record);
    report.note(
        fmt::format("{} boxes, {} steps: the CPU's boxes, of which {} moved", boxes.size(), frame_count - 1, moved));
  };
  const CudaTrack what{size.width, size.height, pixels, boxes, options.repetitions, options.device, found, done};
  call(bench, what);
}

}  // namespace

void bench_cuda_track(const Options& options, Report& report) {
  const auto bench = cuda_bench<CudaBenchTrack>("areal_cuda_bench_track");
  for (const Size& size : options.sizes.empty() ? std::vector<Size>{{1920, 1080}} : options.sizes)
    run(size, options, bench, report);
}

}  // namespace areal::bench
