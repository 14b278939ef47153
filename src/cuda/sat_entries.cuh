#pragma once
#include "cuda/launcher.cuh"
#include "kernels/sat/entries.hpp"

namespace areal::cuda {

/// Instantiated a group at a time in sat-lanes.cu, and with squares in sat_squares-lanes.cu.
template <kernels::Group group>
kernels::SatEntry<Launcher> sat_entry_of(const kernels::TableRequest& request);
template <kernels::Group group>
kernels::SatEntry<Launcher> squares_entry_of(const kernels::TableRequest& request);

}  // namespace areal::cuda
