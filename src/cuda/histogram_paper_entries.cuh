#pragma once
#include "cuda/launcher.cuh"
#include "kernels/histogram/paper_entries.hpp"

namespace areal::cuda {

/// Instantiated a group at a time in histogram-papers-lanes.cu.
template <kernels::Group group>
kernels::HistogramEntry<Launcher> histogram_paper_entry_of(std::string_view id, Type counter);

}  // namespace areal::cuda
