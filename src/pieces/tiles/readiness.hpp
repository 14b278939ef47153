#pragma once
// Which parts can be computed, and that each has its effects on others once. Thread-safe; nobody waits.

#include <atomic>
#include <cstdint>
#include <vector>
#include "pieces/core/grid.hpp"

namespace areal::pieces {

class Readiness {
 public:
  /// `carried`: a part needs its pixels and the edges of the parts above it and to its left.
  Readiness(const TileGrid& grid, bool carried) : missing_(count(grid)), committed_(count(grid)) {
    for (std::int64_t part = 0; part < grid.parts(); ++part)
      missing_[at(part)] = 1 + (carried && grid.above(part) ? 1 : 0) + (carried && grid.left(part) ? 1 : 0);
  }

  /// A part's pixels are there, or one of the edges that it needs. True for the last of them: the part can begin, and
  /// sees what was written before any of these calls.
  bool arrived(std::int64_t part) { return --missing_[at(part)] == 0; }
  /// True once for each part, however often it is tried again: what it computed may now be used.
  bool commits(std::int64_t part) { return !committed_[at(part)].exchange(true); }

 private:
  static std::size_t at(std::int64_t part) { return static_cast<std::size_t>(part); }
  static std::size_t count(const TileGrid& grid) { return at(grid.parts()); }

  std::vector<std::atomic<int>> missing_;
  std::vector<std::atomic<bool>> committed_;
};

}  // namespace areal::pieces
