// on_threads where no memory is left to start a thread: fewer threads do the work.
#include <atomic>
#include <cstdlib>
#include <new>
#include "chunked/on_threads.hpp"

namespace {
thread_local int allocations_left = -1;  // of this thread; -1: any number
}  // namespace

[[gnu::noinline]] void* operator new(std::size_t bytes) {
  if (allocations_left == 0) throw std::bad_alloc();
  if (allocations_left > 0) --allocations_left;
  if (void* const made = std::malloc(bytes > 0 ? bytes : 1)) return made;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }

namespace areal::test {
namespace {

int workers_with(int allocations) {
  std::atomic<int> ran{0};
  const std::function<void(int)> body = [&](int) {
    allocations_left = -1;
    ++ran;
  };
  const std::function<void()> stop = [] {};
  allocations_left = allocations;
  try {
    chunked::on_threads(4, body, stop);
  } catch (const std::bad_alloc&) {
    ran = -1;
  }
  allocations_left = -1;
  return ran;
}

TEST(OnThreads, FewerThreadsWhereNoMemoryIsLeft) {
  EXPECT_EQ(workers_with(-1), 4);
  EXPECT_EQ(workers_with(0), -1);  // none for the list of threads: thrown before the first starts
  EXPECT_EQ(workers_with(1), 1);   // the list, and no thread
  EXPECT_EQ(workers_with(2), 2);
  EXPECT_EQ(workers_with(3), 3);
}

}  // namespace
}  // namespace areal::test
