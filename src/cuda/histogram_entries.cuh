#pragma once
#include "cuda/launcher.cuh"
#include "kernels/histogram/entries.hpp"

namespace areal::cuda {

/// Instantiated a group at a time in histogram-lanes.cu.
template <kernels::Group group>
kernels::HistogramEntry<Launcher> histogram_entry_of(std::string_view id, Type counter);

}  // namespace areal::cuda
