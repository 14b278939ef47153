// A sequence allocates nothing once its ring is full, and holds no more frames than it has slots, however slow the sink
// is. This program counts every operator new.
#include <gtest/gtest.h>
#include <unistd.h>
#include <areal/sequence.hpp>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <list>
#include <new>
#include <thread>
#include <vector>

namespace {
std::atomic<long> allocations{0};
}

void* operator new(std::size_t bytes) {
  ++allocations;
  if (void* const memory = std::malloc(bytes > 0 ? bytes : 1)) return memory;
  throw std::bad_alloc();
}
// Not inlined: g++ 12 calls malloc's memory mismatched with what it sees beside `new`.
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace areal {
namespace {

// Allocations from the 100th answer to the last. `extra`: one more a frame, to see that it is noticed.
long allocations_of(const std::vector<Worker>& workers, bool extra) {
  const Shape shape{160, 120};
  HistogramSequence sequence(shape, Type::u8, Binning::uniform(16, 0, 256), {.workers = workers});
  std::int64_t next = 0, answers = 0;
  long before = 0, after = 0;
  std::unique_ptr<int> more;
  sequence.run(
      [&](const View&, Frame& frame) {
        frame.number = next;
        if (next == 50) std::this_thread::sleep_for(std::chrono::milliseconds(100));  // every lane has begun then
        if (extra) more = std::make_unique<int>(1);
        return next++ < 400;
      },
      [&](const Frame& frame, std::vector<Region>& regions) {
        // The first frames take so long that the ring gets full: every slot, lane and place in the queue is used.
        if (frame.number < 20) regions.assign(400, {0, 0, shape.width, shape.height});
        for (std::int64_t i = 0; i < 8; ++i) regions.push_back({i * 10, frame.number % 60, 31, 17 + i});
      },
      [&](const FrameAnswer&) {
        if (++answers == 100) before = allocations;
        if (answers == 400) after = allocations;
        return true;
      });
  return after - before;
}

TEST(SequenceMemory, NothingIsAllocatedOnceTheRingIsFull) {
  EXPECT_GE(allocations_of({{.threads = 1}}, true), 250);  // what is allocated is counted
  EXPECT_EQ(allocations_of({{.threads = 1}}, false), 0);
  EXPECT_EQ(allocations_of({{.threads = 2}}, false), 0);
}

// Of the whole process, as the kernel counts them.
long resident_bytes() {
  long all = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * ::sysconf(_SC_PAGESIZE);
}

constexpr Shape large{512, 512};
constexpr long frame_bytes = 512 * 512, frames = 600;

// How much more is resident at the last answer than at the 50th, where the source is faster than the sink. `hoards`:
// the sink keeps the frames, to see that it is noticed.
long growth(WhenFull when_full, bool hoards) {
  HistogramSequence sequence(large, Type::u8, Binning::uniform(16, 0, 256),
                             {.workers = {{.threads = 1}}, .slots = 4, .when_full = when_full});
  std::int64_t next = 0, answers = 0;
  long before = 0, last = 0;
  std::list<std::vector<std::uint8_t>> hoard;
  const SequenceReport report = sequence.run(
      [&](const View& room, Frame& frame) {
        if (next == frames) return false;
        frame.number = next;
        std::memset(room.data, static_cast<int>(next), static_cast<std::size_t>(frame_bytes));
        if (when_full == WhenFull::drop_oldest) std::this_thread::sleep_for(std::chrono::microseconds(300));
        ++next;
        return true;
      },
      [&](const Frame&, std::vector<Region>& regions) {
        regions.push_back({3, 4, 50, 60});
      },
      [&](const FrameAnswer& answer) {
        std::this_thread::sleep_for(std::chrono::microseconds(1000));
        const auto* const pixels = static_cast<const std::uint8_t*>(answer.frame.pixels.data);
        if (hoards) hoard.emplace_back(pixels, pixels + frame_bytes);
        last = resident_bytes();
        if (++answers == 50) before = last;
        return true;
      });
  EXPECT_EQ(report.answered + report.dropped, frames);
  EXPECT_GT(answers, 50);
  return last - before;
}

TEST(SequenceMemory, ASlowSinkLeavesMemoryFlat) {
  EXPECT_GT(growth(WhenFull::wait, true), 300 * frame_bytes);  // what is kept is seen
  for (const WhenFull when_full : {WhenFull::wait, WhenFull::drop_oldest})
    EXPECT_LT(growth(when_full, false), 100 * frame_bytes) << static_cast<int>(when_full);  // ASan keeps what is freed
}

}  // namespace
}  // namespace areal
