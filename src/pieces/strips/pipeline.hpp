#pragma once
// Strips on their way: read by one thread, computed by the caller's, given out by a third, through two buffers of each.

#include <cstdint>
#include <functional>
#include "pieces/core/piece_lane.hpp"

namespace areal::pieces {

/// What is done with strip k. read(k) begins when compute(k - 2) has ended, compute(k) when read(k) and give(k - 2)
/// have, give(k) when compute(k) has; each sees what these wrote.
struct Stages {
  std::function<void(std::int64_t k)> read;     ///< on a thread of its own
  std::function<void(std::int64_t k)> compute;  ///< on the caller's
  std::function<bool(std::int64_t k)> give;     ///< on a thread of its own; false: no more strips
  std::function<void(std::int64_t k)> given;  ///< on the caller's, for each strip that was given, in order; may be none
};

/// Strips 0 .. n-1. False where `give` ended it. Where a stage throws, the others end with the strip that they have,
/// and the first exception is rethrown. Throws Cancelled where the caller's CancelScope says so, also while it waits.
bool run_stages(std::int64_t n, const Stages& stages);

}  // namespace areal::pieces
