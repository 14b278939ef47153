#pragma once
#include "cuda/launcher.cuh"
#include "kernels/scan/registry.hpp"

namespace areal::cuda {

/// Instantiated a group at a time in scan-types.cu.
template <kernels::Group group>
kernels::ScanKernels<Launcher> scan_entry_of(const kernels::ScanRequest& request);

}  // namespace areal::cuda
