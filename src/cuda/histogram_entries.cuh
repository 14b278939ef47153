#pragma once
#include "cuda/launcher.cuh"
#include "kernels/histogram/registry.hpp"

namespace areal::cuda {

/// Instantiated a group at a time in histogram-types.cu.
template <kernels::Group group>
kernels::HistogramKernels<Launcher> histogram_entry_of(std::string_view id, Type counter);

}  // namespace areal::cuda
