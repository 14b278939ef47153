#pragma once
// The schedule of walk: which kernel a request gets, and how an image is cut into strips and segments.

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include "formulas/rounded_mean.hpp"
#include "formulas/rounding.hpp"
#include "kernels/filter/request.hpp"
#include "kernels/filter/segments.hpp"
#include "kernels/filter/walk/bands.hpp"
#include "kernels/filter/walk/product_mean.hpp"
#include "kernels/filter/walk/walk_kernel.hpp"
#include "kernels/primitives/strides.hpp"

namespace areal::kernels {

/// Rows of the first and the last strip take so many times as long (docs/notes/cuda-filter.md).
inline constexpr double outer_row = 1.3;
/// The height of their segments.
inline int outer_rows(int rows, double begin) {
  return std::max({1, rows / 2, static_cast<int>((rows + begin) / outer_row - begin)});
}

/// See segment_rows. Rows that stay in the ring pass through it; others take a tenth of the instructions, and a load.
template <class Kernel>
double begin_rows(std::int64_t size) {
  return 4 + (Kernel::keeps ? 0.6 : 0.3) * static_cast<double>(size);
}

template <class C, class Launcher>
void launch_walk(Launcher& launcher, const FilterRequest& request, const FilterArguments& views) {
  using Kernel = Walk<NoMachine, C>;
  using In = typename Kernel::In;
  WalkArgs a{};
  a.image = static_cast<const char*>(views.image.data), a.out = static_cast<char*>(views.out.data);
  a.from = strides(views.image), a.to = strides(views.out);
  a.columns = FilterAxis(request.columns), a.rows = FilterAxis(request.rows);
  a.window_bytes = a.rows.size * a.from.row;
  const auto alignment = [](const auto& view, const Strides& s, std::size_t vector) {
    return alignment_of(view.data, s, size_of(view.type), vector);
  };
  a.vectors = alignment(views.image, a.from, sizeof(typename Kernel::Part)) == Alignment::vectors;
  a.out_vectors = alignment(views.out, a.to, 16) == Alignment::vectors;
  const double value = request.columns.edge == Edge::constant ? request.value : 0;
  a.beyond = static_cast<std::uint32_t>(static_cast<std::int64_t>(value)) * (Kernel::is_bytes ? 0x01010101u : 1u);
  a.slides = Kernel::is_bytes && !a.out_vectors && a.to.column == 1;
  // The first lanes lack columns to the left; where outputs slide, the lane before the first one stores, too.
  const int shift = Kernel::is_bytes && !a.slides ? a.columns.after() % Kernel::V : 0;
  const int incomplete = a.columns.size - 1 - shift;
  a.first_lane = incomplete <= 0 ? 0 : (incomplete + Kernel::V - 1) / Kernel::V;
  if (a.slides) ++a.first_lane;
  a.strip_columns = Kernel::V * (Kernel::places - 1 - a.first_lane);
  a.strips = (a.columns.outputs - 1) / a.strip_columns + 1;
  a.channels = static_cast<int>(views.image.shape.channels);
  const std::int64_t planes = views.image.shape.channels * views.image.shape.batch;
  const std::int64_t held = held_blocks<Walk, C>(launcher) * Kernel::spans;
  const double begin = begin_rows<Kernel>(a.rows.size);
  a.outer = a.strips > 2 && a.vectors ? 1 : 0;
  const double columns = static_cast<double>(planes) * (a.strips + 2 * a.outer * (outer_row - 1));
  a.segment_rows = segment_rows(a.rows.outputs, begin, columns, static_cast<double>(held));
  a.segments = (a.rows.outputs - 1) / a.segment_rows + 1;
  if (a.outer > 0) {
    a.outer_rows = outer_rows(a.segment_rows, begin);
    a.outer_segments = (a.rows.outputs - 1) / a.outer_rows + 1;
    a.outer_units = planes * 2 * a.outer_segments;
  }
  a.units = planes * (a.strips - 2 * a.outer) * a.segments + a.outer_units;
  if constexpr (Kernel::decides) {
    a.finish = FilterFinish(request);
    const auto n = static_cast<std::uint32_t>(a.columns.size) * static_cast<std::uint32_t>(a.rows.size);
    a.decide = WalkDecide(a.finish, n, a.columns.after() - a.finish.centre_x);
  } else if constexpr (Kernel::is_bytes) {
    const auto n = static_cast<std::uint32_t>(a.columns.size) * static_cast<std::uint32_t>(a.rows.size);
    a.mean = formulas::RoundedMean(n);
    const ProductMean product(n, request.rounding);  // read by WalkOutput::product alone
    a.factor = product.factor;
    for (std::uint32_t i = 0; i < Kernel::V; ++i) a.add[i] = product.add - (i + 1) * Kernel::bias * product.factor;
  } else {
    a.finish = FilterFinish(request);
    a.finish.pixel_aligned = alignment(views.image, a.from, sizeof(In)) != Alignment::bytes;
    a.finish.out_aligned = alignment(views.out, a.to, size_of(request.out)) != Alignment::bytes;
  }
  launcher.template launch<Walk, C>((a.units + Kernel::spans - 1) / Kernel::spans, a, false);
}

/// Rows that a ring keeps beyond the windows': those on their way.
inline constexpr int walk_ahead = Walk<NoMachine, WalkBytes<1, 0, WalkOutput::even>>::ahead;
using WideWalkBytes = Walk<NoMachine, WalkBytes<8, 0, WalkOutput::even, 0, false>>;
inline constexpr std::int64_t most_any_rows = 65535;

inline bool is_walk_of_bytes(const FilterRequest& request) {
  return std::holds_alternative<filter::Mean>(request.filter) && request.in == Type::u8 && request.out == Type::u8 &&
         request.rows.size <= WideWalkBytes::Columns::most_rows && request.columns.size <= WideWalkBytes::most_width;
}

/// f<C>() for means of bytes.
template <class F>
void with_walk_of_bytes(const FilterRequest& request, const F& f) {
  using enum WalkOutput;
  const std::int64_t width = request.columns.size, height = request.rows.size;
  const auto n = static_cast<std::uint32_t>(width * height);
  const bool has_product = ProductMean(n, request.rounding).factor != 0;
  static constexpr int kept = 15 + walk_ahead;
  if (has_product && height <= 15 && width <= 15 && width % 2 == 1 && width > 1 &&
      request.columns.before == width / 2) {
    switch (width) {
      case 3:
        return f.template operator()<WalkBytes<1, kept, product, 3>>();
      case 5:
        return f.template operator()<WalkBytes<1, kept, product, 5>>();
      case 7:
        return f.template operator()<WalkBytes<1, kept, product, 7>>();
      case 9:
        return f.template operator()<WalkBytes<1, kept, product, 9>>();
      case 11:
        return f.template operator()<WalkBytes<1, kept, product, 11>>();
      case 13:
        return f.template operator()<WalkBytes<1, kept, product, 13>>();
      default:
        return f.template operator()<WalkBytes<1, kept, product, 15>>();
    }
  }
  const auto by = [&]<int warps, int ring, bool low>() {
    if (has_product) return f.template operator()<WalkBytes<warps, ring, product, 0, low>>();
    if (n % 2 == 0) return f.template operator()<WalkBytes<warps, ring, even, 0, low>>();
    return f.template operator()<WalkBytes<warps, ring, upper, 0, low>>();
  };
  if (width > Walk<NoMachine, WalkBytes<1, 0, even>>::most_width) return by.template operator()<8, 0, false>();
  if (height <= 15) return by.template operator()<1, kept, true>();
  height <= ByteColumns<true>::most_rows ? by.template operator()<1, 0, true>() : by.template operator()<1, 0, false>();
}

inline bool is_walk_that_decides(const FilterRequest& request) {
  const FilterFinish finish(request);
  return finish.statistic == FilterStatistic::threshold && finish.quick && request.in == Type::u8 &&
         request.out == Type::u8 && request.rows.size <= ByteColumns<true>::most_rows &&
         request.columns.size <= Walk<NoMachine, WalkBytesDecide<NoColumns>>::most_width;
}

/// f<C>() for thresholds of bytes.
template <class F>
void with_walk_that_decides(const FilterRequest& request, const F& f) {
  if (!FilterFinish(request).needs_squares()) return f.template operator()<WalkBytesDecide<NoColumns>>();
  switch (request.columns.size % 4) {
    case 0:
      return f.template operator()<WalkBytesDecide<ByteSquares, 0>>();
    case 1:
      return f.template operator()<WalkBytesDecide<ByteSquares, 3>>();
    case 2:
      return f.template operator()<WalkBytesDecide<ByteSquares, 2>>();
    default:
      return f.template operator()<WalkBytesDecide<ByteSquares, 1>>();
  }
}

/// f<C>() for any statistic and output.
template <class F>
void with_walk_of_any(const FilterRequest& request, const F& f) {
  const bool squares = FilterFinish(request).needs_squares();
  const auto of = [&]<class In, class Cell, class Square>() {
    if constexpr (!std::is_void_v<Square>)
      if (squares) return f.template operator()<WalkAny<CellColumns<In, Cell, false>, CellColumns<In, Square, true>>>();
    return f.template operator()<WalkAny<CellColumns<In, Cell, false>, NoColumns>>();
  };
  switch (request.in) {
    case Type::s8:
      return of.template operator()<std::int8_t, std::uint32_t, std::uint32_t>();
    case Type::u16:
      return of.template operator()<std::uint16_t, std::uint32_t, std::uint64_t>();
    case Type::s16:
      return of.template operator()<std::int16_t, std::uint32_t, std::uint64_t>();
    case Type::u32:
      return of.template operator()<std::uint32_t, std::uint64_t, void>();
    case Type::s32:
      return of.template operator()<std::int32_t, std::uint64_t, void>();
    default:
      return of.template operator()<std::uint8_t, std::uint32_t, std::uint32_t>();
  }
}

/// f<C>() for the kernel of a request that walk takes.
template <class F>
void with_walk(const FilterRequest& request, const F& f) {
  if (is_walk_of_bytes(request)) return with_walk_of_bytes(request, f);
  is_walk_that_decides(request) ? with_walk_that_decides(request, f) : with_walk_of_any(request, f);
}

/// What walk needs, if it does not take the request.
inline std::string walk_takes(const FilterRequest& request) {
  using AnyWalk = Walk<NoMachine, WalkAny<CellColumns<std::uint8_t, std::uint32_t, false>, NoColumns>>;
  const auto is = [](std::int64_t n) { return std::to_string(n); };
  const std::string types =
      "these types are " + std::string(name_of(request.in)) + " and " + std::string(name_of(request.out));
  const FilterFinish finish(request);
  if (finish.statistic == FilterStatistic::none) return "it takes sums, means, counts, deviations and thresholds";
  if (finish.statistic == FilterStatistic::threshold && finish.local.method == filter::Local::wolf)
    return "it takes every threshold but that of wolf";
  if (is_float(request.in) || size_of(request.in) == 8) return "it takes images of integers of 8 to 32 bits; " + types;
  if (request.out == Type::u32 || request.out == Type::u64 || request.out == Type::s64 || request.out == Type::f16)
    return "it takes outputs of 8u, 8s, 16u, 16s, 32s, 32f and 64f; " + types;
  if (finish.needs_squares() && size_of(request.in) > 2)
    return "it takes deviations of images of 8 and 16 bits; " + types;
  const bool as_opencv = request.rounding == Rounding::opencv && finish.statistic == FilterStatistic::mean;
  if (as_opencv && is_walk_of_bytes(request) && request.columns.edge == Edge::shrink)
    return "it rounds means as OpenCV with every edge but shrink";
  const std::int64_t pixels = request.columns.size * request.rows.size;
  if (as_opencv && is_walk_of_bytes(request) && pixels >= 2 && pixels <= 256 &&
      ProductMean(static_cast<std::uint32_t>(pixels), request.rounding).factor == 0)
    return "it rounds means as OpenCV of windows of more than " + is(pixels) + " pixels";
  if (as_opencv && !is_walk_of_bytes(request) &&
      (request.out == Type::f64 || (request.out == Type::u8 && size_of(request.in) == 1)))
    return "it rounds means as OpenCV from 8u to 8u; " + types;
  if (request.mask) return "it takes no mask";
  if (request.min_count > 1) return "it takes a min_count of 1, not " + is(request.min_count);
  if (std::max(request.columns.extent, request.rows.extent) > most_of_filter_axis)
    return "it takes images of up to " + is(most_of_filter_axis) + " rows and columns; this one has " +
           is(request.rows.extent) + " and " + is(request.columns.extent);
  if (!is_walk_of_bytes(request) && (request.columns.size > AnyWalk::most_width || request.rows.size > most_any_rows))
    return "it takes windows of up to " + is(most_any_rows) + " rows and " + is(AnyWalk::most_width) +
           " columns, and means of 8u of " + is(WideWalkBytes::Columns::most_rows) + " rows and " +
           is(WideWalkBytes::most_width) + " columns; this one has " + is(request.rows.size) + " and " +
           is(request.columns.size);
  return {};
}

}  // namespace areal::kernels
