// Sequences of frames on the CPU and the simulated machine, against counting pixel by pixel: order, levels, tensors,
// memory that a source keeps, and what ends a run.
#include <gtest/gtest.h>
#include <areal/error.hpp>
#include <areal/histogram.hpp>
#include <areal/info.hpp>
#include <areal/sequence.hpp>
#include <array>
#include <cstring>
#include <random>
#include <stdexcept>
#include "cpu/threads.hpp"

namespace areal {
namespace {

constexpr unsigned seed = 20261122;
const Shape shape{61, 43};
const Binning binning = Binning::uniform(12, 0, 256);

bool has(Backend backend) {
  for (const BackendInfo& row : backends())
    if (row.backend == backend) return row.available;
  return false;
}

/// The byte at x, y of a frame of a stream: any of 0 to 255.
std::uint8_t pixel(int stream, std::int64_t number, std::int64_t x, std::int64_t y) {
  auto v = static_cast<std::uint64_t>(stream * 7919 + number * 104729 + y * 131 + x);
  v *= 0x9e3779b97f4a7c15u;
  return static_cast<std::uint8_t>(v >> 48);
}
void fill(const View& room, int stream, std::int64_t number) {
  for (std::int64_t y = 0; y < shape.height; ++y)
    for (std::int64_t x = 0; x < shape.width; ++x)
      static_cast<std::uint8_t*>(room.row(y))[x] = pixel(stream, number, x, y);
}

/// Regions that differ from frame to frame: few, or enough that a compact store takes less work than counting.
void regions_of(const Frame& frame, std::vector<Region>& regions) {
  std::mt19937_64 random(seed + static_cast<unsigned>(frame.number * 10 + frame.stream));
  const auto below = [&](std::int64_t n) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
  };
  const std::int64_t count = frame.number % 3 == 0 ? 120 : below(4);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t x = below(shape.width), y = below(shape.height);
    regions.push_back({x, y, below(shape.width - x + 1), below(shape.height - y + 1)});
  }
}

std::vector<std::uint64_t> counted(const Frame& frame, std::span<const Region> regions, const std::uint8_t* levels) {
  std::vector<std::uint64_t> counts;
  for (const Region& r : regions) {
    std::array<std::uint64_t, 12> of{};
    for (std::int64_t y = r.y; y < r.y + r.height; ++y)
      for (std::int64_t x = r.x; x < r.x + r.width; ++x) {
        const int v = pixel(frame.stream, frame.number, x, y);
        ++of[static_cast<std::size_t>((levels != nullptr ? levels[v] : v) * 12 / 256)];
      }
    counts.insert(counts.end(), of.begin(), of.end());
  }
  return counts;
}

/// A source of so many frames, of two streams in turns, and a sink that compares.
struct Clip {
  std::int64_t frames = 0;
  const std::uint8_t* levels = nullptr;
  std::int64_t next = 0, answered = 0;
  bool spoils = false;  ///< to see that the comparison can fail

  FrameSource source() {
    return [this](const View& room, Frame& frame) {
      if (next == frames) return false;
      frame.stream = static_cast<int>(next % 2);
      frame.number = next / 2;
      frame.seconds = static_cast<double>(frame.number) / 25;
      frame.levels = levels;
      ++next;
      fill(room, frame.stream, frame.number);
      if (spoils) static_cast<std::uint8_t*>(room.data)[7] ^= 0x80;
      return true;
    };
  }
  FrameSink sink(int& differences) {
    return [this, &differences](const FrameAnswer& answer) {
      EXPECT_EQ(answer.frame.stream, answered % 2);
      const std::int64_t number = answered / 2;
      EXPECT_EQ(answer.frame.number, number);
      EXPECT_EQ(answer.frame.seconds, static_cast<double>(number) / 25);
      ++answered;
      std::vector<Region> regions;
      regions_of(answer.frame, regions);
      EXPECT_TRUE(std::equal(regions.begin(), regions.end(), answer.regions.begin(), answer.regions.end()));
      const std::vector<std::uint64_t> expected = counted(answer.frame, answer.regions, levels);
      if (!std::equal(expected.begin(), expected.end(), answer.counts.begin(), answer.counts.end())) ++differences;
      return true;
    };
  }
};

int differences_of(Clip& clip, const SequenceOptions& options, SequenceReport* report = nullptr) {
  int differences = 0;
  HistogramSequence sequence(shape, Type::u8, binning, options);
  const SequenceReport told = sequence.run(clip.source(), regions_of, clip.sink(differences));
  EXPECT_EQ(told.produced, clip.frames);
  EXPECT_EQ(told.answered, clip.frames);
  EXPECT_EQ(told.dropped, 0);
  EXPECT_EQ(clip.answered, clip.frames);
  if (report != nullptr) *report = told;
  return differences;
}

TEST(Sequence, TheComparisonCanFail) {
  Clip clip{.frames = 3};
  clip.spoils = true;
  EXPECT_GT(differences_of(clip, {}), 0);
}

TEST(Sequence, EveryFrameOnceInOrderAndExact) {
  for (const int slots : {1, 2, 4})
    for (const std::int64_t frames : {0, 1, slots - 1, slots, slots + 1, 5 * slots + 3})
      for (const auto& workers : {std::vector<Worker>{}, std::vector<Worker>{{.threads = 1}},
                                  std::vector<Worker>{{.threads = 2}, {.device = 1, .threads = 1}}}) {
        Clip clip{.frames = std::max<std::int64_t>(0, frames)};
        EXPECT_EQ(differences_of(clip, {.workers = workers, .slots = slots}), 0) << slots << " slots, " << frames;
      }
}

TEST(Sequence, TheSimulatedMachineTakesFramesToo) {
  if (!has(Backend::simt)) GTEST_SKIP() << "this build has no simulated machine";
  Clip clip{.frames = 7};
  SequenceReport report;
  EXPECT_EQ(differences_of(clip, {.workers = {{.threads = 1}, {.backend = Backend::simt}}}, &report), 0);
  ASSERT_EQ(report.workers.size(), 2u);
  EXPECT_EQ(report.workers[0].frames + report.workers[1].frames, 7);
  Clip alone{.frames = 3};
  EXPECT_EQ(differences_of(alone, {.workers = {{.backend = Backend::simt}}}), 0);
}

// Regions of more than 205 frames' pixels: on devices a compact store answers them, also for bytes that stand for
// others.
TEST(Sequence, ManyRegionsOnADevice) {
  if (!has(Backend::simt)) GTEST_SKIP() << "this build has no simulated machine";
  const Shape wide{512, 300};
  std::array<std::uint8_t, 256> levels{};
  for (std::size_t v = 0; v < 256; ++v) levels[v] = static_cast<std::uint8_t>(255 - v);
  std::vector<Region> regions(230, {0, 0, wide.width, wide.height});
  for (std::int64_t i = 0; i < 20; ++i) regions.push_back({20 * i, 3 * i, 100 - i, 200 - 7 * i});
  const auto counts_on = [&](const Worker& worker) {
    HistogramSequence sequence(wide, Type::u8, binning, {.workers = {worker}});
    std::int64_t next = 0;
    std::vector<std::uint64_t> counts;
    sequence.run(
        [&](const View& room, Frame& frame) {
          if (next == 3) return false;
          frame.number = next++;
          frame.levels = frame.number == 1 ? levels.data() : nullptr;
          for (std::int64_t y = 0; y < wide.height; ++y)
            for (std::int64_t x = 0; x < wide.width; ++x)
              static_cast<std::uint8_t*>(room.row(y))[x] = pixel(0, frame.number, x, y);
          return true;
        },
        [&](const Frame&, std::vector<Region>& out) { out = regions; },
        [&](const FrameAnswer& answer) {
          counts.insert(counts.end(), answer.counts.begin(), answer.counts.end());
          return true;
        });
    return counts;
  };
  std::vector<std::uint64_t> expected;
  for (std::int64_t number = 0; number < 3; ++number) {
    Frame frame;
    frame.number = number;
    std::vector<std::uint64_t> one =
        counted(frame, std::span(regions).subspan(229), number == 1 ? levels.data() : nullptr);
    for (int i = 0; i < 229; ++i) expected.insert(expected.end(), one.begin(), one.begin() + 12);
    expected.insert(expected.end(), one.begin(), one.end());
  }
  EXPECT_EQ(counts_on({.backend = Backend::simt}), expected);
  EXPECT_EQ(counts_on({.threads = 2}), expected);
}

// A frame takes 2,623 bytes, its compact store 11,392.
TEST(Sequence, WithoutMemoryForAStorePixelsAreCounted) {
  if (!has(Backend::simt)) GTEST_SKIP() << "this build has no simulated machine";
  std::array<std::uint8_t, 256> levels{};
  for (std::size_t v = 0; v < 256; ++v) levels[v] = static_cast<std::uint8_t>(v / 2 + 60);
  for (const std::uint64_t bytes : {200000u, 40000u, 20000u, 9000u, 2623u}) {
    Clip clip{.frames = 5, .levels = bytes == 20000 || bytes == 40000 ? levels.data() : nullptr};
    SequenceOptions options{.workers = {{.backend = Backend::simt}}, .slots = 2};
    options.device_bytes = bytes;
    EXPECT_EQ(differences_of(clip, options), 0) << bytes;
  }
  HistogramSequence small(shape, Type::u8, binning, {.workers = {{.backend = Backend::simt}}, .device_bytes = 2622});
  Clip clip{.frames = 1};
  int differences = 0;
  try {
    small.run(clip.source(), regions_of, clip.sink(differences));
    FAIL() << "nothing was thrown";
  } catch (const OutOfMemory& error) {
    EXPECT_EQ(std::string(error.what()), "simt: a frame takes 2623 bytes, of which 2622 can be had");
  }
}

TEST(Sequence, InAnArenaOfOneThread) {
  cpu::parallel_for(1, 2, [](std::int64_t) {
    Clip clip{.frames = 9};
    EXPECT_EQ(differences_of(clip, {.slots = 3}), 0);
  });
}

TEST(Sequence, LevelsAreFoldedIntoTheBinning) {
  std::array<std::uint8_t, 256> levels{};  // as of limited range: 16 to 235 become 0 to 255
  for (int v = 0; v < 256; ++v)
    levels[static_cast<std::size_t>(v)] = static_cast<std::uint8_t>(std::clamp((v - 16) * 255 / 219, 0, 255));
  for (const auto& workers : {std::vector<Worker>{}, std::vector<Worker>{{.backend = Backend::simt}}}) {
    if (!workers.empty() && !has(Backend::simt)) continue;
    Clip clip{.frames = 5, .levels = levels.data()};
    EXPECT_EQ(differences_of(clip, {.workers = workers}), 0);
  }
}

TEST(Sequence, PixelsOfTheSourcesOwnAreKeptUntilTheyAreAnswered) {
  std::array<std::weak_ptr<const void>, 20> kept;  // which does not move while the source's thread adds to it
  std::int64_t next = 0;
  const auto source = [&](const View&, Frame& frame) {
    if (next == std::ssize(kept)) return false;
    // Rows with a gap.
    auto memory = std::make_shared<std::vector<std::uint8_t>>(static_cast<std::size_t>(70 * shape.height));
    fill(View(memory->data(), Type::u8, shape, 70), 0, next);
    frame.number = next;
    frame.pixels = ConstView(memory->data(), Type::u8, shape, 70);
    kept[static_cast<std::size_t>(next++)] = memory;
    frame.keep = std::move(memory);
    return true;
  };
  HistogramSequence sequence(shape, Type::u8, binning, {.slots = 3});
  std::int64_t answered = 0;
  sequence.run(source, regions_of, [&](const FrameAnswer& answer) {
    EXPECT_FALSE(kept[static_cast<std::size_t>(answered)].expired());
    EXPECT_EQ(std::vector<std::uint64_t>(answer.counts.begin(), answer.counts.end()),
              counted(answer.frame, answer.regions, nullptr));
    if (answered >= 3) {
      EXPECT_TRUE(kept[static_cast<std::size_t>(answered - 3)].expired());
    }
    ++answered;
    return true;
  });
  EXPECT_EQ(answered, 20);
  for (const auto& memory : kept) EXPECT_TRUE(memory.expired());
}

void expect_tensors(const SequenceOptions& asked) {
  for (const Border border : {Border::none, Border::zero}) {
    SequenceOptions options = asked;
    options.slots = 2, options.tensors = true, options.border = border;
    HistogramSequence sequence(shape, Type::u8, binning, options);
    Clip clip{.frames = 5};
    sequence.run(clip.source(), regions_of, [&](const FrameAnswer& answer) {
      Array image(shape, Type::u8);
      fill(image.view(), answer.frame.stream, answer.frame.number);
      const HistogramTensor expected = integral_histogram(std::as_const(image).view(), binning, {.border = border});
      EXPECT_TRUE(answer.tensor.has_value());
      if (!answer.tensor) return false;
      EXPECT_EQ(answer.tensor->border, border);
      EXPECT_EQ(answer.tensor->view.shape, expected.tensor().shape);
      EXPECT_EQ(0, std::memcmp(answer.tensor->view.data, expected.tensor().data,
                               static_cast<std::size_t>(bytes_of(expected.tensor().shape, Type::u32))));
      return true;
    });
  }
}

TEST(Sequence, TensorsForTheSink) { expect_tensors({}); }

TEST(Sequence, TensorsForTheSinkInGroupsOfBins) {
  if (!has(Backend::simt)) GTEST_SKIP() << "this build has no simulated machine";
  SequenceOptions options{.workers = {{.backend = Backend::simt}}};
  options.device_bytes = 100000;
  expect_tensors(options);
}

TEST(Sequence, TheProgressIsToldAfterEachAnswer) {
  Clip clip{.frames = 9};
  std::vector<SequenceProgress> told;
  SequenceOptions options{.workers = {{.threads = 2}}, .slots = 3};
  options.progress = [&](const SequenceProgress& so_far) { told.push_back(so_far); };
  EXPECT_EQ(differences_of(clip, options), 0);
  ASSERT_EQ(told.size(), 9u);
  for (std::size_t i = 0; i < told.size(); ++i) {
    EXPECT_EQ(told[i].answered, static_cast<std::int64_t>(i) + 1);
    EXPECT_GE(told[i].produced, told[i].answered);
    EXPECT_LE(told[i].produced, told[i].answered + 3);
    EXPECT_EQ(told[i].dropped, 0);
  }
  // Workers' stages are those of all their lanes.
  SequenceReport report;
  report.stage_seconds[StageTime::compute] = 4;
  report.stage_seconds[StageTime::sink] = 3;
  EXPECT_EQ(report.slowest(), StageTime::compute);
  report.lanes = 2;
  EXPECT_EQ(report.slowest(), StageTime::sink);
}

TEST(Sequence, TheTimelineHasEveryStageOfEveryFrame) {
  Clip clip{.frames = 6};
  SequenceReport report;
  EXPECT_EQ(differences_of(clip, {.timeline = true}, &report), 0);
  int of[5] = {};
  double last = 0;
  for (const StageTime& time : report.timeline) {
    ++of[time.stage];
    EXPECT_LE(time.begin, time.end);
    EXPECT_LE(last, time.begin);
    EXPECT_LE(time.end, report.seconds);
    last = time.begin;
  }
  EXPECT_EQ(of[StageTime::read], 6);
  EXPECT_EQ(of[StageTime::compute], 6);
  EXPECT_EQ(of[StageTime::sink], 6);
  EXPECT_GE(report.stage_seconds[report.slowest()] * (report.slowest() == StageTime::compute ? 1.0 / report.lanes : 1),
            report.stage_seconds[StageTime::read]);
}

// ---------------------------------------------------------------- what ends a run

struct Planted : std::runtime_error {
  Planted() : std::runtime_error("planted") {}
};

TEST(Sequence, WhatTheSourceThrowsComesAfterTheFramesBefore) {
  Clip clip{.frames = 100};
  int differences = 0;
  HistogramSequence sequence(shape, Type::u8, binning);
  const FrameSource source = clip.source();
  const auto throwing = [&](const View& room, Frame& frame) {
    if (clip.next == 11) throw Planted();
    return source(room, frame);
  };
  EXPECT_THROW(sequence.run(throwing, regions_of, clip.sink(differences)), Planted);
  EXPECT_EQ(clip.answered, 11);
  // And the sequence runs again.
  Clip again{.frames = 8};
  sequence.run(again.source(), regions_of, again.sink(differences));
  EXPECT_EQ(again.answered, 8);
  EXPECT_EQ(differences, 0);
}

TEST(Sequence, WhatTheRegionsThrowComesAfterTheFramesBefore) {
  Clip clip{.frames = 100};
  int differences = 0;
  HistogramSequence sequence(shape, Type::u8, binning);
  const auto throwing = [&](const Frame& frame, std::vector<Region>& regions) {
    if (frame.number == 3) throw Planted();
    regions_of(frame, regions);
  };
  EXPECT_THROW(sequence.run(clip.source(), throwing, clip.sink(differences)), Planted);
  EXPECT_EQ(clip.answered, 6);
}

TEST(Sequence, ARegionOutsideIsNamedWithItsFrameOrClipped) {
  const auto outside = [](const Frame& frame, std::vector<Region>& regions) {
    regions.push_back({50, 40, frame.number == 4 ? 30 : 5, 3});
  };
  Clip clip{.frames = 20};
  HistogramSequence sequence(shape, Type::u8, binning);
  try {
    sequence.run(clip.source(), outside, [](const FrameAnswer&) { return true; });
    FAIL() << "nothing was thrown";
  } catch (const InvalidArgument& error) {
    EXPECT_EQ(std::string(error.what()),
              "frame 4: region 0 (x 50, y 40, width 30, height 3) reaches outside the image of 61x43");
  }
  HistogramSequence clipping(shape, Type::u8, binning, {.outside = Outside::clip});
  Clip other{.frames = 20};
  clipping.run(other.source(), outside, [](const FrameAnswer& answer) {
    EXPECT_EQ(answer.regions[0].width, answer.frame.number == 4 ? 11 : 5);
    return true;
  });
}

TEST(Sequence, TheSinkEndsTheRun) {
  for (const bool throws : {false, true}) {
    Clip clip{.frames = 1000};
    int answers = 0;
    HistogramSequence sequence(shape, Type::u8, binning, {.slots = 3});
    const auto sink = [&](const FrameAnswer&) {
      if (++answers < 5) return true;
      if (throws) throw Planted();
      return false;
    };
    if (throws)
      EXPECT_THROW(sequence.run(clip.source(), regions_of, sink), Planted);
    else
      EXPECT_EQ(sequence.run(clip.source(), regions_of, sink).answered, 5);
    EXPECT_EQ(answers, 5);
    EXPECT_LE(clip.next, 5 + 3);  // no frame is read that has no slot
  }
}

TEST(Sequence, FramesOfAnotherShapeAreRefused) {
  HistogramSequence sequence(shape, Type::u8, binning);
  Array other(Shape{60, 43}, Type::u8);
  const auto source = [&](const View&, Frame& frame) {
    frame.pixels = std::as_const(other).view();
    return true;
  };
  EXPECT_THROW(sequence.run(source, regions_of, [](const FrameAnswer&) { return true; }), InvalidArgument);
}

TEST(Sequence, WhatCannotBeIsRefused) {
  EXPECT_THROW(HistogramSequence(shape, Type::u8, binning, {.slots = 0}), InvalidArgument);
  EXPECT_THROW(HistogramSequence(shape, Type::u8, binning, {.workers = {{.backend = Backend::automatic}}}),
               InvalidArgument);
  EXPECT_THROW(HistogramSequence({61, 43, 3}, Type::u8, binning), InvalidArgument);
  EXPECT_THROW(HistogramSequence({61, 43, 1, 2}, Type::u8, binning), InvalidArgument);
  if (!has(Backend::cuda)) {
    EXPECT_THROW(HistogramSequence(shape, Type::u8, binning, {.workers = {{.backend = Backend::cuda}}}), Unavailable);
  }
}

TEST(Sequence, WorkersHaveNames) {
  EXPECT_EQ(workers_named("cpu"), std::vector<Worker>{Worker{}});
  EXPECT_EQ(workers_named("0,cuda:1,cpu:8"), (std::vector<Worker>{{.backend = Backend::cuda},
                                                                  {.backend = Backend::cuda, .device = 1},
                                                                  {.backend = Backend::cpu, .threads = 8}}));
  EXPECT_EQ(name_of(workers_named("3")[0]), "cuda:3");
  EXPECT_EQ(name_of(workers_named("cpu:8")[0]), "cpu:8");
  EXPECT_EQ(name_of(workers_named("simt")[0]), "simt");
  EXPECT_FALSE(workers_named("all").empty());
  for (const char* wrong :
       {"", ",", "gpu", "cpu:0", "cpu:x", "cuda:-1", "0,0", "cpu,cpu:3", "0,", "simt:1", "99999999999"})
    EXPECT_THROW(workers_named(wrong), InvalidArgument) << wrong;
}

}  // namespace
}  // namespace areal
