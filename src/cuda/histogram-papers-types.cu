// The papers' integral histograms, instantiated for the counters of one group.
#include "cuda/histogram_paper_entries.cuh"

namespace areal::cuda {

template <>
kernels::HistogramKernels<Launcher> histogram_paper_entry_of<kernels::this_group>(std::string_view id, Type counter) {
  return kernels::histogram_paper_entry_of<Launcher, kernels::this_group>(id, counter);
}

}  // namespace areal::cuda
