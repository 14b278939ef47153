#pragma once
// The carry of a piece of a larger table (areal/carry.hpp) in the tiles' form: the table's row above, and each row's
// sum left of the piece; and the first row and column of a table with border. Without a carry these are zeros.

#include <areal/carry.hpp>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include "cpu/sat/cell.hpp"
#include "cpu/sat/placement.hpp"

namespace areal::cpu {

/// f(T()) for the type of a table's sums.
template <class F>
void with_table_type(Type table, const F& f) {
  switch (table) {
    case Type::f32:
      return f(float{});
    case Type::f64:
      return f(double{});
    case Type::u64:
    case Type::s64:
      return f(std::uint64_t{});
    default:
      return f(std::uint32_t{});
  }
}

/// to - from, but 0 if both are the same infinity: after an infinity the larger table stays infinite.
template <class T>
T step_between(T from, T to) {
  if constexpr (std::is_floating_point_v<T>) return to == from ? T(0) : to - from;
  return static_cast<T>(to - from);
}

/// The carry of one plane of a table. In a reversed one `left` is passed from its last row on, and columns are counted
/// from the last.
class PlaneOfCarry {
 public:
  PlaneOfCarry(const Carry& carry, std::int64_t channel, std::int64_t n, bool reverse = false)
      : reverse_(reverse),
        above_(first_of(carry.above, channel, n)),
        left_(first_of(carry.left, channel, n)),
        above_step_(carry.above.column_pitch()),
        left_step_(carry.left.row_pitch) {
    if (!reverse || above_ == nullptr) return;
    above_ += (carry.above.shape.width - 1) * above_step_;
    above_step_ = -above_step_;
  }

  /// The n values of the row above, from column x of the piece on, contiguous, in memory order.
  void row_above(Type table, std::int64_t x, std::int64_t n, void* to) const {
    if (above_ == nullptr) {
      std::memset(to, 0, static_cast<std::size_t>(n) * size_of(table));
      return;
    }
    with_table_type(table, [&](auto type) {
      using T = decltype(type);
      for (std::int64_t i = 0; i < n; ++i) store<T>(to, reverse_ ? n - 1 - i : i, above<T>(1 + x + i));
    });
  }
  /// For each of the n rows from row y on, the sum left of the piece.
  void row_sums(Type table, std::int64_t y, std::int64_t n, void* to) const {
    if (above_ == nullptr && left_ == nullptr) {
      std::memset(to, 0, static_cast<std::size_t>(n) * size_of(table));
      return;
    }
    with_table_type(table, [&](auto type) {
      using T = decltype(type);
      T before = y == 0 ? above<T>(0) : left<T>(y - 1);
      for (std::int64_t i = 0; i < n; ++i) {
        const T here = left<T>(y + i);
        store<T>(to, i, step_between(before, here));
        before = here;
      }
    });
  }
  /// The sum of all rows above row y left of the piece, modulo 2^k; integers only.
  void sum_of_rows(Type table, std::int64_t y, void* to) const {
    with_table_type(table, [&](auto type) {
      using T = decltype(type);
      store<T>(to, 0, y == 0 ? T(0) : static_cast<T>(left<T>(y - 1) - above<T>(0)));
    });
  }
  /// Entry (x, y) of a table's first row or column.
  template <class T>
  T edge(std::int64_t x, std::int64_t y) const {
    return y == 0 ? above<T>(x) : left<T>(y - 1);
  }

 private:
  static const char* first_of(const ConstView& view, std::int64_t channel, std::int64_t n) {
    if (view.data == nullptr) return nullptr;
    const bool planar = view.shape.layout == Layout::planar || view.shape.channels == 1;
    const std::int64_t offset =
        planar ? channel * view.plane_pitch : channel * static_cast<std::int64_t>(size_of(view.type));
    return static_cast<const char*>(view.data) + n * view.batch_pitch + offset;
  }
  template <class T>
  T above(std::int64_t x) const {
    return above_ == nullptr ? T(0) : load<T>(above_ + x * above_step_, 0);
  }
  template <class T>
  T left(std::int64_t y) const {
    return left_ == nullptr ? T(0) : load<T>(left_ + y * left_step_, 0);
  }

  bool reverse_;
  const char *above_, *left_;
  std::int64_t above_step_, left_step_;
};

/// Fills the parts of a table's first row and column next to rows y .. y + height of image n, for `channels` channels
/// from `channel` on, with zeros or the carry. Row 0 includes the table's first row. In a reversed table, which is
/// passed from its last row (and slice) on, the column is the last.
inline void fill_edges(const View& table, const Placement& place, const Carry& carry, bool reverse, std::int64_t n,
                       std::int64_t channel, std::int64_t channels, std::int64_t y, std::int64_t height) {
  const Shape& shape = table.shape;
  if (place.offset == 0 || shape.width == 0) return;  // an empty table may have no address
  const bool planar = shape.layout == Layout::planar;
  const std::int64_t first_plane = planar ? channel : 0, planes = planar ? channels : 1;
  const std::int64_t begin = y == 0 ? 0 : y + 1, end = y + height + 1;  // rows of the table
  const auto pixel = size_of(table.type) * static_cast<std::size_t>(planar ? 1 : shape.channels);
  for (std::int64_t c = first_plane; c < first_plane + planes; ++c)
    for (std::int64_t row = begin; row < end; ++row) {
      const bool whole = row == 0 || (place.depth_offset == 1 && n == 0);
      const std::int64_t columns = whole ? shape.width : 1;
      const auto first = pixel * static_cast<std::size_t>(reverse ? shape.width - columns : 0);
      std::memset(static_cast<char*>(table.row(row, c, n)) + first, 0, pixel * static_cast<std::size_t>(columns));
    }
  if (carry.empty()) return;
  with_table_type(table.type, [&](auto type) {
    using T = decltype(type);
    for (std::int64_t c = channel; c < channel + channels; ++c) {
      const PlaneOfCarry carried(carry, c, n, reverse);
      const std::int64_t step = planar ? 1 : shape.channels, at = planar ? 0 : c;
      for (std::int64_t row = begin; row < end; ++row) {
        void* const to = table.row(row, planar ? c : 0, n);
        for (std::int64_t x = 0; x < (row == 0 ? shape.width : 1); ++x)
          store<T>(to, (reverse ? shape.width - 1 - x : x) * step + at, carried.edge<T>(x, row));
      }
    }
  });
}
/// The first row and column (and slice) of every plane.
inline void fill_edges(const View& table, const Placement& place, const Carry& carry = {}, bool reverse = false) {
  for (std::int64_t n = 0; n < table.shape.batch; ++n)
    fill_edges(table, place, carry, reverse, n, 0, table.shape.channels, 0, table.shape.height - 1);
}

}  // namespace areal::cpu
