// A sequence allocates nothing once its ring is full. This program counts every operator new.
#include <gtest/gtest.h>
#include <areal/sequence.hpp>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <new>
#include <thread>

namespace {
std::atomic<long> allocations{0};
}

void* operator new(std::size_t bytes) {
  ++allocations;
  if (void* const memory = std::malloc(bytes > 0 ? bytes : 1)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

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

}  // namespace
}  // namespace areal
