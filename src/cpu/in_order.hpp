#pragma once
// Pieces of work that threads execute in order and that may wait for the progress of earlier pieces.

#include <atomic>
#include <cstdint>
#include <functional>
#include "cpu/threads.hpp"

namespace areal::cpu {

/// A progress counter, on its own cache line.
struct alignas(64) Reached {
  std::atomic<std::int64_t> steps{0};
};

class Cancellation;

/// Waits of the bodies of one `in_order`.
class Turn {
 public:
  /// Returns true once `reached` is at least `steps`; writes made before it was set are then visible. Returns false if
  /// the work has ended by an exception or by cancellation: the body must then return.
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

/// body(i, turn) for every i in [0, n), at most `threads` at a time. A thread gets the smallest i that no thread has
/// begun: a body may wait for the progress of smaller ones, for any number of threads, as long as it waits in no other
/// way. Waiting threads spin for some microseconds, then yield their core each time. An exception of a body is
/// rethrown; Cancelled is thrown as the caller's Cancellation requires; bodies not begun are then skipped, and those
/// that wait return.
void in_order(int threads, std::int64_t n, const std::function<void(std::int64_t i, const Turn& turn)>& body);

/// As `wavefront`, for many small tiles: each row of tiles is one piece, walked from left to right behind the row
/// above. `reached` has planes * rows elements; their initial values do not matter.
void walk_rows(int threads, const TileGrid& grid, Reached* reached, const Tile& body);

}  // namespace areal::cpu
