#pragma once
#include "kernels/sat/registry.hpp"
#include "simt/launcher.hpp"

namespace areal::simt {

/// Instantiated a group at a time in sat-types.cpp, and with squares in sat_squares-types.cpp.
template <kernels::Group group>
kernels::SatKernels<Launcher> sat_entry_of(const kernels::TableRequest& request);
template <kernels::Group group>
kernels::SatKernels<Launcher> squares_entry_of(const kernels::TableRequest& request);

}  // namespace areal::simt
