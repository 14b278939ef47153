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
      const TiledHistogram tiled(shape, Type::u8, binning, {workers_named(workers), bytes});
      most_tiles = std::max(most_tiles, tiled.grid().rows * tiled.grid().columns);
      std::vector<std::uint64_t> counts(expected.size(), 7);
      const auto rows = [&](std::int64_t first, std::int64_t count) {
        return ConstView(image.view().row(first), Type::u8, {shape.width, count});
      };
      tiled.answers(rows, regions, counts);
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
Answers frames_on(const char* workers, std::int64_t frames, const std::function<void(std::int64_t)>& before = {}) {
  const Shape shape{640, 360};
  std::vector<Array> images;
  for (unsigned i = 0; i < 5; ++i) images.push_back(picture(shape, i));
  Answers run;
  for (std::int64_t i = 0; i < frames; ++i)
    run.expected.push_back(
        expected_of(images[static_cast<std::size_t>(i % 5)], regions_of(shape, static_cast<unsigned>(i))));
  SequenceOptions options{.workers = workers_named(workers), .slots = 8};
  options.note = [&](const std::string& words) { run.notes += words + "\n"; };
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
  return run;
}

TEST_F(CudaTwoDevices, FramesOnTwo) {
  const Answers run = frames_on("cuda:0,cuda:1", 200);
  EXPECT_EQ(run.counts, run.expected);
  for (const auto& worker : run.report.workers) EXPECT_GT(worker.frames, 20) << worker.name;
  EXPECT_EQ(run.notes, "");
}

struct Nothing {};
template <class M, class C>
struct Store {
  static constexpr int threads = 32, resident = 1;
  using Shared = NoShared;
  struct Args {
    int* to;
  };
  M m;
  Args a;
  AREAL_DEVICE void operator()() {
    if (m.thread() == 0) m.store(a.to, 7);
  }
};

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

[[noreturn]] void lose_the_second() {
  bool right = false;
  try {
    const Answers run = frames_on("cuda:0,cuda:1", 120, [](std::int64_t number) {
      if (number == 50) fault_on(1);
    });
    std::fprintf(stderr, "notes: %sframes: %lld and %lld\nlost: [%s] [%s]\n", run.notes.c_str(),
                 static_cast<long long>(run.report.workers[0].frames),
                 static_cast<long long>(run.report.workers[1].frames), run.report.workers[0].lost.c_str(),
                 run.report.workers[1].lost.c_str());
    right = run.counts == run.expected && run.report.workers[0].lost.empty() && !run.report.workers[1].lost.empty();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "thrown: %s\n", error.what());
  }
  std::fprintf(stderr, right ? "the same answers\n" : "other answers\n");
  std::exit(right ? 0 : 1);
}

using CudaTwoDevicesDeathTest = CudaTwoDevices;
TEST_F(CudaTwoDevicesDeathTest, TheFirstTakesTheFramesOfTheSecond) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a separate process, not a fork of one with a device
  EXPECT_EXIT(lose_the_second(), testing::ExitedWithCode(0), "fault: .*notes: .*cuda:1.*the same answers");
}

}  // namespace
}  // namespace areal::cuda
