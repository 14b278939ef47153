#pragma once
#include "kernels/scan/entries.hpp"
#include "simt/launcher.hpp"

namespace areal::simt {

/// Instantiated a group at a time in scan-lanes.cpp.
template <kernels::Group group>
kernels::ScanEntry<Launcher> scan_entry_of(const kernels::ScanRequest& request);

}  // namespace areal::simt
