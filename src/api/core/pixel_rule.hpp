#pragma once
// What a histogram reads: a Binning made ready for images of one type, and the weights of their pixels.

#include <areal/binning.hpp>
#include "cpu/histogram/pixel_bins.hpp"

namespace areal {

/// Throws InvalidArgument where the rule cannot read images of that type or number of channels.
cpu::PixelBins pixel_bins(const Binning& binning, Type type, std::int64_t channels);

/// Throws InvalidArgument unless `weights` are one 8u, 16u, 32f or 64f for each pixel of the image.
void check_weights(const ConstView& weights, const Shape& image);

}  // namespace areal
