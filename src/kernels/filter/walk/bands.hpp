#pragma once
// The schedule of bands: which means of bytes get it, and how an image is cut into strips and segments.

#include <algorithm>
#include <cstdint>
#include <variant>
#include "kernels/filter/request.hpp"
#include "kernels/filter/segments.hpp"
#include "kernels/filter/walk/bands_kernel.hpp"
#include "kernels/filter/walk/product_mean.hpp"
#include "kernels/primitives/strides.hpp"

namespace areal::kernels {

/// Columns of the tile before the outputs of a strip: a multiple of `unit`, and at least those before a window's
/// anchor.
inline int bands_margin(const FilterRequest& request, int unit) {
  return (static_cast<int>(request.columns.before) + unit - 1) / unit * unit;
}

/// Windows that a kernel takes.
template <class C>
bool bands_reach(const FilterRequest& request) {
  using Kernel = BandMeans<NoMachine, C>;
  const std::int64_t ends =
      bands_margin(request, Kernel::margin_unit) - request.columns.before + Kernel::each - 1 + request.columns.size;
  return ends <= Kernel::each * Kernel::steps &&
         request.rows.size + Kernel::chunk - 1 <= Kernel::chunk * Kernel::blocks;
}

/// Walk is faster for windows of up to 15 columns and rows in images of more pixels (one H200, 15x15: 22 and 16 us at
/// 1920x1080, 30 and 27 at 4096x4096, 59 and 69 at 8192x8192), and for windows of up to so few rows in all images.
inline constexpr std::int64_t most_pixels_of_bands = std::int64_t{1} << 24, few_rows_of_bands = 8;

/// Whether a kernel of bands can load the image: rows of bytes that are vectors, and all pixels that show beyond the
/// edge of its tiles lie in the tile that is filled.
template <class Kernel>
bool bands_load(const FilterRequest& request) {
  const formulas::WindowAxis &columns = request.columns, &rows = request.rows;
  if (columns.edge == Edge::wrap || columns.extent % 16 != 0) return false;
  const std::int64_t after = columns.size - 1 - columns.before;
  if (rows.before >= rows.extent || rows.size - rows.before > rows.extent) return false;
  const std::int64_t last =
      (columns.outputs - 1) / Kernel::columns * Kernel::columns - bands_margin(request, Kernel::margin_unit);
  return columns.before < columns.extent && columns.extent - 1 - after >= std::max<std::int64_t>(0, last);
}

/// Whether it can take the means.
template <class Kernel>
bool bands_serve(const FilterRequest& request) {
  return std::holds_alternative<filter::Mean>(request.filter) && request.in == Type::u8 && request.out == Type::u8 &&
         bands_load<Kernel>(request);
}

/// Calls f<output>() for the way to a mean.
template <class F>
void with_output_of_bands(const FilterRequest& request, const F& f) {
  using enum WalkOutput;
  const auto n = static_cast<std::uint32_t>(request.columns.size * request.rows.size);
  if (ProductMean(n, request.rounding).factor != 0)
    f.template operator()<product>();
  else if (n % 2 == 0)
    f.template operator()<even>();
  else
    f.template operator()<upper>();
}

/// Calls f<C>() for the kernel of means of bytes whose windows reach into few columns and rows, if there is one.
template <class F>
void with_bands(const FilterRequest& request, const F& f) {
  const formulas::WindowAxis &columns = request.columns, &rows = request.rows;
  if (!bands_serve<BandMeans<NoMachine, MeansByBands<2, 2, WalkOutput::even>>>(request)) return;
  if (columns.size <= 15 && rows.size <= 15 &&
      (rows.size <= few_rows_of_bands || columns.outputs * rows.outputs > most_pixels_of_bands))
    return;
  with_output_of_bands(request, [&]<WalkOutput output>() {
    const auto by = [&]<int steps, int blocks>() {
      using C = MeansByBands<steps, blocks, output>;
      if (bands_reach<C>(request)) f.template operator()<C>();
      return bands_reach<C>(request);
    };
    by.template operator()<2, 2>() || by.template operator()<2, 3>() || by.template operator()<3, 5>();
  });
}

/// Whether a kernel of bands can read the image.
inline bool bands_fit(const FilterArguments& views) {
  return alignment_of(views.image.data, strides(views.image), 1, 16) == Alignment::vectors;
}

/// The arguments of a kernel of bands, but for the segments. `vector`: bytes that it stores at a time.
template <class Kernel>
void set_bands(BandMeansArgs& a, const FilterRequest& request, const FilterArguments& views, std::size_t vector) {
  a.image = static_cast<const char*>(views.image.data), a.out = static_cast<char*>(views.out.data);
  a.from = strides(views.image), a.to = strides(views.out);
  a.vectors = alignment_of(views.out.data, a.to, 1, vector) == Alignment::vectors;
  a.columns = FilterAxis(request.columns), a.rows = FilterAxis(request.rows);
  a.beyond_rows = RowsBeyond(a.rows);
  a.margin = bands_margin(request, Kernel::margin_unit);
  const double value = request.columns.edge == Edge::constant ? request.value : 0;
  a.beyond = static_cast<std::uint32_t>(value) * 0x01010101u;
  const auto n = static_cast<std::uint32_t>(a.columns.size * a.rows.size);
  const ProductMean product(n, request.rounding);
  a.mean = formulas::RoundedMean(n), a.factor = product.factor, a.add = product.add;
  a.channels = static_cast<int>(views.image.shape.channels);
  a.strips = (a.columns.outputs - 1) / Kernel::columns + 1;
}

template <class C, class Launcher>
void launch_bands(Launcher& launcher, const FilterRequest& request, const FilterArguments& views) {
  using Kernel = BandMeans<NoMachine, C>;
  BandMeansArgs a{};
  set_bands<Kernel>(a, request, views, sizeof(typename Kernel::Two));
  const std::int64_t strips = views.image.shape.channels * views.image.shape.batch * a.strips;
  // If the strips are fewer than the blocks that a device holds, all blocks run at once.
  const std::int64_t segments = std::max<std::int64_t>(1, held_blocks<BandMeans, C>(launcher) / strips);
  const std::int64_t rows = (a.rows.outputs + segments - 1) / segments;
  a.segment_rows = static_cast<int>((rows + Kernel::chunk - 1) / Kernel::chunk * Kernel::chunk);
  a.segments = (a.rows.outputs - 1) / a.segment_rows + 1;
  a.units = strips * a.segments;
  launcher.template launch<BandMeans, C>(a.units, a, false);
}

}  // namespace areal::kernels
