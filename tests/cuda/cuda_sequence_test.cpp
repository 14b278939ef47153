// Sequences of frames on a GPU: the same answers as the CPU's, byte for byte, from host and device memory, alone and
// beside the CPU.
#include <gtest/gtest.h>
#include <areal/array.hpp>
#include <areal/error.hpp>
#include <areal/histogram.hpp>
#include <areal/histogram_store.hpp>
#include <areal/info.hpp>
#include <areal/sequence.hpp>
#include <array>
#include <cstring>
#include <functional>
#include <random>

namespace areal {
namespace {

const Binning binning = Binning::uniform(32, 0, 256);

class CudaSequence : public testing::Test {
 protected:
  void SetUp() override {
    for (const BackendInfo& row : backends())
      if (row.backend == Backend::cuda && !row.available) GTEST_SKIP() << row.why_not;
  }
};

std::vector<Array> pictures(const Shape& shape, int count) {
  std::vector<Array> all;
  std::mt19937_64 random(20261122);
  for (int i = 0; i < count; ++i) {
    Array& image = all.emplace_back(shape, Type::u8);
    for (std::size_t at = 0; at < image.bytes(); ++at)
      image.as<std::uint8_t>()[at] = static_cast<std::uint8_t>(random() >> 40);
  }
  return all;
}

void regions_of(const Shape& shape, std::int64_t number, std::vector<Region>& regions) {
  std::mt19937_64 random(77 + static_cast<unsigned>(number));
  const auto below = [&](std::int64_t n) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
  };
  for (std::int64_t i = 0, count = number % 5 == 0 ? 0 : below(200); i < count; ++i) {
    const std::int64_t x = below(shape.width), y = below(shape.height);
    regions.push_back({x, y, below(shape.width - x + 1), below(shape.height - y + 1)});
  }
}

struct Answers {
  std::vector<std::vector<std::uint64_t>> counts;
  std::vector<std::vector<std::uint32_t>> tensors;
  SequenceReport report;
};

using RegionsOfFrame = std::function<void(std::int64_t number, std::vector<Region>& regions)>;

Answers answers_of(const std::vector<Array>& images, std::int64_t frames, SequenceOptions options,
                   const std::uint8_t* levels, bool own_memory = false, RegionsOfFrame regions_of_frame = {}) {
  const Shape shape = images[0].shape();
  if (!regions_of_frame)
    regions_of_frame = [&](std::int64_t number, std::vector<Region>& regions) { regions_of(shape, number, regions); };
  HistogramSequence sequence(shape, Type::u8, binning, std::move(options));
  std::int64_t next = 0;
  Answers answers;
  answers.report = sequence.run(
      [&](const View& room, Frame& frame) {
        if (next == frames) return false;
        const Array& image = images[static_cast<std::size_t>(next) % images.size()];
        if (own_memory)
          frame.pixels = image.view();
        else
          std::memcpy(room.data, image.data(), image.bytes());
        frame.levels = levels;
        frame.number = next++;
        return true;
      },
      [&](const Frame& frame, std::vector<Region>& regions) { regions_of_frame(frame.number, regions); },
      [&](const FrameAnswer& answer) {
        EXPECT_EQ(answer.frame.number, static_cast<std::int64_t>(answers.counts.size()));
        answers.counts.emplace_back(answer.counts.begin(), answer.counts.end());
        if (answer.tensor) {
          const auto* const first = static_cast<const std::uint32_t*>(answer.tensor->view.data);
          answers.tensors.emplace_back(first, first + bytes_of(answer.tensor->view.shape, Type::u32) / 4);
        }
        return true;
      });
  return answers;
}

TEST_F(CudaSequence, TheCpusAnswersByteForByte) {
  std::array<std::uint8_t, 256> levels{};
  for (std::size_t v = 0; v < 256; ++v) levels[v] = static_cast<std::uint8_t>(v * 3 / 4 + 11);
  for (const Shape& shape : {Shape{640, 360}, Shape{37, 501}, Shape{1, 1}}) {
    const std::vector<Array> images = pictures(shape, 3);
    for (const std::uint8_t* const of :
         {static_cast<const std::uint8_t*>(nullptr), static_cast<const std::uint8_t*>(levels.data())}) {
      const Answers expected = answers_of(images, 23, {}, of);
      for (const int slots : {1, 2, 5})
        for (const bool own_memory : {false, true}) {
          const Answers got =
              answers_of(images, 23, {.workers = workers_named("cuda"), .slots = slots}, of, own_memory);
          EXPECT_EQ(got.counts, expected.counts) << shape.width << " " << slots << " " << own_memory;
        }
      const Answers both = answers_of(images, 23, {.workers = workers_named("cuda,cpu:2"), .slots = 4}, of);
      EXPECT_EQ(both.counts, expected.counts);
    }
  }
}

/// Frames with few regions are counted, those with many have a compact store; both in one run, and in slots that share
/// lanes.
TEST_F(CudaSequence, FramesWithManyRegionsHaveAStore) {
  const Shape shape{800, 600};
  const std::vector<Array> images = pictures(shape, 3);
  const auto many = [&](std::int64_t number, std::vector<Region>& regions) {
    if (number % 3 == 1) return regions_of(shape, number, regions);
    for (std::int64_t i = 0; i < 2000; ++i)
      regions.push_back({i % 31, i % 29, shape.width - 40, shape.height - 30 - i % 7});
  };
  std::vector<Region> few, all;
  many(1, few), many(2, all);
  for (const auto* const regions : {&few, &all}) {
    std::int64_t area = 0;
    for (const Region& region : *regions) area += region.width * region.height;
    const StorePlan plan(shape, Type::u8, binning,
                         {.regions = static_cast<std::int64_t>(regions->size()), .area = area},
                         {.backend = Backend::cuda});
    EXPECT_EQ(plan.store() == Store::none, regions == &few);
  }
  std::array<std::uint8_t, 256> levels{};
  for (std::size_t v = 0; v < 256; ++v) levels[v] = static_cast<std::uint8_t>(255 - v);
  for (const std::uint8_t* const of :
       {static_cast<const std::uint8_t*>(nullptr), static_cast<const std::uint8_t*>(levels.data())}) {
    const Answers expected = answers_of(images, 13, {}, of, false, many);
    for (const int slots : {1, 4})
      EXPECT_EQ(answers_of(images, 13, {.workers = workers_named("cuda"), .slots = slots}, of, false, many).counts,
                expected.counts)
          << slots;
  }
}

TEST_F(CudaSequence, TheCheckCanFail) {
  std::vector<Array> images = pictures({64, 48}, 1);
  const Answers expected = answers_of(images, 2, {}, nullptr);
  images[0].as<std::uint8_t>()[64 * 24 + 30] ^= 0x80;
  EXPECT_NE(answers_of(images, 2, {.workers = workers_named("cuda")}, nullptr).counts, expected.counts);
}

TEST_F(CudaSequence, TensorsInPageLockedMemory) {
  const std::vector<Array> images = pictures({300, 200}, 2);
  for (const Border border : {Border::none, Border::zero}) {
    const Answers expected = answers_of(images, 7, {.tensors = true, .border = border}, nullptr);
    const Answers got = answers_of(
        images, 7, {.workers = workers_named("cuda"), .slots = 3, .tensors = true, .border = border}, nullptr);
    EXPECT_EQ(got.counts, expected.counts);
    EXPECT_EQ(got.tensors, expected.tensors);
    // Of 32 bins 7.7 MB: in groups.
    for (const std::uint64_t bytes : {std::uint64_t{6000000}, std::uint64_t{2200000}}) {
      SequenceOptions grouped{.workers = workers_named("cuda"), .slots = 3, .tensors = true, .border = border};
      grouped.device_bytes = bytes;
      const Answers in_groups = answers_of(images, 7, grouped, nullptr);
      EXPECT_EQ(in_groups.counts, expected.counts) << bytes;
      EXPECT_EQ(in_groups.tensors, expected.tensors) << bytes;
      grouped.tensors = false;
      EXPECT_EQ(answers_of(images, 7, grouped, nullptr).counts, expected.counts) << bytes;
    }
  }
}

TEST_F(CudaSequence, FramesInDeviceMemoryGoToTheirDevice) {
  const Shape shape{320, 240};
  const std::vector<Array> images = pictures(shape, 2);
  std::vector<DeviceArray> there;
  for (const Array& image : images) there.push_back(DeviceArray::copy_of(image.view()));
  const Answers expected = answers_of(images, 12, {}, nullptr);
  HistogramSequence sequence(shape, Type::u8, binning, {.workers = workers_named("cpu:1,cuda")});
  std::int64_t next = 0, answers = 0;
  const auto source = [&](const View&, Frame& frame) {
    if (next == 12) return false;
    frame.pixels = std::as_const(there[static_cast<std::size_t>(next) % 2]).view();
    frame.number = next++;
    return true;
  };
  const auto regions = [&](const Frame& frame, std::vector<Region>& out) { regions_of(shape, frame.number, out); };
  const SequenceReport report = sequence.run(source, regions, [&](const FrameAnswer& answer) {
    EXPECT_EQ(std::vector<std::uint64_t>(answer.counts.begin(), answer.counts.end()),
              expected.counts[static_cast<std::size_t>(answers++)]);
    EXPECT_EQ(answer.worker, 1);
    return true;
  });
  EXPECT_EQ(report.workers[0].frames, 0);
  EXPECT_EQ(report.workers[1].frames, 12);
  next = 0;
  HistogramSequence on_cpu(shape, Type::u8, binning);
  EXPECT_THROW(on_cpu.run(source, regions, [](const FrameAnswer&) { return true; }), InvalidArgument);
}

TEST_F(CudaSequence, TheTimelineHasUploadsAndDownloads) {
  const std::vector<Array> images = pictures({640, 480}, 1);
  const Answers answers =
      answers_of(images, 10, {.workers = workers_named("cuda"), .slots = 2, .timeline = true}, nullptr);
  int of[5] = {};
  for (const StageTime& time : answers.report.timeline) {
    ++of[time.stage];
    EXPECT_LE(time.begin, time.end + 1e-6);
  }
  for (const int count : of) EXPECT_EQ(count, 10);
  EXPECT_GT(answers.report.stage_seconds[StageTime::upload], 0);
}

TEST_F(CudaSequence, ATensorThatDoesNotFitIsRefusedWithItsBytes) {
  SequenceOptions options{.workers = workers_named("cuda"), .slots = 1};
  options.device_bytes = 1000000;
  HistogramSequence sequence({3000, 3000}, Type::u8, Binning::uniform(256, 0, 256), options);
  try {
    sequence.run([](const View&, Frame&) { return true; }, [](const Frame&, std::vector<Region>&) {},
                 [](const FrameAnswer&) { return true; });
    FAIL() << "nothing was thrown";
  } catch (const OutOfMemory& error) {
    EXPECT_NE(std::string(error.what()).find("cuda:0"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace areal
