#pragma once
// A HistogramPlan's request to a device: cuda, or simt.

#include <areal/research/histogram.hpp>
#include <string>
#include "cpu/histogram/pixel_bins.hpp"
#include "kernels/histogram/request.hpp"

namespace areal {

/// `id` names an algorithm of the catalogue. Arguments have been checked.
kernels::HistogramRequest histogram_request(const Shape& image, const cpu::PixelBins& rule,
                                            const HistogramOptions& options,
                                            const research::HistogramParameters& parameters, std::string id);

}  // namespace areal
