#pragma once
// How an image is cut into parts.

#include <algorithm>
#include <areal/tiled.hpp>
#include <cstdint>
#include <optional>
#include <vector>
#include "pieces/core/work.hpp"

namespace areal::pieces {

/// Strips of full width, from the top down. The last may have fewer rows; where no rows are made, there is one part.
class RowGrid {
 public:
  RowGrid(const Shape& image, std::int64_t height, const Halo& halo)
      : image_(image), height_(height), halo_(halo), first_(halo.beyond == Halo::Beyond::inside ? halo.above : 0) {}

  std::int64_t parts() const noexcept { return std::max<std::int64_t>(1, (made() + height_ - 1) / height_); }
  Part part(std::int64_t number) const noexcept {
    const std::int64_t begin = number * height_, y = first_ + begin;
    Part part{number, {0, y, image_.width, std::max<std::int64_t>(0, std::min(height_, made() - begin))}};
    if (part.pixels.height == 0) return part;
    const bool cut = halo_.beyond == Halo::Beyond::cut;
    part.above = cut ? std::min(halo_.above, y) : halo_.above;
    part.below = cut ? std::min(halo_.below, image_.height - part.end()) : halo_.below;
    return part;
  }
  /// Of a part's inputs, at most.
  std::int64_t most_rows() const noexcept {
    const std::int64_t rows = height_ + halo_.rows();
    return halo_.beyond == Halo::Beyond::wrap ? rows : std::max(height_, std::min(rows, image_.height));
  }
  /// Of a part's outputs, at most.
  std::int64_t most_made() const noexcept { return halo_.is_made ? most_rows() : height_; }

 private:
  /// Rows of the image that parts are of.
  std::int64_t made() const noexcept {
    const bool inside = halo_.beyond == Halo::Beyond::inside;
    return std::max<std::int64_t>(0, image_.height - (inside ? halo_.rows() : 0));
  }

  Shape image_;
  std::int64_t height_;
  Halo halo_;
  std::int64_t first_;
};

/// Tiles, of each one part for each group of bins. Tiles are numbered row by row from the first one or, mirrored, from
/// the last one back; "above" and "left" are what comes before in that order.
class TileGrid {
 public:
  TileGrid(const Shape& image, const TiledGrid& cut, bool mirrored) : image_(image), cut_(cut), mirrored_(mirrored) {}

  std::int64_t tiles() const noexcept { return cut_.rows * cut_.columns; }
  std::int64_t groups() const noexcept { return cut_.groups; }
  std::int64_t parts() const noexcept { return cut_.parts(); }
  std::int64_t tile_of(std::int64_t part) const noexcept { return part / cut_.groups; }
  std::int64_t group_of(std::int64_t part) const noexcept { return part % cut_.groups; }
  Part part(std::int64_t number) const noexcept {
    const std::int64_t cell = mirrored_ ? tiles() - 1 - tile_of(number) : tile_of(number);
    const std::int64_t x = cell % cut_.columns * cut_.tile_width, y = cell / cut_.columns * cut_.tile_height;
    return {number, {x, y, std::min(cut_.tile_width, image_.width - x), std::min(cut_.tile_height, image_.height - y)}};
  }

  std::optional<std::int64_t> above(std::int64_t part) const { return some(row(part) > 0, part - down()); }
  std::optional<std::int64_t> left(std::int64_t part) const { return some(column(part) > 0, part - cut_.groups); }
  std::optional<std::int64_t> below(std::int64_t part) const { return some(row(part) + 1 < cut_.rows, part + down()); }
  std::optional<std::int64_t> right(std::int64_t part) const {
    return some(column(part) + 1 < cut_.columns, part + cut_.groups);
  }

  /// All tiles, each behind those above it and to its left, and with as many that do not need each other side by side
  /// as there can be.
  std::vector<std::int64_t> by_diagonals() const {
    std::vector<std::int64_t> tiles;
    for (std::int64_t diagonal = 0; diagonal < cut_.rows + cut_.columns - 1; ++diagonal)
      for (std::int64_t y = std::max<std::int64_t>(0, diagonal - cut_.columns + 1);
           y < std::min(cut_.rows, diagonal + 1); ++y)
        tiles.push_back(y * cut_.columns + diagonal - y);
    return tiles;
  }

 private:
  static std::optional<std::int64_t> some(bool is, std::int64_t part) {
    return is ? std::optional(part) : std::nullopt;
  }
  std::int64_t down() const noexcept { return cut_.columns * cut_.groups; }
  std::int64_t row(std::int64_t part) const noexcept { return tile_of(part) / cut_.columns; }
  std::int64_t column(std::int64_t part) const noexcept { return tile_of(part) % cut_.columns; }

  Shape image_;
  TiledGrid cut_;
  bool mirrored_;
};

}  // namespace areal::pieces
