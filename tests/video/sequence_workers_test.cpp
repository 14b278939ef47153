// The run of a sequence with planted workers: slow ones, ones that fail or are lost, frames that end out of order; a
// slow sink; frames that are dropped.
#include <gtest/gtest.h>
#include <areal/error.hpp>
#include <areal/sequence.hpp>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <map>
#include <random>
#include <set>
#include <thread>
#include "video/run_frames.hpp"

namespace areal::video {
namespace {

using std::chrono::microseconds;

const Shape shape{4, 2};
const FrameWork work{shape, Type::u8, Binning::uniform(2, 0, 256)};

/// What a frame's counts are here.
std::uint64_t answer_of(std::int64_t number) { return static_cast<std::uint64_t>(number) * 2654435761u + 17; }

/// What happens in a run, from all threads.
struct Log {
  std::mutex mutex;
  std::multiset<std::int64_t> done;  ///< by workers
  int inside = 0, most_inside = 0;   ///< frames with workers at once
  std::set<std::int64_t> failed_once;
  std::atomic<bool> any_lost{false};
};

struct Plan {
  int lanes = 1;
  microseconds slow{0}, jitter{0};
  bool awaits_a_loss = false;  ///< of another worker, before it answers; 20 seconds at most
  std::int64_t lost_at = -1;   ///< it throws a loss for its so-manieth frame and after
  std::int64_t fails_at = -1;  ///< that frame fails once
  bool always_fails = false;
  std::int64_t final_at = -1;  ///< that frame fails with what nobody tries again
};

class PlantedWorker final : public FrameWorker {
 public:
  PlantedWorker(const Plan& plan, Log& log, unsigned seed, int number, SlotRing& ring, const StageClock& clock)
      : FrameWorker(number, ring, clock),
        plan_(plan),
        log_(log),
        name_("planted:" + std::to_string(number)),
        seed_(seed) {}
  std::string name() const override { return name_; }
  int lanes() const override { return plan_.lanes; }

 private:
  void answer(int lane, Slot& slot) override {
    const std::int64_t number = slot.frame.number;
    {
      const std::lock_guard lock(log_.mutex);
      log_.most_inside = std::max(log_.most_inside, ++log_.inside);
    }
    struct Leave {
      Log& log;
      ~Leave() {
        const std::lock_guard lock(log.mutex);
        --log.inside;
      }
    } const leave{log_};
    auto pause = plan_.slow;
    if (plan_.jitter.count() > 0) {
      std::minstd_rand random(seed_ + static_cast<unsigned>(number * 31 + lane));
      pause += microseconds(random() % static_cast<unsigned>(plan_.jitter.count()));
    }
    if (pause.count() > 0) std::this_thread::sleep_for(pause);
    while (plan_.awaits_a_loss && !log_.any_lost && std::chrono::steady_clock::now() < latest_)
      std::this_thread::sleep_for(microseconds(1000));
    if (plan_.lost_at >= 0 && taken_++ >= plan_.lost_at) {
      log_.any_lost = true;
      throw DeviceError(name_ + " is lost", true);
    }
    if (plan_.always_fails) throw DeviceError("planted failure", false);
    if (number == plan_.final_at) throw InvalidArgument("planted: frame " + std::to_string(number));
    if (number == plan_.fails_at) {
      const std::lock_guard lock(log_.mutex);
      if (log_.failed_once.insert(number).second) throw DeviceError("planted failure", false);
    }
    slot.counts.assign(1, answer_of(number));
    const std::lock_guard lock(log_.mutex);
    log_.done.insert(number);
  }

  Plan plan_;
  Log& log_;
  std::string name_;
  unsigned seed_;
  std::atomic<std::int64_t> taken_{0};
  const std::chrono::steady_clock::time_point latest_ = std::chrono::steady_clock::now() + std::chrono::seconds(20);
};

struct Told {
  SequenceReport report;
  std::vector<std::int64_t> answered;
  std::vector<std::string> notes;
  std::exception_ptr error;
};

struct Sequence {
  std::int64_t frames = 0;
  int slots = 4;
  WhenFull when_full = WhenFull::wait;
  microseconds source_pause{0}, sink_pause{0};
};

Told run(const Sequence& asked, const std::vector<Plan>& plans, Log& log, unsigned seed) {
  Told told;
  SequenceOptions options;
  options.slots = asked.slots;
  options.when_full = asked.when_full;
  options.note = [&](const std::string& sentence) { told.notes.push_back(sentence); };
  std::vector<Slot> slots(static_cast<std::size_t>(asked.slots));
  for (Slot& slot : slots) slot.buffer = OwnedView(shape, Type::u8, {});
  const auto workers = [&](SlotRing& ring, const StageClock& clock) {
    std::vector<std::unique_ptr<queue::TaskWorker>> all;
    for (std::size_t i = 0; i < plans.size(); ++i)
      all.push_back(std::make_unique<PlantedWorker>(plans[i], log, seed, static_cast<int>(i), ring, clock));
    return all;
  };
  std::int64_t next = 0;
  const auto source = [&](const View&, Frame& frame) {
    if (asked.source_pause.count() > 0) std::this_thread::sleep_for(asked.source_pause);
    if (next == asked.frames) return false;
    frame.number = next++;
    return true;
  };
  const auto regions = [](const Frame&, std::vector<Region>& out) { out.push_back({0, 0, 1, 1}); };
  const auto sink = [&](const FrameAnswer& answer) {
    if (asked.sink_pause.count() > 0) std::this_thread::sleep_for(asked.sink_pause);
    EXPECT_EQ(answer.counts.size(), 1u);
    EXPECT_EQ(answer.counts[0], answer_of(answer.frame.number));
    told.answered.push_back(answer.frame.number);
    return true;
  };
  try {
    told.report = run_frames({work, options, slots, workers}, source, regions, sink);
  } catch (...) {
    told.error = std::current_exception();
  }
  EXPECT_EQ(slots.size(), static_cast<std::size_t>(asked.slots));
  for (const Slot& slot : slots) EXPECT_EQ(slot.state, Slot::State::free);
  return told;
}

/// What is wrong with a run in which every frame must have been answered; empty if nothing is.
std::string wrong(const Sequence& asked, const Told& told, const Log& log) {
  if (told.error) return "an exception";
  if (told.report.produced != asked.frames) return "produced " + std::to_string(told.report.produced);
  if (told.report.answered + told.report.dropped != told.report.produced) return "answered and dropped do not add up";
  if (static_cast<std::int64_t>(told.answered.size()) != told.report.answered) return "the sink saw another number";
  for (std::size_t i = 1; i < told.answered.size(); ++i)
    if (told.answered[i] <= told.answered[i - 1]) return "out of order at " + std::to_string(i);
  if (asked.when_full == WhenFull::wait && told.report.dropped != 0) return "dropped";
  for (const std::int64_t number : told.answered)
    if (log.done.count(number) != 1) return "frame " + std::to_string(number) + " was done so often";
  std::int64_t by_workers = 0;
  for (const SequenceReport::OfWorker& worker : told.report.workers) by_workers += worker.frames;
  if (by_workers != told.report.answered) return "the workers' frames do not add up";
  if (log.most_inside > asked.slots) return "more frames at once than slots";
  return {};
}

std::string words_of(const std::exception_ptr& error) {
  try {
    if (error) std::rethrow_exception(error);
  } catch (const std::exception& e) {
    return e.what();
  }
  return {};
}

TEST(SequenceWorkers, TheChecksCanFail) {
  Log log;
  const Sequence asked{.frames = 5};
  const Told good = run(asked, {Plan{}}, log, 1);
  ASSERT_EQ(wrong(asked, good, log), "");
  for (int fault = 0; fault < 5; ++fault) {
    Told told = good;
    std::multiset<std::int64_t> done = log.done;
    if (fault == 0) told.answered.pop_back();
    if (fault == 1) std::swap(told.answered[1], told.answered[2]);
    if (fault == 2) told.report.dropped = 1, told.report.answered = 4, told.answered.pop_back();
    if (fault == 3) done.insert(3);
    Log other;
    other.done = done;
    other.most_inside = fault == 4 ? 5 : 1;
    EXPECT_NE(wrong(asked, told, other), "") << fault;
  }
}

TEST(SequenceWorkers, FramesThatEndOutOfOrderAreAnsweredInOrder) {
  Log log;
  const Sequence asked{.frames = 60, .slots = 6};
  const Told told =
      run(asked, {Plan{.lanes = 3, .jitter = microseconds(3000)}, Plan{.jitter = microseconds(500)}}, log, 3);
  EXPECT_EQ(wrong(asked, told, log), "");
  EXPECT_EQ(told.report.answered, 60);
}

TEST(SequenceWorkers, AFrameThatFailsOnceIsTriedAgain) {
  Log log;
  const Sequence asked{.frames = 20};
  EXPECT_EQ(wrong(asked, run(asked, {Plan{.fails_at = 7}, Plan{.fails_at = 7}}, log, 3), log), "");
  EXPECT_EQ(log.failed_once.size(), 1u);
}

TEST(SequenceWorkers, AFrameThatAlwaysFailsEndsTheRunAfterThoseBefore) {
  Log log;
  const Told told = run({.frames = 20}, {Plan{.jitter = microseconds(200), .final_at = 7}}, log, 3);
  EXPECT_EQ(words_of(told.error), "planted: frame 7");
  EXPECT_EQ(told.answered, (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6}));
  Log other;
  EXPECT_EQ(words_of(run({.frames = 20}, {Plan{.always_fails = true}}, other, 3).error), "planted failure");
}

TEST(SequenceWorkers, ALostWorkersFramesGoToTheOthers) {
  for (const std::int64_t at : {0, 1, 5}) {
    Log log;
    // The other worker waits with one frame, and all slots but that one are enough for the loss.
    const Sequence asked{.frames = 30, .slots = 8};
    const Told told = run(asked, {Plan{.lanes = 2, .lost_at = at}, Plan{.awaits_a_loss = true}}, log, 3);
    EXPECT_EQ(wrong(asked, told, log), "") << at;
    EXPECT_EQ(told.report.answered, 30);
    ASSERT_EQ(told.notes.size(), 1u);
    EXPECT_NE(told.notes[0].find("planted:0"), std::string::npos);
    EXPECT_NE(told.report.workers[0].lost, "");
    EXPECT_EQ(told.report.workers[1].lost, "");
  }
}

TEST(SequenceWorkers, WhenNoneIsLeftTheFramesBeforeAreAnswered) {
  Log log;
  const Told told = run({.frames = 30, .slots = 1}, {Plan{.lost_at = 4}}, log, 3);
  EXPECT_NE(words_of(told.error).find("planted:0 is lost"), std::string::npos) << words_of(told.error);
  EXPECT_EQ(told.answered, (std::vector<std::int64_t>{0, 1, 2, 3}));
}

TEST(SequenceWorkers, ACamerasOldestFramesAreDropped) {
  Log log;
  const Sequence asked{.frames = 200, .slots = 4, .when_full = WhenFull::drop_oldest, .source_pause = microseconds(50)};
  const Told told = run(asked, {Plan{.slow = microseconds(1500)}}, log, 3);
  EXPECT_EQ(wrong(asked, told, log), "");
  EXPECT_GT(told.report.dropped, 0);
  EXPECT_EQ(told.answered.back(), 199);  // the newest is never the one that is dropped
}

TEST(SequenceWorkers, ASlowSinkDropsACamerasFramesToo) {
  Log log;
  const Sequence asked{.frames = 200,
                       .slots = 4,
                       .when_full = WhenFull::drop_oldest,
                       .source_pause = microseconds(50),
                       .sink_pause = microseconds(1500)};
  const Told told = run(asked, {Plan{}}, log, 3);
  EXPECT_EQ(wrong(asked, told, log), "");
  EXPECT_GT(told.report.dropped, 0);
}

TEST(SequenceWorkers, AnySchedule) {
  const int seeds = std::getenv("AREAL_TEST_SHORT") != nullptr ? 60 : 300;
  for (int i = 0; i < seeds; ++i) {
    const unsigned seed = 1000u + static_cast<unsigned>(i);
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    const auto below = [&](unsigned n) { return static_cast<int>(random() % n); };
    Sequence asked;
    asked.slots = 1 + below(6);
    asked.frames = below(3) == 0 ? below(static_cast<unsigned>(asked.slots) + 2) : below(40);
    asked.when_full = below(4) == 0 ? WhenFull::drop_oldest : WhenFull::wait;
    asked.source_pause = microseconds(below(4) == 0 ? below(200) : 0);
    asked.sink_pause = microseconds(below(4) == 0 ? below(200) : 0);
    std::vector<Plan> plans(static_cast<std::size_t>(1 + below(3)));
    for (std::size_t w = 0; w < plans.size(); ++w) {
      Plan& plan = plans[w];
      plan.lanes = 1 + below(3);
      plan.slow = microseconds(below(3) == 0 ? below(400) : 0);
      plan.jitter = microseconds(1 + below(200));
      if (w > 0 && below(3) == 0) plan.lost_at = below(6);  // the first lives
      if (below(3) == 0) plan.fails_at = below(40);
    }
    Log log;
    const Told told = run(asked, plans, log, seed);
    ASSERT_EQ(wrong(asked, told, log), "") << words_of(told.error);
  }
}

}  // namespace
}  // namespace areal::video
