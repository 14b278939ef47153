// The algorithms of the papers, instantiated for the type pairs of one group.
#include "simt/paper_entries.hpp"

namespace areal::simt {

template <>
kernels::SatKernels<Launcher> paper_entry_of<kernels::this_group>(const kernels::TableRequest& request) {
  return kernels::paper_entry_of<Launcher, kernels::this_group>(request);
}

}  // namespace areal::simt
