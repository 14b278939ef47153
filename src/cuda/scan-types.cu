// The algorithms of the family `scan`, instantiated for the type pairs of one group.
#include "cuda/scan_entries.cuh"

namespace areal::cuda {

template <>
kernels::ScanKernels<Launcher> scan_entry_of<kernels::this_group>(const kernels::ScanRequest& request) {
  return kernels::scan_entry_of<Launcher, kernels::this_group>(request);
}

}  // namespace areal::cuda
