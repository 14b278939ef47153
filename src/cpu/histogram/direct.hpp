#pragma once
// Histograms of regions of an 8-bit image, pixel by pixel: a region's bytes are counted by value, and the rule is
// applied to the 256 counts. With AVX-512 and a rule with few steps, the bytes below each step are counted instead.
// Best for few or small regions: O(sum of areas + regions * 256).

#include <areal/region.hpp>
#include <areal/view.hpp>
#include <cstdint>
#include <span>
#include "cpu/histogram/pixel_bins.hpp"

namespace areal::cpu {

/// True for images of bytes with one channel, whose rules are one table.
bool has_direct_counts(Type type, const Shape& image);

/// True if they are expected to be faster than `streamed_counts`, which reads the rows above the last region's end: see
/// formulas/count_times.hpp.
bool direct_is_less(const PixelBins& rule, const Shape& image, std::span<const Region> regions);

/// out: regions x bins. Every region must lie inside the image (batch 1). One thread allocates nothing.
void direct_counts(const PixelBins& rule, const ConstView& image, std::span<const Region> regions,
                   std::span<std::uint64_t> out, int threads);

/// The same with a mask (8u), of any type and rule: counts pixels whose mask is not 0. Any bins, one image.
void masked_counts(const PixelBins& rule, const ConstView& image, const ConstView& mask,
                   std::span<const Region> regions, std::span<std::uint64_t> out, int threads);

}  // namespace areal::cpu
