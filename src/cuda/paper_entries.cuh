#pragma once
#include "cuda/launcher.cuh"
#include "kernels/sat/papers_registry.hpp"

namespace areal::cuda {

/// Instantiated a group at a time in papers-types.cu.
template <kernels::Group group>
kernels::SatKernels<Launcher> paper_entry_of(const kernels::TableRequest& request);

}  // namespace areal::cuda
