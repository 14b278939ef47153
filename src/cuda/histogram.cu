#include "cuda/histogram.hpp"

#include <areal/error.hpp>
#include <string>
#include "cuda/histogram_entries.cuh"
#include "cuda/histogram_paper_entries.cuh"

namespace areal::cuda {
namespace {

kernels::HistogramEntry<Launcher> entry(std::string_view id, Type counter) {
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

std::size_t histogram_workspace_bytes(std::string_view id, const kernels::HistogramRequest& request, int device) {
  const auto chosen = entry(id, request.counter);
  require_shared(device, chosen.shared_bytes,
                 "algorithm " + std::string(id) + " for counter " + std::string(name_of(request.counter)));
  return chosen.workspace_bytes(request);
}

void histogram(std::string_view id, const kernels::HistogramRequest& request, const ConstView& image,
               const ConstView& weights, const View& tensor, void* workspace, Stream stream,
               const LaunchReport& launched) {
  Launcher launcher(static_cast<cudaStream_t>(stream.handle()), &launched);
  entry(id, request.counter).execute(launcher, request, image, weights, tensor, workspace);
}

}  // namespace areal::cuda
