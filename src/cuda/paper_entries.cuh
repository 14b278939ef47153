#pragma once
#include "cuda/launcher.cuh"
#include "kernels/sat/paper_entries.hpp"

namespace areal::cuda {

/// Instantiated a group at a time in papers-lanes.cu.
template <kernels::Group group>
kernels::SatEntry<Launcher> paper_entry_of(const kernels::TableRequest& request);

}  // namespace areal::cuda
