// The algorithms of the papers, instantiated for the lanes of one group.
#include "cuda/paper_entries.cuh"

namespace areal::cuda {

template <>
kernels::SatEntry<Launcher> paper_entry_of<kernels::this_group>(const kernels::TableRequest& request) {
  return kernels::paper_entry_of<Launcher, kernels::this_group>(request);
}

}  // namespace areal::cuda
