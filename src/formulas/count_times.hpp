#pragma once
// What counting the pixels of regions costs on a CPU, for the choices that weigh it: nanoseconds of one thread of a
// Xeon with AVX-512 (bench/results/*-cpu-stores.json).

namespace areal::formulas {

/// Pixel by pixel: for each pixel, of wide regions whose bins have few steps, or of others; and for each region.
inline constexpr double direct_wide_pixel_ns = 0.16, direct_pixel_ns = 0.4;
constexpr double direct_region_ns(double bins) { return 500 + 2.7 * bins; }
/// The columns from which a region is wide.
inline constexpr int direct_wide = 64;

/// In a stream over the rows: for each pixel of the image, for each region and bin, and for each column of those.
inline constexpr double streamed_pixel_ns = 0.8, streamed_bin_ns = 25, streamed_column_ns = 0.4;

}  // namespace areal::formulas
