#include "cuda/sat.hpp"

#include <areal/error.hpp>
#include <string>
#include "cuda/paper_entries.cuh"
#include "cuda/sat_entries.cuh"

namespace areal::cuda {
namespace {

kernels::SatKernels<Launcher> entry(const kernels::TableRequest& request) {
  const auto found = kernels::in_group(kernels::group_of_type(request.types.table), [&]<kernels::Group group>() {
    if (request.squares) return squares_entry_of<group>(request);
    const auto ours = sat_entry_of<group>(request);
    return ours.execute ? ours : paper_entry_of<group>(request);
  });
  if (!found.execute)
    throw Unavailable("algorithm " + std::string(request.id) + " has no CUDA kernel for types " +
                      name_of(request.types));
  return found;
}

}  // namespace

struct Sat::Schedule {
  Schedule(std::string_view name, const kernels::SatRequest& request) : id(name), tables(id, request, &entry) {}

  std::string id;  // which the tables refer to
  kernels::SatSchedule<Launcher> tables;
};

Sat::Sat(std::string_view id, const kernels::SatRequest& request, int device)
    : schedule_(std::make_shared<Schedule>(id, request)) {
  require_shared(device, schedule_->tables.shared_bytes(),
                 "algorithm " + schedule_->id + " for types " + name_of(request.types));
}

std::size_t Sat::workspace_bytes() const { return schedule_->tables.workspace_bytes(); }

void Sat::execute(const SatArguments& views, void* workspace, Stream stream, const LaunchReport& launched) const {
  Launcher launcher(static_cast<cudaStream_t>(stream.handle()), &launched);
  schedule_->tables.execute(launcher, views, workspace);
}

}  // namespace areal::cuda
