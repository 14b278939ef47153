#pragma once
#include "kernels/sat/entries.hpp"
#include "simt/launcher.hpp"

namespace areal::simt {

/// Instantiated a group at a time in sat-lanes.cpp, and with squares in sat_squares-lanes.cpp.
template <kernels::Group group>
kernels::SatEntry<Launcher> sat_entry_of(const kernels::TableRequest& request);
template <kernels::Group group>
kernels::SatEntry<Launcher> squares_entry_of(const kernels::TableRequest& request);

}  // namespace areal::simt
