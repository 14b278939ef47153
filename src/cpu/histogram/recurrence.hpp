#pragma once
// Poostchi 2017, Algorithm 1: serial, and its bins over threads (4.7, the paper's CPU comparison). Sets H to 0, then
// H(k,x,y) = H(k,x-1,y) + H(k,x,y-1) - H(k,x-1,y-1) + Q(k,I(x,y)). Two passes. Reads 4, writes 2 per element. No
// workspace.

#include <areal/border.hpp>
#include <areal/view.hpp>
#include <functional>
#include "cpu/histogram/pixel_bins.hpp"

namespace areal::cpu {

/// One image (batch 1) into a planar tensor of 32u or 64u. `finished` is called after each bin, from any thread.
void recurrence(const PixelBins& rule, const ConstView& image, const View& tensor, Border border, int threads,
                const std::function<void()>& finished);

}  // namespace areal::cpu
