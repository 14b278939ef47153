#pragma once
#include "kernels/histogram/papers_registry.hpp"
#include "simt/launcher.hpp"

namespace areal::simt {

/// Instantiated a group at a time in histogram-papers-types.cpp.
template <kernels::Group group>
kernels::HistogramKernels<Launcher> histogram_paper_entry_of(std::string_view id, Type counter);

}  // namespace areal::simt
