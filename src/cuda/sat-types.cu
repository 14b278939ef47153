// The kernels of the family `sat`, instantiated for the type pairs of one group.
#include "cuda/sat_entries.cuh"

namespace areal::cuda {

template <>
kernels::SatKernels<Launcher> sat_entry_of<kernels::this_group>(const kernels::TableRequest& request) {
  return kernels::sat_entry_of<Launcher, kernels::this_group>(request);
}

}  // namespace areal::cuda
