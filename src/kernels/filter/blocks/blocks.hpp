#pragma once
// The schedule of blocks: which kernel a request gets, and how an image is cut into strips and segments.

#include <algorithm>
#include <cstdint>
#include <string>
#include <type_traits>
#include <variant>
#include "kernels/filter/blocks/blocks_kernel.hpp"
#include "kernels/filter/blocks/means_kernel.hpp"
#include "kernels/filter/request.hpp"
#include "kernels/filter/segments.hpp"
#include "kernels/primitives/strides.hpp"
#include "kernels/primitives/workspace.hpp"

namespace areal::kernels {

/// Not every pixel counts.
inline bool blocks_leave_out(const FilterRequest& request) { return request.mask || request.omit_nan; }

/// f<C>() for the kernel of a request that blocks takes.
template <class F>
void with_blocks(const FilterRequest& request, const F& f) {
  const FilterFinish finish(request);
  const bool deviates = finish.statistic == FilterStatistic::variance ||
                        finish.statistic == FilterStatistic::standard_deviation ||
                        (finish.statistic == FilterStatistic::threshold && finish.local.needs_variance());
  if (request.in == Type::f64 && deviates) return f.template operator()<BlockOf<double, BlockTerms::moments>>();
  const bool counts = blocks_leave_out(request);
  const auto of = [&]<class In>() {
    if (counts || (finish.needs_squares() && sizeof(In) == 8))
      return f.template operator()<BlockOf<In, BlockTerms::counts>>();
    if constexpr (sizeof(In) < 8)
      if (finish.needs_squares()) return f.template operator()<BlockOf<In, BlockTerms::squares>>();
    f.template operator()<BlockOf<In, BlockTerms::sums>>();
  };
  if (request.in == Type::f64) return of.template operator()<double>();
  if (request.in == Type::f16) return of.template operator()<Half>();
  of.template operator()<float>();
}

/// Columns that a block of threads reads.
template <class Kernel>
inline constexpr int blocks_span = Kernel::V* Kernel::threads;

/// Blocks of a grid whose rings are in the workspace.
template <class C>
std::int64_t blocks_with_rings(const FilterRequest& request) {
  using Kernel = Blocks<NoMachine, C>;
  const int strips = block_strips(request.columns, block_strip_columns(request.columns.size, blocks_span<Kernel>));
  return std::min(most_with_rings<Kernel>, request.image.channels * request.image.batch * strips *
                                               std::max<std::int64_t>(1, request.rows.outputs));
}
template <class C>
std::int64_t blocks_ring_bytes(const FilterRequest& request) {
  return block_ring_bytes<Blocks<NoMachine, C>, C>(request.rows.size);
}
inline std::size_t blocks_workspace_bytes(const FilterRequest& request) {
  std::size_t bytes = 0;
  with_blocks(request, [&]<class C>() {
    if (const std::int64_t each = blocks_ring_bytes<C>(request); each > 0) {
      char* ring = nullptr;
      Workspace all(nullptr);
      all.take(ring, each * blocks_with_rings<C>(request));
      bytes = all.bytes();
    }
  });
  return bytes;
}

/// The image as the kernels see it, before it is cut.
inline BlocksArgs blocks_args(const FilterRequest& request, const FilterArguments& views, std::size_t lane_bytes) {
  BlocksArgs a{};
  a.image = static_cast<const char*>(views.image.data), a.out = static_cast<char*>(views.out.data);
  a.mask = request.mask ? static_cast<const char*>(views.mask.data) : nullptr;
  a.from = strides(views.image), a.to = strides(views.out);
  if (request.mask) a.marks = strides(views.mask);
  const auto alignment = [](const auto& view, const Strides& s, std::size_t vector) {
    return alignment_of(view.data, s, size_of(view.type), vector);
  };
  a.vectors = alignment(views.image, a.from, std::min<std::size_t>(16, lane_bytes)) == Alignment::vectors;
  a.mask_words = request.mask && alignment(views.mask, a.marks, 4) == Alignment::vectors;
  const Edge edge = request.columns.edge;
  const double value = edge == Edge::constant ? request.value : 0;
  if (request.in == Type::f64)
    a.beyond = __builtin_bit_cast(std::uint64_t, value);
  else if (request.in == Type::f16)
    a.beyond = to_half(static_cast<float>(value)).bits;
  else
    a.beyond = __builtin_bit_cast(std::uint32_t, static_cast<float>(value));
  a.beyond_counts = edge == Edge::constant || edge == Edge::zero;
  a.omit_nan = request.omit_nan;
  a.channels = static_cast<int>(views.image.shape.channels);
  a.finish = FilterFinish(request);
  a.finish.pixel_aligned = alignment(views.image, a.from, size_of(request.in)) != Alignment::bytes;
  a.finish.out_aligned = alignment(views.out, a.to, size_of(request.out)) != Alignment::bytes;
  a.quick = !blocks_leave_out(request) && a.finish.statistic == FilterStatistic::mean && request.out == Type::f32 &&
            a.to.column == sizeof(float) && a.finish.out_aligned && request.min_count <= 1;
  a.reciprocal = 1 / (static_cast<double>(request.columns.size) * static_cast<double>(request.rows.size));
  return a;
}
/// Strips of a kernel, and segments for a device that holds so many blocks of threads.
template <class Kernel>
void cut_blocks(BlocksArgs& a, const FilterRequest& request, std::int64_t held) {
  set_block_sums(a, request.columns, request.rows, blocks_span<Kernel>);
  a.strips = block_strips(request.columns, a.strip_columns);
  cut_segments(a, a.rows.outputs, block_begin_rows(a.rows.size), request.image.channels * request.image.batch, held);
}

/// f<C>() for the kernel of BlockMeans that has the windows, where `quick`, if there is one.
template <class F>
void with_block_means(const FilterRequest& request, const F& f) {
  const std::int64_t away = (request.rows.size - 1) / 8;
  if (request.in != Type::f32 || request.columns.size > BlockMeans<NoMachine, MeansByBlocks<8>>::most_width || away > 8)
    return;
  if (away == 0) return f.template operator()<MeansByBlocks<0>>();
  if (away == 1) return f.template operator()<MeansByBlocks<1>>();
  if (away <= 3) return f.template operator()<MeansByBlocks<3>>();
  f.template operator()<MeansByBlocks<8>>();
}
/// The strips of BlockMeans. They begin at outputs of addresses that are multiples of 32 bytes, or of 16, if their last
/// lanes have complete windows for it.
inline void cut_block_means(BlocksArgs& a, std::int64_t planes, std::int64_t held) {
  constexpr int block = 8, lanes = 32;
  const int away = (a.columns.size - 1) / block, rest = (a.columns.size - 1) % block;
  const int complete = lanes - away - (rest > 0 ? 1 : 0), spare = rest > 0 ? block - rest : 0;  // lanes; windows more
  const auto number = static_cast<int>(reinterpret_cast<std::uintptr_t>(a.out) / sizeof(float) % block);
  a.lead = -(number + a.columns.before) & (block - 1);
  if (a.lead > spare && a.lead >= block / 2) a.lead -= block / 2;
  a.strip_columns = block * (a.lead > spare ? complete - 1 : complete);
  a.first_column = -(a.columns.before + a.lead) & -block;
  a.strips = (a.columns.outputs - 1 - (a.first_column + a.columns.before + a.lead)) / a.strip_columns + 1;
  // Whole rounds of the blocks that the device holds: one, or more of segments of about this many steps, as those at
  // the edge take longer.
  const int before = a.rows.size - 1 - a.rows.before, about = 24 + 2 * ((a.rows.size - 1) / block);
  const std::int64_t steps = ((a.rows.outputs - 1 + before) >> 3) - (before >> 3) + 1, columns = planes * a.strips;
  const auto segments_of = [&](std::int64_t rounds) {
    return std::clamp<std::int64_t>(rounds * held / columns, 1, steps);
  };
  const std::int64_t rounds = std::max<std::int64_t>(1, (steps / segments_of(1) + about / 2) / about);
  const auto each = static_cast<int>((steps - 1) / segments_of(rounds) + 1);
  a.segment_rows = block * each;
  a.segments = static_cast<int>((steps - 1) / each + 1);
  a.units = columns * a.segments;
}
/// False: the device does not hold a block of the kernel.
template <class C, class Launcher>
bool launch_block_means(Launcher& launcher, const FilterRequest& request, BlocksArgs a) {
  const std::int64_t held = launcher.template most_together<BlockMeans, C>();
  if (held == 0) return false;
  a.columns = FilterAxis(request.columns), a.rows = FilterAxis(request.rows);
  a.whole = Reciprocal::of(static_cast<double>(request.columns.size) * static_cast<double>(request.rows.size));
  a.zero = std::max(a.columns.size, a.rows.size) > 8 ? 0. : -0.;
  cut_block_means(a, request.image.channels * request.image.batch, held);
  launcher.template launch<BlockMeans, C>(a.units, a, false);
  return true;
}

template <class C, class Launcher>
void launch_blocks(Launcher& launcher, const FilterRequest& request, const FilterArguments& views, void* workspace) {
  using Kernel = Blocks<NoMachine, C>;
  BlocksArgs a = blocks_args(request, views, Kernel::V * sizeof(typename Kernel::In));
  if constexpr (C::terms == BlockTerms::sums && std::is_same_v<typename C::In, float>) {
    bool launched = false;
    if (a.quick)
      with_block_means(request, [&]<class Means>() { launched = launch_block_means<Means>(launcher, request, a); });
    if (launched) return;
  }
  a.ring_bytes = blocks_ring_bytes<C>(request);
  std::int64_t held = held_blocks<Blocks, C>(launcher);
  if (a.ring_bytes > 0) {
    Workspace(workspace).take(a.ring, a.ring_bytes * blocks_with_rings<C>(request));
    held = std::min(held, blocks_with_rings<C>(request));
  }
  cut_blocks<Kernel>(a, request, held);
  launcher.template launch<Blocks, C>(a.ring_bytes > 0 ? std::min(a.units, held) : a.units, a, false);
}

/// What blocks needs, if it does not take the request.
inline std::string blocks_takes(const FilterRequest& request) {
  using Kernel = Blocks<NoMachine, BlockOf<float, BlockTerms::sums>>;
  const auto is = [](std::int64_t n) { return std::to_string(n); };
  const FilterFinish finish(request);
  if (finish.statistic == FilterStatistic::none) return "it takes sums, means, counts, deviations and thresholds";
  if (finish.statistic == FilterStatistic::threshold && finish.local.method == filter::Local::wolf)
    return "it takes every threshold but that of wolf";
  if (!is_float(request.in))
    return "it takes images of 16f, 32f and 64f; this one is of " + std::string(name_of(request.in));
  if (std::max(request.columns.extent, request.rows.extent) > most_of_filter_axis)
    return "it takes images of up to " + is(most_of_filter_axis) + " rows and columns; this one has " +
           is(request.rows.extent) + " and " + is(request.columns.extent);
  if (request.columns.size > Kernel::most_width || request.rows.size > Kernel::most_rows)
    return "it takes windows of up to " + is(Kernel::most_rows) + " rows and " + is(Kernel::most_width) +
           " columns; this one has " + is(request.rows.size) + " and " + is(request.columns.size);
  return {};
}

}  // namespace areal::kernels
