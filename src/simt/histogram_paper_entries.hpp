#pragma once
#include "kernels/histogram/paper_entries.hpp"
#include "simt/launcher.hpp"

namespace areal::simt {

/// Instantiated a group at a time in histogram-papers-lanes.cpp.
template <kernels::Group group>
kernels::HistogramEntry<Launcher> histogram_paper_entry_of(std::string_view id, Type counter);

}  // namespace areal::simt
