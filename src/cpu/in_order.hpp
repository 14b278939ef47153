#pragma once
// Pieces of work that threads take one after another, and that may wait for what earlier pieces have done.

#include <atomic>
#include <cstdint>
#include <functional>
#include "cpu/threads.hpp"

namespace areal::cpu {

/// How far something has come, on a cache line of its own.
struct alignas(64) Reached {
  std::atomic<std::int64_t> steps{0};
};

class Cancellation;

/// What the bodies of one `in_order` wait by.
class Turn {
 public:
  /// Returns true once `reached` is at least `steps`; what was written before it was set is then visible. False where
  /// the work has ended, by an exception or because it was cancelled: the body then returns.
  bool wait(const Reached& reached, std::int64_t steps) const {
    return reached.steps.load(std::memory_order_acquire) >= steps || wait_long(reached, steps);
  }

 private:
  friend void in_order(int, std::int64_t, const std::function<void(std::int64_t, const Turn&)>&);
  explicit Turn(Cancellation* cancellation) : cancellation_(cancellation) {}
  bool wait_long(const Reached& reached, std::int64_t steps) const;
  bool goes_on() const;

  Cancellation* cancellation_;
  mutable std::atomic<bool> ended_{false};
};

/// body(i, turn) for every i in [0, n), at most `threads` at a time. A thread takes the smallest i that is left, so
/// each smaller one has ended or is on another thread that has begun it: a body may wait for what smaller ones do,
/// however few threads there are, as long as it does nothing else meanwhile that waits. Waiting threads spin for some
/// microseconds, then yield their core each time. An exception of a body is rethrown, Cancelled thrown where the
/// caller's Cancellation says so; bodies not begun are then left out, and those that wait return.
void in_order(int threads, std::int64_t n, const std::function<void(std::int64_t i, const Turn& turn)>& body);

/// As `wavefront`, for many small tiles: each row of tiles is one piece, walked from left to right behind the row
/// above. `reached` has room for planes * rows; its content does not matter.
void walk_rows(int threads, const TileGrid& grid, Reached* reached, const Tile& body);

}  // namespace areal::cpu
