#include "cuda/sat.hpp"

#include <areal/error.hpp>
#include <string>
#include "cuda/sat_entries.cuh"

namespace areal::cuda {
namespace {

kernels::SatEntry<Launcher> entry(const kernels::TableRequest& request) {
  const auto found = kernels::in_group(kernels::group_of_type(request.lane.table), [&]<kernels::Group group>() {
    return request.squares ? squares_entry_of<group>(request) : sat_entry_of<group>(request);
  });
  if (!found.execute)
    throw Unavailable("algorithm " + std::string(request.id) + " has no CUDA kernel for lane " + name_of(request.lane));
  return found;
}

kernels::SatSchedule<Launcher> schedule(std::string_view id, const kernels::SatRequest& request) {
  return {id, request, &entry};
}

}  // namespace

std::size_t sat_workspace_bytes(std::string_view id, const kernels::SatRequest& request, int device) {
  const auto chosen = schedule(id, request);
  require_shared(device, chosen.shared_bytes(), "algorithm " + std::string(id) + " for lane " + name_of(request.lane));
  return chosen.workspace_bytes();
}

void sat(std::string_view id, const kernels::SatRequest& request, const SatArguments& views, void* workspace,
         Stream stream) {
  Launcher launcher(static_cast<cudaStream_t>(stream.handle()));
  schedule(id, request).execute(launcher, views, workspace);
}

}  // namespace areal::cuda
