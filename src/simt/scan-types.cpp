// The algorithms of the family `scan`, instantiated for the type pairs of one group.
#include "simt/scan_entries.hpp"

namespace areal::simt {

template <>
kernels::ScanKernels<Launcher> scan_entry_of<kernels::this_group>(const kernels::ScanRequest& request) {
  return kernels::scan_entry_of<Launcher, kernels::this_group>(request);
}

}  // namespace areal::simt
