#pragma once
// convolution: Gaussians by sampled weights, two launches. What it takes.

#include <string>
#include "kernels/filter/gaussian/schedule.hpp"

namespace areal::kernels {

/// What the kernel needs, if it does not take the request.
inline std::string convolution_takes(const FilterRequest& request) { return gaussian_lines_take(request); }

}  // namespace areal::kernels
