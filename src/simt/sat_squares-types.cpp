// The kernels of sums with squares, instantiated for the type pairs of one group.
#include "simt/sat_entries.hpp"

namespace areal::simt {

template <>
kernels::SatKernels<Launcher> squares_entry_of<kernels::this_group>(const kernels::TableRequest& request) {
  return kernels::squares_entry_of<Launcher, kernels::this_group>(request);
}

}  // namespace areal::simt
