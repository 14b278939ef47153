#pragma once
#include "cuda/launcher.cuh"
#include "kernels/sat/registry.hpp"

namespace areal::cuda {

/// Instantiated a group at a time in sat-types.cu, and with squares in sat_squares-types.cu.
template <kernels::Group group>
kernels::SatKernels<Launcher> sat_entry_of(const kernels::TableRequest& request);
template <kernels::Group group>
kernels::SatKernels<Launcher> squares_entry_of(const kernels::TableRequest& request);

}  // namespace areal::cuda
