#include "cuda/scan.hpp"

#include <areal/error.hpp>
#include <string>
#include "cuda/scan_entries.cuh"

namespace areal::cuda {
namespace {

kernels::ScanKernels<Launcher> entry(const kernels::ScanRequest& request) {
  const auto found = kernels::in_group(kernels::group_of_type(request.types.table),
                                       [&]<kernels::Group group>() { return scan_entry_of<group>(request); });
  if (!found.execute)
    throw Unavailable("scan " + std::string(request.id) + " has no CUDA kernel for types " + name_of(request.types));
  return found;
}

}  // namespace

std::size_t scan_workspace_bytes(const kernels::ScanRequest& request) {
  return entry(request).workspace_bytes(request);
}

void scan(const kernels::ScanRequest& request, const ConstView& line, const View& sums, void* workspace, Stream stream,
          const LaunchReport& launched) {
  Launcher launcher(static_cast<cudaStream_t>(stream.handle()), &launched);
  entry(request).execute(launcher, request, line, sums, workspace);
}

}  // namespace areal::cuda
