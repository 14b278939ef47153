// Inputs that are decoded ahead, each on a thread of its own: every frame in order, no more ahead than was asked,
// errors after the frames before, inputs at once, and no wait without an end.
#include <gtest/gtest.h>
#include <areal/error.hpp>
#include <atomic>
#include <latch>
#include <random>
#include <thread>
#include "media/media.hpp"
#include "scratch.hpp"

namespace areal::media {
namespace {

using Reader = ReadAhead<LumaFrame>;
const std::function<bool()> never = [] { return false; };

/// Frames 0, 1, .. that say how many are alive.
struct Planted {
  std::int64_t frames, next = 0;
  std::atomic<std::int64_t> read{0}, alive{0}, most_alive{0};
  explicit Planted(std::int64_t n) : frames(n) {}
  bool operator()(LumaFrame& frame) {
    if (next == frames) return false;
    frame.number = next++;
    most_alive = std::max<std::int64_t>(most_alive, ++alive);
    frame.keep = std::shared_ptr<const void>(this, [this](const void*) { --alive; });
    ++read;
    return true;
  }
};

/// What is wrong with the numbers: nothing where they are 0, 1, .. n - 1.
std::string wrong(const std::vector<std::int64_t>& numbers, std::int64_t n) {
  if (static_cast<std::int64_t>(numbers.size()) != n) return std::to_string(numbers.size()) + " frames";
  for (std::size_t i = 0; i < numbers.size(); ++i)
    if (numbers[i] != static_cast<std::int64_t>(i))
      return "frame " + std::to_string(numbers[i]) + " at " + std::to_string(i);
  return {};
}

TEST(ReadAhead, TheCheckCanFail) {
  EXPECT_EQ(wrong({0, 1, 2}, 3), "");
  EXPECT_NE(wrong({0, 2, 1}, 3), "");
  EXPECT_NE(wrong({0, 1}, 3), "");
}

TEST(ReadAhead, EveryFrameInOrderAndNoMoreAhead) {
  for (const std::size_t most : {1, 3, 8}) {
    Planted planted(500);
    std::vector<std::int64_t> numbers;
    {
      Reader reader([&](LumaFrame& frame) { return planted(frame); }, most);
      std::mt19937 random(7);
      for (LumaFrame frame; reader.next(frame, never); frame = {}) {
        numbers.push_back(frame.number);
        if (random() % 50 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      LumaFrame more;
      EXPECT_FALSE(reader.next(more, never));
    }
    EXPECT_EQ(wrong(numbers, 500), "") << most;
    EXPECT_LE(planted.most_alive, static_cast<std::int64_t>(most) + 2);  // those, one with each of the two threads
    EXPECT_EQ(planted.alive, 0);
  }
}

TEST(ReadAhead, ErrorsComeAfterTheFramesBefore) {
  Planted planted(5);
  Reader reader(
      [&](LumaFrame& frame) {
        if (!planted(frame)) throw IoError("planted: no more");
        return true;
      },
      3);
  std::vector<std::int64_t> numbers;
  const std::string sentence = test::sentence_of<IoError>([&] {
    for (LumaFrame frame; reader.next(frame, never); frame = {}) numbers.push_back(frame.number);
  });
  EXPECT_EQ(sentence, "planted: no more");
  EXPECT_EQ(wrong(numbers, 5), "");
}

/// Each input's first frame needs the other input to be decoding: read in turns by one thread, neither would come.
TEST(ReadAhead, InputsAreDecodedAtOnce) {
  std::latch both(2);
  Planted a(3), b(3);
  const auto meets = [&](Planted& planted) {
    return [&](LumaFrame& frame) {
      if (planted.next == 0) both.arrive_and_wait();
      return planted(frame);
    };
  };
  Reader first(meets(a), 1), second(meets(b), 1);
  for (Reader* reader : {&first, &second}) {
    std::vector<std::int64_t> numbers;
    for (LumaFrame frame; reader->next(frame, never); frame = {}) numbers.push_back(frame.number);
    EXPECT_EQ(wrong(numbers, 3), "");
  }
}

TEST(ReadAhead, AWaitEndsWhereItIsToStop) {
  std::latch goes_on(1);
  Planted planted(2);
  Reader reader(
      [&](LumaFrame& frame) {
        goes_on.wait();  // a pipe that gives nothing
        return planted(frame);
      },
      1);
  std::atomic<int> asked{0};
  LumaFrame frame;
  EXPECT_FALSE(reader.next(frame, [&] { return ++asked == 3; }));
  EXPECT_EQ(asked, 3);
  goes_on.count_down();
  EXPECT_TRUE(reader.next(frame, never));
  reader.end();
  EXPECT_LE(planted.read, 2);
}

TEST(ReadAhead, EndsWhileNobodyTakesTheFrames) {
  for (int round = 0; round < 20; ++round) {
    Planted planted(1000);
    {
      Reader reader([&](LumaFrame& frame) { return planted(frame); }, 2);
      LumaFrame frame;
      EXPECT_TRUE(round % 2 == 1 || reader.next(frame, never));
    }
    EXPECT_LE(planted.read, 5);
    EXPECT_EQ(planted.alive, 0);
  }
}

}  // namespace
}  // namespace areal::media
