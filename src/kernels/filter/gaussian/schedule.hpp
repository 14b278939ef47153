#pragma once
// The schedule of Gaussians, `convolution` and `extended-boxes`: how an image is cut into bands, and lines into
// segments.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include "formulas/gaussian.hpp"
#include "kernels/filter/gaussian/kernel.hpp"
#include "kernels/filter/gaussian_tables.hpp"
#include "kernels/filter/request.hpp"
#include "kernels/primitives/strides.hpp"

namespace areal::kernels {

/// Sets what depends on the axis: how many lines a block has, and the outputs of each. Segments are at least as long as
/// what they need beyond, if a line of all places is long enough.
inline void set_gaussian_axis(GaussianArgs& a, const formulas::GaussianAxis& axis, const formulas::WindowAxis& window) {
  using Kernel = GaussianLines<NoMachine, NoConfig>;
  a.axis = FilterAxis(window);
  a.passes = axis.passes, a.inside = static_cast<int>(axis.box.inside);
  a.reach = static_cast<int>(axis.passes == 0 ? axis.reach : axis.box.reach());
  a.inner = axis.box.inner, a.outer = axis.box.outer;
  const int beyond = a.axis.size - 1 + Kernel::block - 1;
  a.lines = 4;
  while (a.lines > 1 && Kernel::places / a.lines < 2 * beyond) a.lines /= 2;
  a.length = Kernel::places / a.lines;
  a.lines_bits = std::countr_zero(static_cast<unsigned>(a.lines));
  a.length_bits = std::countr_zero(static_cast<unsigned>(a.length));
  a.line_cells = a.length + a.length / Kernel::block + 16 / a.lines % 16;
  a.outputs = (a.length - beyond) / Kernel::block * Kernel::block;
}

/// The number beyond a constant edge, as a pixel of the image's type.
inline double beyond_as_pixel(const FilterRequest& request) {
  const auto value = static_cast<float>(request.value);
  if (request.in == Type::f16) return to_float(to_half(value));
  return request.in == Type::f32 ? value : request.value;
}

template <class Launcher>
void launch_gaussian(Launcher& launcher, const FilterRequest& request, const FilterArguments& views, void* memory) {
  const GaussianAxes axes(request);
  const GaussianBands bands(request);
  const GaussianWorkspace workspace(request, memory);
  const bool shrinks = request.columns.edge == Edge::shrink, has_constant = request.columns.edge == Edge::constant;
  GaussianArgs a{};
  a.image = static_cast<const char*>(views.image.data), a.out = static_cast<char*>(views.out.data);
  a.from = strides(views.image), a.to = strides(views.out);
  a.in_type = request.in, a.out_type = request.out;
  const std::size_t in = size_of(request.in), out = size_of(request.out);
  a.in_aligned = alignment_of(views.image.data, a.from, in, in) != Alignment::bytes;
  a.out_aligned = alignment_of(views.out.data, a.to, out, out) != Alignment::bytes;
  a.between = workspace.between, a.between_row = bands.row, a.between_plane = bands.row * bands.rows;
  a.beyond = has_constant ? beyond_as_pixel(request) : 0;
  a.width = static_cast<int>(request.columns.extent);
  a.channels = static_cast<int>(request.image.channels);
  GaussianArgs down = a, along = a;
  set_gaussian_axis(down, axes.rows, request.rows), set_gaussian_axis(along, axes.columns, request.columns);
  down.weights = workspace.down_weights, down.lines_end = a.width + (has_constant ? 1 : 0);
  along.weights = workspace.weights, along.along_rows = true, along.end = along.axis.outputs;
  if (shrinks) along.shares = workspace.shares, along.other_shares = workspace.down_shares;
  down.strips = (down.lines_end - 1) / down.lines + 1, down.segment_rows = down.outputs;
  along.strips = (along.end - 1) / along.outputs + 1, along.segment_rows = along.lines;
  const std::int64_t all = request.image.channels * request.image.batch;
  const auto launch = [&](GaussianArgs& one, std::int64_t plane, std::int64_t planes, int rows) {
    one.segments = (rows - 1) / one.segment_rows + 1;
    const std::int64_t each = std::int64_t{1} * one.segments * one.strips;
    one.first_unit = plane * each;
    launcher.template launch<GaussianLines, NoConfig>(planes * each, one, false);
  };
  for (std::int64_t plane = 0; plane < all; plane += bands.planes)
    for (std::int64_t row = 0; row < request.rows.outputs; row += bands.rows) {
      const std::int64_t planes = std::min(bands.planes, all - plane);
      const int first = static_cast<int>(row), end = static_cast<int>(std::min(row + bands.rows, request.rows.outputs));
      down.first = along.first_line = first, down.end = along.lines_end = end;
      launch(down, plane, planes, end - first);
      launch(along, plane, planes, end - first);
    }
}

/// What lines in shared memory need, if they do not take the request.
inline std::string gaussian_lines_take(const FilterRequest& request) {
  using Kernel = GaussianLines<NoMachine, NoConfig>;
  if (!is_gaussian(request)) return "it takes Gaussians";
  const auto is = [](std::int64_t n) { return std::to_string(n); };
  const std::int64_t size = std::max(request.columns.size, request.rows.size);
  if (const std::int64_t most = Kernel::places - 2 * Kernel::block + 2; size > most)
    return "it takes windows of up to " + is(most) + " rows and columns; this one has " + is(size);
  if (std::max(request.columns.extent, request.rows.extent) > most_of_filter_axis)
    return "it takes images of up to " + is(most_of_filter_axis) + " rows and columns; this one has " +
           is(request.rows.extent) + " and " + is(request.columns.extent);
  return {};
}

}  // namespace areal::kernels
