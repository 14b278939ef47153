#pragma once
#include "kernels/sat/papers_registry.hpp"
#include "simt/launcher.hpp"

namespace areal::simt {

/// Instantiated a group at a time in papers-types.cpp.
template <kernels::Group group>
kernels::SatKernels<Launcher> paper_entry_of(const kernels::TableRequest& request);

}  // namespace areal::simt
