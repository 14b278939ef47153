// Tasks shared by GPUs: tiles of an image on one device and on all, frames on several, and a device that is lost while
// frames are on their way. What wants two devices is skipped where there is one.
#include <gtest/gtest.h>
#include <areal/array.hpp>
#include <areal/error.hpp>
#include <areal/info.hpp>
#include <areal/region_histogram.hpp>
#include <areal/sequence.hpp>
#include <areal/tiled.hpp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include "cuda/device.hpp"
#include "cuda/launcher.cuh"
#include "store_kernel.cuh"

namespace areal::cuda {
namespace {

const Binning binning = Binning::uniform(16, 0, 256);
constexpr unsigned seed = 20261122;

class CudaDevices : public testing::Test {
 protected:
  void SetUp() override {
    if (devices().empty()) GTEST_SKIP() << "no GPU";
  }
};
class CudaTwoDevices : public testing::Test {
 protected:
  void SetUp() override {
    if (device_count() < 2) GTEST_SKIP() << "one GPU or none: two are needed";
  }
};

Array picture(const Shape& shape, unsigned of) {
  Array image(shape, Type::u8);
  std::mt19937_64 random(seed + of);
  for (std::size_t at = 0; at < image.bytes(); ++at)
    image.as<std::uint8_t>()[at] = static_cast<std::uint8_t>(random() >> 40);
  return image;
}

std::vector<Region> regions_of(const Shape& shape, unsigned of) {
  std::mt19937_64 random(seed + 1000 + of);
  const auto below = [&](std::int64_t n) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
  };
  std::vector<Region> regions{{0, 0, shape.width, shape.height}};
  for (int i = 0; i < 60; ++i) {
    const std::int64_t x = below(shape.width), y = below(shape.height);
    regions.push_back({x, y, below(shape.width - x + 1), below(shape.height - y + 1)});
  }
  return regions;
}

std::vector<std::uint64_t> expected_of(const Array& image, const std::vector<Region>& regions) {
  return region_histograms(image.view(), binning, regions, {.execution = {.backend = Backend::cpu}});
}

void expect_tiles(const char* workers) {
  for (const Shape& shape : {Shape{1500, 1100}, Shape{1, 1}, Shape{5000, 3}, Shape{3, 5000}}) {
    const Array image = picture(shape, 1);
    const std::vector<Region> regions = regions_of(shape, 2);
    const std::vector<std::uint64_t> expected = expected_of(image, regions);
    std::int64_t most_tiles = 0;
    for (const std::uint64_t bytes : {std::uint64_t{0}, std::uint64_t{40} << 20, std::uint64_t{4} << 20}) {
      const TiledHistogram tiled(shape, Type::u8, binning, {}, {.workers = workers_named(workers), .memory = bytes});
      most_tiles = std::max(most_tiles, tiled.grid().rows * tiled.grid().columns);
      std::vector<std::uint64_t> counts(expected.size(), 7);
      tiled.answers(image_in_memory(image.view()), regions, counts);
      EXPECT_EQ(counts, expected) << workers << " " << shape.width << "x" << shape.height << " " << bytes;
    }
    if (shape.width == 1500) EXPECT_GT(most_tiles, 10);
  }
}

TEST_F(CudaDevices, TilesOnOne) { expect_tiles("cuda"); }
TEST_F(CudaDevices, TilesOnOneAndTheCpu) { expect_tiles("cuda,cpu:2"); }
TEST_F(CudaTwoDevices, TilesOnTwo) { expect_tiles("cuda:0,cuda:1"); }
TEST_F(CudaTwoDevices, TilesOnTheSecondAlone) { expect_tiles("cuda:1"); }

struct Answers {
  std::vector<std::vector<std::uint64_t>> counts, expected;
  SequenceReport report;
  std::string notes;
};

/// Frames of host memory, each with regions of its own; `before` is called with each frame's number.
void frames_on(Answers& run, const char* workers, std::int64_t frames,
               const std::function<void(std::int64_t)>& before = {}) {
  const Shape shape{640, 360};
  std::vector<Array> images;
  for (unsigned i = 0; i < 5; ++i) images.push_back(picture(shape, i));
  for (std::int64_t i = 0; i < frames; ++i)
    run.expected.push_back(
        expected_of(images[static_cast<std::size_t>(i % 5)], regions_of(shape, static_cast<unsigned>(i))));
  SequenceOptions options{.workers = workers_named(workers), .slots = 8};
  options.note = [&](const std::string& words) {
    run.notes += words + "\n";
    std::fprintf(stderr, "note: %s\n", words.c_str());
  };
  HistogramSequence sequence(shape, Type::u8, binning, options);
  std::int64_t next = 0;
  run.report = sequence.run(
      [&](const View& room, Frame& frame) {
        if (next == frames) return false;
        if (before) before(next);
        const Array& image = images[static_cast<std::size_t>(next % 5)];
        std::memcpy(room.data, image.data(), image.bytes());
        frame.number = next++;
        return true;
      },
      [&](const Frame& frame, std::vector<Region>& regions) {
        regions = regions_of(shape, static_cast<unsigned>(frame.number));
      },
      [&](const FrameAnswer& answer) {
        run.counts.emplace_back(answer.counts.begin(), answer.counts.end());
        return true;
      });
}

TEST_F(CudaTwoDevices, FramesOnTwo) {
  Answers run;
  frames_on(run, "cuda:0,cuda:1", 600);
  EXPECT_EQ(run.counts, run.expected);
  // Frames are copied by one thread here, which keeps no more than one device busy: the other has what is left.
  for (const auto& worker : run.report.workers) EXPECT_GT(worker.frames, 0) << worker.name;
  EXPECT_EQ(run.notes, "");
}

void fault_on(int device) {
  const DeviceScope scope(device);
  const OwnedStream stream;
  Launcher(static_cast<cudaStream_t>(stream.get().handle()))
      .launch<Store, Nothing>(1, {reinterpret_cast<int*>(std::uintptr_t{64})}, false);
  try {
    stream.synchronize();
  } catch (const DeviceError& error) {
    std::fprintf(stderr, "fault: %s\n", error.what());
  }
}

// CUDA 13 refuses every device of the process after a fault on one: a CPU among the workers takes what is left, and
// without one the frames before are answered and the error names a device.
[[noreturn]] void lose_the_second(const char* workers) {
  bool same = false;
  Answers run;
  try {
    frames_on(run, workers, 300, [](std::int64_t number) {
      if (number == 50) fault_on(1);
    });
    same = run.counts == run.expected && !run.report.workers[1].lost.empty();
  } catch (const DeviceError& error) {
    std::fprintf(stderr, "thrown: %s\n", error.what());
    const std::size_t answered = run.counts.size();
    run.expected.resize(std::min(answered, run.expected.size()));
    std::fprintf(stderr, "%s\n", answered > 30 && run.counts == run.expected ? "the frames before" : "other frames");
    std::exit(error.lost() ? 3 : 1);
  }
  std::fprintf(stderr, same ? "the same answers\n" : "other answers\n");
  std::exit(same ? 0 : 1);
}

using CudaTwoDevicesDeathTest = CudaTwoDevices;
TEST_F(CudaTwoDevicesDeathTest, OthersTakeTheFramesOfALostDevice) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a separate process, not a fork of one with a device
  EXPECT_EXIT(lose_the_second("cuda:0,cuda:1,cpu:2"), testing::ExitedWithCode(0),
              "fault: .*note: cuda:1 is lost: .*the same answers");
}
TEST_F(CudaTwoDevicesDeathTest, WhereNoneIsLeftTheFramesBeforeAreAnswered) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(lose_the_second("cuda:0,cuda:1"), testing::ExitedWithCode(3),
              "thrown: cuda:[01] is lost: .*must be restarted.*the frames before");
}

}  // namespace
}  // namespace areal::cuda
