#include "cpu/in_order.hpp"
#include <sched.h>
#include <new>
#include "cpu/cancellation.hpp"

namespace areal::cpu {
namespace {

constexpr int spins = 500;  // 5 to 20 us: longer than a wake-up on another core, shorter than a time slice

void pause_briefly() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

bool Turn::goes_on() const {
  if (ended_.load(std::memory_order_relaxed)) return false;
  if (cancellation_ == nullptr || cancellation_->go_on()) return true;
  ended_.store(true, std::memory_order_relaxed);
  return false;
}

bool Turn::wait_long(const Reached& reached, std::int64_t steps) const {
  for (int i = 0; reached.steps.load(std::memory_order_acquire) < steps; ++i) {
    if (i < spins) {
      pause_briefly();
      continue;
    }
    if (!goes_on()) return false;
    sched_yield();
  }
  return true;
}

void in_order(int threads, std::int64_t n, const std::function<void(std::int64_t, const Turn&)>& body) {
  const Turn turn(Cancellation::current());
  std::atomic<std::int64_t> next{0};
  on_threads(threads, n, [&] {
    // Threads that wait for this thread's piece must learn that it will not finish.
    struct Ending {
      std::atomic<bool>& ended;
      bool done = false;
      ~Ending() {
        if (!done) ended.store(true, std::memory_order_relaxed);
      }
    } ending{turn.ended_};
    while (turn.goes_on()) {
      // relaxed: only distributes the pieces
      const std::int64_t i = next.fetch_add(1, std::memory_order_relaxed);
      if (i >= n) break;
      body(i, turn);
    }
    ending.done = true;
  });
  if (turn.cancellation_ != nullptr) turn.cancellation_->check();
}

void walk_rows(int threads, const TileGrid& grid, Reached* reached, const Tile& body) {
  const std::int64_t rows = grid.planes * grid.rows;
  for (std::int64_t row = 0; row < rows; ++row) new (&reached[row]) Reached;
  in_order(threads, rows, [&](std::int64_t i, const Turn& turn) {
    const std::int64_t row = i % grid.rows;
    for (std::int64_t column = 0; column < grid.columns; ++column) {
      if (row > 0 && !turn.wait(reached[i - 1], column + 1)) return;
      body(i / grid.rows, row, column);
      reached[i].steps.store(column + 1, std::memory_order_release);
    }
  });
}

}  // namespace areal::cpu
