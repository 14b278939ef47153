#pragma once
#include "cuda/launcher.cuh"
#include "kernels/scan/entries.hpp"

namespace areal::cuda {

/// Instantiated a group at a time in scan-lanes.cu.
template <kernels::Group group>
kernels::ScanEntry<Launcher> scan_entry_of(const kernels::ScanRequest& request);

}  // namespace areal::cuda
