#include "cuda/query.hpp"

#include "cuda/launcher.cuh"
#include "kernels/query/registry.hpp"

namespace areal::cuda {

void answer(const kernels::RegionRequest& request, Stream stream) {
  Launcher launcher(static_cast<cudaStream_t>(stream.handle()));
  kernels::answer(launcher, request);
}

}  // namespace areal::cuda
