#pragma once
// A table under regions, boxes and rotated rectangles: some of its elements, and their sum. As on the CPU, integers are
// subtracted modulo 2^k in the table's own width and then widened, floats in double; the order of the subtractions is
// the CPU's.

#include <areal/border.hpp>
#include <areal/region.hpp>
#include <cstdint>
#include <type_traits>
#include "formulas/corners.hpp"
#include "kernels/primitives/elements.hpp"
#include "kernels/primitives/strides.hpp"

namespace areal::kernels {

/// A table, or the plane of a tensor's first bin, in a kernel's form.
struct TableArgs {
  const char* data = nullptr;
  std::int64_t row = 0, column = 0;
  int shift = 0;  ///< the element (0, 0) has that many rows above it, and columns left of it
  Type type = Type::u32;
  bool aligned = false, is_float = false, is_signed = false;
  std::int64_t channel = 0, batch = 0;  ///< bytes between planes; 0 if one serves all
};
inline TableArgs table_args(const ConstView& view, Border border) {
  Strides s = strides(view);
  const std::size_t size = size_of(view.type);
  return {static_cast<const char*>(view.data),
          s.row,
          s.column,
          border == Border::none ? 1 : 0,
          view.type,
          alignment_of(view.data, s, size, size) != Alignment::bytes,
          areal::is_float(view.type),
          is_signed_integer(view.type),
          s.channel,
          s.batch};
}

/// The planes of a table, the channels of one image after another.
struct PlaneArgs {
  std::int64_t count = 1, channels = 1;
};
inline PlaneArgs plane_args(const ConstView& view) {
  return {view.shape.channels * view.shape.batch, view.shape.channels};
}

/// The region and plane of an answer. Answers are ordered by region, then by plane.
struct PlaneOfRegion {
  std::int64_t region, channel = 0, image = 0;

  /// Bytes from the table's first plane to this one.
  AREAL_DEVICE std::int64_t offset(const TableArgs& table) const {
    return image * table.batch + channel * table.channel;
  }
};
AREAL_DEVICE PlaneOfRegion plane_of_region(const PlaneArgs& planes, std::int64_t i) {
  if (planes.count == 1) return {i};
  const std::int64_t plane = i % planes.count;
  return {i / planes.count, plane % planes.channels, plane / planes.channels};
}

/// The type of differences. T: unsigned for tables of integers.
template <class T>
using Difference = std::conditional_t<std::is_integral_v<T>, T, double>;

template <class T>
struct Corners {
  using D = Difference<T>;
  D top_left = 0, top_right = 0, bottom_left = 0, bottom_right = 0;

  /// Each row's difference first.
  AREAL_DEVICE D by_rows() const {
    return static_cast<D>(static_cast<D>(bottom_right - bottom_left) - static_cast<D>(top_right - top_left));
  }
  /// Each column's difference first.
  AREAL_DEVICE D by_columns() const {
    return static_cast<D>(static_cast<D>(bottom_right - top_right) - static_cast<D>(bottom_left - top_left));
  }
};

/// The corners of a region that lies inside, in the table `plane` bytes further on: at most four independent loads;
/// none for an empty region.
template <class T, class M>
AREAL_DEVICE Corners<T> corners(const M& m, const TableArgs& table, const Region& region, std::int64_t plane = 0,
                                Site site = AREAL_HERE) {
  if (region.width == 0 || region.height == 0) return {};
  using D = Difference<T>;
  const bool left = region.x >= table.shift, top = region.y >= table.shift;
  const std::int64_t right = region.width * table.column, down = region.height * table.row;
  const std::int64_t at = plane + (region.y - table.shift) * table.row + (region.x - table.shift) * table.column;
  const auto read = [&](const auto& element) {
    Corners<T> found;
    if (left && top) found.top_left = element(at);
    if (top) found.top_right = element(at + right);
    if (left) found.bottom_left = element(at + down);
    found.bottom_right = element(at + down + right);
    return found;
  };
  // One branch, so that the four loads are issued together.
  if (table.aligned)
    return read([&](std::int64_t offset) {
      return static_cast<D>(m.load(reinterpret_cast<const T*>(table.data + offset), site));
    });
  return read(
      [&](std::int64_t offset) { return static_cast<D>(load_element<M, T>(m, table.data + offset, false, site)); });
}

/// The elements at points 0 <= c < N of a table, or of slices `plane` bytes apart, added with their signs in that
/// order; 0 for points outside the table. N independent loads.
template <class T, int N, class M, class Point>
AREAL_DEVICE Difference<T> signed_sum(const M& m, const TableArgs& table, std::int64_t plane, const Point& point,
                                      Site site = AREAL_HERE) {
  T element[N] = {};
  const auto read = [&](const auto& at) {
    AREAL_UNROLL
    for (int c = 0; c < N; ++c) {
      const formulas::SignedPoint p = point(c);
      const std::int64_t x = p.x - table.shift, y = p.y - table.shift, z = p.z - table.shift;
      // Computed before the branch, which then only predicates the load.
      const std::int64_t offset = z * plane + y * table.row + x * table.column;
      if (x >= 0 && y >= 0 && z >= 0) element[c] = at(offset);
    }
  };
  // One branch, as above.
  if (table.aligned)
    read([&](std::int64_t offset) { return m.load(reinterpret_cast<const T*>(table.data + offset), site); });
  else
    read([&](std::int64_t offset) { return load_element<M, T>(m, table.data + offset, false, site); });
  Difference<T> sum = 0;
  AREAL_UNROLL
  for (int c = 0; c < N; ++c) {
    const auto value = static_cast<Difference<T>>(element[c]);
    sum = point(c).minus ? sum - value : sum + value;
  }
  return sum;
}

/// A difference of integers as 64 bits: two's complement for signed tables.
template <class T>
AREAL_DEVICE std::uint64_t widened(T difference, bool is_signed) {
  if (!is_signed) return difference;
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<std::make_signed_t<T>>(difference)));
}
AREAL_DEVICE double real_of(std::uint64_t sum, bool is_signed) {
  return is_signed ? static_cast<double>(static_cast<std::int64_t>(sum)) : static_cast<double>(sum);
}

/// A table's difference as double.
template <class D>
AREAL_DEVICE double real_sum(D difference, const TableArgs& table) {
  if constexpr (std::is_integral_v<D>)
    return real_of(widened(difference, table.is_signed), table.is_signed);
  else
    return difference;
}

/// A sum of a table whose type is known at run time.
struct AnySum {
  std::uint64_t integer = 0;  ///< of integers, modulo 2^64
  double real = 0;            ///< of any

  /// |sum| of integers.
  AREAL_DEVICE std::uint64_t magnitude(const TableArgs& table) const {
    return table.is_signed && static_cast<std::int64_t>(integer) < 0 ? 0 - integer : integer;
  }
};

/// visit(T()) for the type that elements of the table are read as.
template <class F>
AREAL_BOTH decltype(auto) with_element(const TableArgs& table, const F& visit) {
  switch (table.type) {
    case Type::u16:
      return visit(std::uint16_t{});
    case Type::f32:
      return visit(float{});
    case Type::f64:
      return visit(double{});
    case Type::u64:
    case Type::s64:
      return visit(std::uint64_t{});
    default:
      return visit(std::uint32_t{});
  }
}
/// From a sum's 64 bits, or a double.
template <class Wide>
AREAL_DEVICE AnySum as_any_sum(Wide sum, const TableArgs& table) {
  if constexpr (std::is_integral_v<Wide>)
    return {sum, real_of(sum, table.is_signed)};
  else
    return {0, sum};
}
/// sum(T()) for the type that elements of the table are read as; it returns 64 bits of an integer sum, or double.
template <class F>
AREAL_DEVICE AnySum any_sum(const TableArgs& table, const F& sum) {
  return with_element(table, [&](auto element) { return as_any_sum(sum(element), table); });
}
/// A table's difference in the form of any_sum.
template <class D>
AREAL_DEVICE auto wide_difference(D difference, const TableArgs& table) {
  if constexpr (std::is_integral_v<D>)
    return widened(difference, table.is_signed);
  else
    return difference;
}

/// The sum of a region that lies inside.
template <class M>
AREAL_DEVICE AnySum region_sum(const M& m, const TableArgs& table, const Region& region, std::int64_t plane = 0,
                               Site site = AREAL_HERE) {
  return any_sum(table, [&](auto element) {
    using T = decltype(element);
    return wide_difference(corners<T>(m, table, region, plane, site).by_rows(), table);
  });
}

}  // namespace areal::kernels
