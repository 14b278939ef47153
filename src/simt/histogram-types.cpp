// The kernels of the family `histogram`, instantiated for the counters of one group.
#include "simt/histogram_entries.hpp"

namespace areal::simt {

template <>
kernels::HistogramKernels<Launcher> histogram_entry_of<kernels::this_group>(std::string_view id, Type counter) {
  return kernels::histogram_entry_of<Launcher, kernels::this_group>(id, counter);
}

}  // namespace areal::simt
