#include "cuda/histogram.hpp"

#include <areal/error.hpp>
#include <string>
#include "cuda/histogram_entries.cuh"
#include "cuda/histogram_paper_entries.cuh"

namespace areal::cuda {
namespace {

kernels::HistogramKernels<Launcher> entry(std::string_view id, Type counter) {
  const auto found = kernels::in_group(kernels::group_of_type(counter), [&]<kernels::Group group>() {
    const auto ours = histogram_entry_of<group>(id, counter);
    return ours.execute ? ours : histogram_paper_entry_of<group>(id, counter);
  });
  if (!found.execute)
    throw Unavailable("algorithm " + std::string(id) + " has no CUDA kernel for counter " +
                      std::string(name_of(counter)));
  return found;
}

}  // namespace

struct Histogram::Kernels {
  kernels::HistogramKernels<Launcher> entry;
};

Histogram::Histogram(std::string_view id, Type counter, int device)
    : kernels_(std::make_shared<Kernels>(Kernels{entry(id, counter)})) {
  require_shared(device, kernels_->entry.shared_bytes,
                 "algorithm " + std::string(id) + " for counter " + std::string(name_of(counter)));
}

std::size_t Histogram::workspace_bytes(const kernels::HistogramRequest& request) const {
  return kernels_->entry.workspace_bytes(request);
}

void Histogram::execute(const kernels::HistogramRequest& request, const HistogramArguments& views, void* workspace,
                        Stream stream, const LaunchReport& launched) const {
  Launcher launcher(static_cast<cudaStream_t>(stream.handle()), &launched);
  kernels_->entry.execute(launcher, request, views.image, views.weights, views.tensor, workspace);
}

}  // namespace areal::cuda
