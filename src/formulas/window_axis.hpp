#pragma once
// One axis of sliding windows: the pixels that a window covers, as a few intervals of the image with multiplicities.

#include <algorithm>
#include <areal/window.hpp>
#include <array>

namespace areal::formulas {

/// Pixels [begin, end) of one axis, each counted `times` times.
struct Piece {
  std::int64_t begin, end;
  std::uint64_t times;
};

/// At most five: the part inside, part of one copy of the image beyond each end, and whole copies of two kinds.
struct Pieces {
  std::array<Piece, 5> piece;
  int count = 0;
  constexpr void add(std::int64_t begin, std::int64_t end, std::int64_t times) {
    if (begin < end && times > 0) piece[count++] = {begin, end, static_cast<std::uint64_t>(times)};
  }
};

/// The contribution of each cell beyond the image to a sum, modulo 2^64 for a table of integers, or of floats.
struct CellBeyond {
  std::uint64_t integer = 0;
  double real = 0;
};

/// The copies of the image that a window covers beyond one end: `whole` complete ones, then `rest` pixels of the next.
struct Copies {
  std::int64_t whole, rest;
  constexpr Copies(std::int64_t pixels, std::int64_t copy)
      : whole(pixels < copy ? 0 : pixels / copy), rest(pixels < copy ? pixels : pixels % copy) {}
  constexpr bool is_rest_of_odd() const { return whole % 2 == 0; }  ///< of the first, third, ... copy
};

/// Whether windows at an edge are finished as those inside: zeros or nothing lies beyond it, and means have the same
/// divisor there.
constexpr bool finishes_alike(Edge edge, bool means) {
  return edge == Edge::valid || edge == Edge::zero || (edge == Edge::shrink && !means);
}

/// `extent` pixels, windows of `size` <= 2^62; window i covers [i - before, i - before + size), and with an edge other
/// than `valid` its anchor, i itself, is a pixel of the image.
struct WindowAxis {
  std::int64_t extent, size, before, outputs;
  Edge edge;

  /// Window i, which lies inside, as one piece.
  constexpr Piece whole(std::int64_t i) const { return {i - before, i - before + size, 1}; }
  constexpr bool lies_inside(std::int64_t i) const { return i >= before && i - before <= extent - size; }
  constexpr Pieces pieces(std::int64_t i) const {
    const std::int64_t begin = i - before, end = begin + size;
    const std::int64_t left = std::max<std::int64_t>(0, -begin), right = std::max<std::int64_t>(0, end - extent);
    Pieces all;
    all.add(std::max<std::int64_t>(0, begin), std::min(end, extent), 1);
    if (edge == Edge::replicate) {
      all.add(0, 1, left);
      all.add(extent - 1, extent, right);
    } else if (edge == Edge::reflect || edge == Edge::symmetric || edge == Edge::wrap) {
      add_copies(all, left, right);
    }
    return all;
  }
  /// Pixels of the image in window i.
  constexpr std::uint64_t inside(std::int64_t i) const {
    const std::int64_t begin = i - before;
    return static_cast<std::uint64_t>(std::min(begin + size, extent) - std::max<std::int64_t>(0, begin));
  }
  /// The divisor of a mean, along this axis.
  constexpr std::uint64_t pixels(std::int64_t i) const {
    return edge == Edge::shrink ? inside(i) : static_cast<std::uint64_t>(size);
  }
  /// Outputs [inner_begin, inner_end) belong to windows that lie inside.
  constexpr std::int64_t inner_begin() const { return std::min(before, inner_end()); }
  constexpr std::int64_t inner_end() const { return std::clamp<std::int64_t>(extent - size + before + 1, 0, outputs); }

 private:
  /// `left` and `right` pixels beyond the ends. A reflection's copies lack the pixel at which they are reflected: those
  /// that begin there cover [1, extent), the others [0, extent - 1).
  constexpr void add_copies(Pieces& all, std::int64_t left, std::int64_t right) const {
    const std::int64_t first = edge == Edge::reflect ? 1 : 0, copy = extent - first;
    if (copy == 0) return all.add(0, 1, left + right);  // an image of one pixel
    const Copies l(left, copy), r(right, copy);
    const bool turns = edge != Edge::wrap;  // every other copy, from the first one on, is reversed
    const auto beginning = [&](std::int64_t n) { all.add(first, first + n, 1); };
    const auto ending = [&](std::int64_t n) { all.add(copy - n, copy, 1); };
    turns&& l.is_rest_of_odd() ? beginning(l.rest) : ending(l.rest);
    turns&& r.is_rest_of_odd() ? ending(r.rest) : beginning(r.rest);
    all.add(first, extent, (l.whole + 1) / 2 + r.whole / 2);
    all.add(0, copy, l.whole / 2 + (r.whole + 1) / 2);
  }
};

/// The pixel of an axis that an edge shows at a position, which may be outside of it; -1 for none. O(1).
constexpr std::int64_t shown_pixel(std::int64_t position, std::int64_t extent, Edge edge) {
  if (position >= 0 && position < extent) return position;
  if (edge == Edge::replicate || (edge == Edge::reflect && extent == 1)) return position < 0 ? 0 : extent - 1;
  if (edge != Edge::reflect && edge != Edge::symmetric && edge != Edge::wrap) return -1;
  const std::int64_t period = edge == Edge::wrap ? extent : 2 * extent - (edge == Edge::reflect ? 2 : 0);
  const std::int64_t at = (position % period + period) % period;
  return at < extent ? at : 2 * extent - (edge == Edge::reflect ? 2 : 1) - at;
}

}  // namespace areal::formulas
