#pragma once
#include "kernels/sat/paper_entries.hpp"
#include "simt/launcher.hpp"

namespace areal::simt {

/// Instantiated a group at a time in papers-lanes.cpp.
template <kernels::Group group>
kernels::SatEntry<Launcher> paper_entry_of(const kernels::TableRequest& request);

}  // namespace areal::simt
