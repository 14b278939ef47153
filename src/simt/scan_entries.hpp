#pragma once
#include "kernels/scan/registry.hpp"
#include "simt/launcher.hpp"

namespace areal::simt {

/// Instantiated a group at a time in scan-types.cpp.
template <kernels::Group group>
kernels::ScanKernels<Launcher> scan_entry_of(const kernels::ScanRequest& request);

}  // namespace areal::simt
