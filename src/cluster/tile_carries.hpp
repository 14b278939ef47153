#pragma once
// The last row and the last column of each part of a tensor, kept in host memory for the parts below it and to its
// right, and which parts can begin. Thread-safe.

#include <areal/array.hpp>
#include <areal/carry.hpp>
#include <cstdint>
#include <mutex>
#include <vector>
#include "cluster/tile_grid.hpp"

namespace areal::cluster {

/// What one part hands over: of each of its bins, the last row and the last column.
struct PartEdges {
  Array bottom;  // bins x 1 x width
  Array right;   // bins x height x 1; without memory where no part lies to the right
};

/// What one part takes over, side by side.
struct PartCarry {
  Array above, left;
  Carry carry() const;
};

class TileCarries {
 public:
  TileCarries(const TiledSubject& subject, const TiledGrid& grid);

  /// Parts that need nothing of others.
  std::vector<std::int64_t> first() const;
  bool hands_down(const TensorPart& part) const { return part.row + 1 < grid_.rows; }
  bool hands_right(const TensorPart& part) const { return part.column + 1 < grid_.columns; }
  /// Memory for the edges of a part, as far as others need them.
  PartEdges edges_of(const TensorPart& part) const;

  PartCarry take(const TensorPart& part) const;
  /// Keeps the edges and returns the parts that can begin now; none where they are there already, as of a part that is
  /// done once more.
  std::vector<std::int64_t> hand_over(const TensorPart& part, PartEdges edges);
  bool is_handed_over(const TensorPart& part) const;
  /// The part will not be done again: what only it needed is given up.
  void finished(const TensorPart& part);

 private:
  struct Kept {
    PartEdges edges;
    bool there = false;
    int missing = 0, users = 0;  // parts that it waits for; those that may still take its last row
  };
  std::int64_t number(std::int64_t row, std::int64_t column, std::int64_t group) const {
    return (row * grid_.columns + column) * grid_.groups + group;
  }
  Kept& at(std::int64_t row, std::int64_t column, std::int64_t group) {
    return parts_[static_cast<std::size_t>(number(row, column, group))];
  }
  const Kept& at(std::int64_t row, std::int64_t column, std::int64_t group) const {
    return parts_[static_cast<std::size_t>(number(row, column, group))];
  }

  const TiledSubject& subject_;
  const TiledGrid& grid_;
  mutable std::mutex mutex_;
  std::vector<Kept> parts_;
};

}  // namespace areal::cluster
