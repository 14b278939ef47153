#pragma once
// The last row and the last column of tiles, in host memory, for the tiles below them and to their right.

#include <cstddef>
#include <cstdint>
#include <vector>
#include "api/core/memory.hpp"
#include "pieces/core/grid.hpp"
#include "pieces/core/work.hpp"

namespace areal::pieces {

/// Where the carries of a part of one extent lie: those of all outputs, the rows above it in one block and the columns
/// to its left in another. A part's last row, with the corner before it, is the row above of the part below.
class CarryLayout {
 public:
  CarryLayout(const Form& form, std::int64_t width, std::int64_t height);

  std::size_t above_bytes() const noexcept { return above_.bytes; }
  std::size_t left_bytes() const noexcept { return left_.bytes; }
  View above(std::size_t output, void* block) const { return above_.view(output, block); }
  View left(std::size_t output, void* block) const { return left_.view(output, block); }

 private:
  struct Block {
    std::vector<Type> types;
    std::vector<Shape> shapes;
    std::vector<std::size_t> offsets;
    std::size_t bytes = 0;

    void add(Type type, const Shape& shape);
    View view(std::size_t output, void* block) const {
      return View(static_cast<char*>(block) + offsets[output], types[output], shapes[output]);
    }
  };
  Block above_, left_;
};

/// What a part hands on: blocks of host memory. None where no part takes it over.
struct Edges {
  Memory bottom, right;
};

/// Where the edges of a part's outputs lie in their memory, which is contiguous.
class EdgesOf {
 public:
  EdgesOf(const Form& form, std::int64_t width, std::int64_t height) : form_(form), width_(width), height_(height) {}

  /// The row that the part below takes over; `into` it goes behind the corner.
  std::int64_t row() const noexcept { return form_.reverse ? 0 : height_ + form_.margin - 1; }
  View behind_corner(View into) const {
    into.data = static_cast<char*>(into.data) + (form_.reverse ? 0 : form_.carry_lead * into.column_pitch());
    return into;
  }
  /// The column that the part to the right takes over, as a view of the output.
  ConstView column(const ConstView& output) const;
  /// Writes the corner: of the column that the part itself took over, or zeros.
  void write_corner(const View& into, const ConstView& left) const;

 private:
  const Form& form_;
  std::int64_t width_, height_;
};

/// Keeps edges until the one part that takes them over has been finished. Whoever takes an edge has heard of it from
/// who kept it, so there is no lock.
class EdgeCarries {
 public:
  explicit EdgeCarries(const TileGrid& grid) : grid_(grid), parts_(static_cast<std::size_t>(grid.parts())) {}

  /// Blocks of a CarryLayout; null where there is nothing to take over.
  void* above(std::int64_t part) const { return block(grid_.above(part), &Edges::bottom); }
  void* left(std::int64_t part) const { return block(grid_.left(part), &Edges::right); }
  void keep(std::int64_t part, Edges edges) noexcept { at(part) = std::move(edges); }
  /// The part will not be computed again.
  void finished(std::int64_t part) {
    if (const auto above = grid_.above(part)) at(*above).bottom = {};
    if (const auto left = grid_.left(part)) at(*left).right = {};
  }

 private:
  Edges& at(std::int64_t part) { return parts_[static_cast<std::size_t>(part)]; }
  void* block(std::optional<std::int64_t> part, Memory Edges::*edge) const {
    return part ? (parts_[static_cast<std::size_t>(*part)].*edge).data() : nullptr;
  }

  const TileGrid& grid_;
  std::vector<Edges> parts_;
};

}  // namespace areal::pieces
