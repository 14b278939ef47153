#pragma once
// One axis of sliding windows: which pixels a window covers, as a few intervals of the image, each some times.

#include <algorithm>
#include <areal/window.hpp>
#include <array>

namespace areal::formulas {

/// Pixels [begin, end) of one axis, each counted `times` times.
struct Piece {
  std::int64_t begin, end;
  std::uint64_t times;
};

/// At most three: inside, and what lies beyond either end.
struct Pieces {
  std::array<Piece, 3> piece;
  int count = 0;
  constexpr void add(std::int64_t begin, std::int64_t end, std::int64_t times) {
    if (begin < end && times > 0) piece[count++] = {begin, end, static_cast<std::uint64_t>(times)};
  }
};

/// `extent` pixels, windows of `size` <= 2^62; window i covers [i - before, i - before + size), and with an edge other
/// than `valid` its anchor, i itself, is a pixel of the image. `reflect` reaches at most extent - 1 beyond either end.
struct WindowAxis {
  std::int64_t extent, size, before, outputs;
  Edge edge;

  constexpr Pieces pieces(std::int64_t i) const {
    const std::int64_t begin = i - before, end = begin + size;
    const std::int64_t left = std::max<std::int64_t>(0, -begin), right = std::max<std::int64_t>(0, end - extent);
    Pieces all;
    all.add(std::max<std::int64_t>(0, begin), std::min(end, extent), 1);
    if (edge == Edge::replicate) {
      all.add(0, 1, left);
      all.add(extent - 1, extent, right);
    } else if (edge == Edge::reflect) {
      all.add(1, 1 + left, 1);
      all.add(extent - 1 - right, extent - 1, 1);
    }
    return all;
  }
  /// What a mean divides by, along this axis.
  constexpr std::uint64_t pixels(std::int64_t i) const {
    if (edge != Edge::shrink) return static_cast<std::uint64_t>(size);
    const std::int64_t begin = i - before;
    return static_cast<std::uint64_t>(std::min(begin + size, extent) - std::max<std::int64_t>(0, begin));
  }
  /// Outputs [inner_begin, inner_end) are of windows that lie inside.
  constexpr std::int64_t inner_begin() const { return std::min(before, inner_end()); }
  constexpr std::int64_t inner_end() const { return std::clamp<std::int64_t>(extent - size + before + 1, 0, outputs); }
};

}  // namespace areal::formulas
