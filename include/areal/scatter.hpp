#pragma once
/// \file scatter.hpp The transpose of region sums: scatters values to the regions' corners.

#include <areal/border.hpp>
#include <areal/region.hpp>
#include <areal/span.hpp>
#include <areal/view.hpp>
#include <cstddef>
#include <cstdint>

namespace areal {

/// Bytes of device memory that `scatter_corners` needs: about 32 a region.
std::size_t scatter_workspace_bytes(std::size_t regions);

/// \name The transpose of `region_sums`. Overwrites `out`, which has the shape and the border of a table of a W x H
/// image, in any layout, with
///
///     G(X, Y) = sum over i of v_i ([X = x_i or X = x_i + w_i] with + for (x_i, y_i) and (x_i + w_i, y_i + h_i),
///                                  - for (x_i + w_i, y_i) and (x_i, y_i + h_i)),
///
/// at the points 0 <= X <= W, 0 <= Y <= H between pixels that have an element in the border: `zero` all, at [Y][X];
/// `none` those with X, Y >= 1, at [Y-1][X-1]; `exclusive` those with X < W and Y < H, at [Y][X]. Values at other
/// points are dropped. So for every table T of that border and regions valid in it, sum(T G) = sum over i of v_i
/// region_sum(T, i).
///
/// The gradient of the v-weighted sum of region sums by the image is, at each pixel, the sum of v over the regions that
/// contain it. It is the inclusive table (border `none`) of G with border `exclusive`. It is also the sums from the
/// right and from below of G with border `none`, whose element (X, Y) adds all elements at X and beyond, Y and beyond.
///
/// `values` has one number for each region and plane of out, in the order of `region_sums`. out is of 32f or 64f for
/// doubles, of 32u or 64u for unsigned and 32s or 64s for signed integers, which are added modulo 2^k. Doubles are
/// added in double, for each element in the order of the regions, and rounded to out's type once: the same bits in
/// every run, on every backend, for any number of threads. Empty regions and invalid ones (see
/// QueryOptions::first_invalid) scatter nothing. If invalid regions throw, out is unchanged.
///
/// out's memory, host or device, decides where the work runs (see QueryOptions); for a device, regions and values may
/// each be there or on the host. A device needs `scatter_workspace_bytes(regions.size())` bytes: `workspace`, that
/// device's memory at any address, or if it is empty memory that the call allocates in stream order. O(W H + N) for N
/// regions on the CPU, whose threads share the rows; on a device a radix sort of 4 N corners by their element,
/// ceil(log2(W H) / 8) passes, and a thread for each element with corners, which adds them one after another.
/// Throws what queries about regions throw, and InvalidArgument for 2^30 regions or more, for a workspace that is too
/// small, and for a workspace without a device.
/// @{
void scatter_corners(Span<const Region> regions, Span<const double> values, const View& out, Border border,
                     const QueryOptions& options = {}, Span<std::byte> workspace = {});
void scatter_corners(Span<const Region> regions, Span<const std::uint64_t> values, const View& out, Border border,
                     const QueryOptions& options = {}, Span<std::byte> workspace = {});
void scatter_corners(Span<const Region> regions, Span<const std::int64_t> values, const View& out, Border border,
                     const QueryOptions& options = {}, Span<std::byte> workspace = {});
///@}

}  // namespace areal
