// The kernels of the family `sat`, instantiated for the type pairs of one group.
#include "simt/sat_entries.hpp"

namespace areal::simt {

template <>
kernels::SatKernels<Launcher> sat_entry_of<kernels::this_group>(const kernels::TableRequest& request) {
  return kernels::sat_entry_of<Launcher, kernels::this_group>(request);
}

}  // namespace areal::simt
