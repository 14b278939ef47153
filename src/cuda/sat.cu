#include "cuda/sat.hpp"

#include <areal/error.hpp>
#include <string>
#include "cuda/sat_entries.cuh"

namespace areal::cuda {
namespace {

kernels::SatEntry<Launcher> entry(std::string_view id, Lane lane) {
  const auto found = kernels::in_group(kernels::group_of_type(lane.table),
                                       [&]<kernels::Group group>() { return sat_entry_of<group>(id, lane); });
  if (!found.execute)
    throw Unavailable("algorithm " + std::string(id) + " has no CUDA kernel for lane " + name_of(lane));
  return found;
}

}  // namespace

std::size_t sat_workspace_bytes(std::string_view id, const kernels::SatRequest& request, int device) {
  const auto chosen = entry(id, request.lane);
  require_shared(device, chosen.shared_bytes, "algorithm " + std::string(id) + " for lane " + name_of(request.lane));
  return chosen.workspace_bytes(request);
}

void sat(std::string_view id, const kernels::SatRequest& request, const ConstView& image, const View& table,
         void* workspace, Stream stream) {
  Launcher launcher(static_cast<cudaStream_t>(stream.handle()));
  entry(id, request.lane).execute(launcher, request, image, table, workspace);
}

}  // namespace areal::cuda
