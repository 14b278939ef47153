#include "cluster/tile_carries.hpp"
#include <cstring>
#include <utility>

namespace areal::cluster {

Carry PartCarry::carry() const {
  const auto view_of = [](const Array& sums) { return sums.bytes() > 0 ? sums.view() : ConstView(); };
  return {view_of(above), view_of(left)};
}

TileCarries::TileCarries(const TiledSubject& subject, const TiledGrid& grid)
    : subject_(subject), grid_(grid), parts_(static_cast<std::size_t>(grid.parts())) {
  for (std::int64_t i = 0; i < grid.parts(); ++i) {
    const TensorPart part = part_of(grid, subject, i);
    Kept& kept = parts_[static_cast<std::size_t>(i)];
    kept.missing = (part.row > 0 ? 1 : 0) + (part.column > 0 ? 1 : 0);
    kept.users = hands_down(part) ? 1 + (hands_right(part) ? 1 : 0) : 0;
  }
}

std::vector<std::int64_t> TileCarries::first() const {
  std::vector<std::int64_t> parts;
  for (std::size_t i = 0; i < parts_.size(); ++i)
    if (parts_[i].missing == 0) parts.push_back(static_cast<std::int64_t>(i));
  return parts;
}

PartEdges TileCarries::edges_of(const TensorPart& part) const {
  PartEdges edges;
  const Type counter = subject_.options.counter;
  if (hands_down(part)) edges.bottom = Array({part.tile.width, 1, part.bins, 1, Layout::planar}, counter);
  if (hands_right(part)) edges.right = Array({1, part.tile.height, part.bins, 1, Layout::planar}, counter);
  return edges;
}

PartCarry TileCarries::take(const TensorPart& part) const {
  PartCarry carry;
  const Type counter = subject_.options.counter;
  const auto size = static_cast<std::size_t>(size_of(counter)), width = static_cast<std::size_t>(part.tile.width);
  if (part.row > 0) carry.above = Array({part.tile.width + 1, 1, part.bins, 1, Layout::planar}, counter);
  if (part.column > 0) carry.left = Array({1, part.tile.height, part.bins, 1, Layout::planar}, counter);
  const std::lock_guard lock(mutex_);
  if (part.row > 0) {
    const Array& row = at(part.row - 1, part.column, part.group).edges.bottom;
    const Array* const beside = part.column > 0 ? &at(part.row - 1, part.column - 1, part.group).edges.bottom : nullptr;
    const auto left_width = static_cast<std::size_t>(grid_.tile_width);  // all but the last column have it
    for (std::size_t bin = 0; bin < static_cast<std::size_t>(part.bins); ++bin) {
      char* const to = static_cast<char*>(carry.above.data()) + bin * (width + 1) * size;
      std::memset(to, 0, size);
      if (beside) std::memcpy(to, static_cast<const char*>(beside->data()) + ((bin + 1) * left_width - 1) * size, size);
      std::memcpy(to + size, static_cast<const char*>(row.data()) + bin * width * size, width * size);
    }
  }
  if (part.column > 0) {
    const Array& column = at(part.row, part.column - 1, part.group).edges.right;
    std::memcpy(carry.left.data(), column.data(), column.bytes());
  }
  return carry;
}

std::vector<std::int64_t> TileCarries::hand_over(const TensorPart& part, PartEdges edges) {
  const std::lock_guard lock(mutex_);
  Kept& kept = parts_[static_cast<std::size_t>(part.number)];
  std::vector<std::int64_t> ready;
  if (kept.there) return ready;
  kept.there = true;
  kept.edges = std::move(edges);
  const auto reach = [&](std::int64_t row, std::int64_t column) {
    if (row < grid_.rows && column < grid_.columns && --at(row, column, part.group).missing == 0)
      ready.push_back(number(row, column, part.group));
  };
  reach(part.row + 1, part.column);
  reach(part.row, part.column + 1);
  return ready;
}

bool TileCarries::is_handed_over(const TensorPart& part) const {
  const std::lock_guard lock(mutex_);
  return parts_[static_cast<std::size_t>(part.number)].there;
}

void TileCarries::finished(const TensorPart& part) {
  const std::lock_guard lock(mutex_);
  if (part.column > 0) at(part.row, part.column - 1, part.group).edges.right = {};
  if (part.row == 0) return;
  for (const std::int64_t column : {part.column - 1, part.column})
    if (column >= 0)
      if (Kept& kept = at(part.row - 1, column, part.group); --kept.users == 0) kept.edges.bottom = {};
}

}  // namespace areal::cluster
