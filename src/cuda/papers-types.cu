// The algorithms of the papers, instantiated for the type pairs of one group.
#include "cuda/paper_entries.cuh"

namespace areal::cuda {

template <>
kernels::SatKernels<Launcher> paper_entry_of<kernels::this_group>(const kernels::TableRequest& request) {
  return kernels::paper_entry_of<Launcher, kernels::this_group>(request);
}

}  // namespace areal::cuda
