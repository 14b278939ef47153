// The kernels of sums with squares, instantiated for the lanes of one group.
#include "cuda/sat_entries.cuh"

namespace areal::cuda {

template <>
kernels::SatEntry<Launcher> squares_entry_of<kernels::this_group>(const kernels::TableRequest& request) {
  return kernels::squares_entry_of<Launcher, kernels::this_group>(request);
}

}  // namespace areal::cuda
