#pragma once
// A Binning made ready for images of one type: what the cpu room bins with.

#include <areal/binning.hpp>
#include "cpu/histogram/pixel_bins.hpp"

namespace areal {

/// Throws InvalidArgument where the rule cannot read images of that type or number of channels.
cpu::PixelBins pixel_bins(const Binning& binning, Type type, std::int64_t channels);

}  // namespace areal
