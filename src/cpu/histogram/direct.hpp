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

/// True for rules that are one table over bytes, of images with one channel.
bool has_direct_counts(const PixelBins& rule, const Shape& image);

/// True if they are expected to be faster than `streamed_counts`. Nanoseconds of one thread of a Xeon with AVX-512
/// (bench/results/*-cpu-stores.json): here 0.16 a pixel of a region of 64 columns or more where the rule has few steps,
/// else 0.4, and 500 + 2.7 bins a region; there 0.8 a pixel of the rows above the last region's end, and
/// 25 and 0.4 a column a region and bin.
bool direct_is_less(const PixelBins& rule, const Shape& image, std::span<const Region> regions);

/// out: regions x bins. Every region must lie inside the image (batch 1). One thread allocates nothing.
void direct_counts(const PixelBins& rule, const ConstView& image, std::span<const Region> regions,
                   std::span<std::uint64_t> out, int threads);

/// The same with a mask (8u), of any type and rule: counts pixels whose mask is not 0. Any bins, one image.
void masked_counts(const PixelBins& rule, const ConstView& image, const ConstView& mask,
                   std::span<const Region> regions, std::span<std::uint64_t> out, int threads);

}  // namespace areal::cpu
