#include "api/sat/sat_device.hpp"

#include <areal/error.hpp>
#include <cstring>
#include <iterator>
#include "api/core/require.hpp"
#include "cuda/device.hpp"
#include "policy/sat_choice.hpp"
#include "simt/sat.hpp"

namespace areal {

void require_backend(Backend backend, int device) {
  if (backend == Backend::cuda)
    if (const std::string why_not = cuda::why_not(device); !why_not.empty())
      throw Unavailable("backend cuda: " + why_not);
  if (backend == Backend::simt) {
    if (!simt::built()) throw Unavailable("backend simt: this build has no simulated machine");
    if (device != 0) throw Unavailable(sentence("device ", device, " is not there: simt has one, 0"));
  }
}

void require_launches(const LaunchReport& on_launch, Backend backend) {
  require(!on_launch || backend == Backend::simt || backend == Backend::cuda, "on_launch: backend ", name_of(backend),
          " launches nothing; cuda and simt do");
}

void report(const std::vector<LaunchCounts>& launches, const LaunchReport& on_launch) {
  if (!on_launch) return;
  for (const LaunchCounts& launch : launches) on_launch(launch);
}

void require_stream(Stream stream) {
  require(stream.handle() != nullptr, "stream: work on cuda needs the CUDA stream that it may use");
}

DeviceSat::DeviceSat(const kernels::SatRequest& request, const Execution& execution, const LaunchReport& on_launch,
                     std::string id)
    : request_(request),
      backend_(execution.backend),
      device_(execution.device),
      id_(std::move(id)),
      on_launch_(on_launch) {
  require_backend(backend_, device_);
  const bool chosen = id_ == "auto" && !request_.squares;
  if (request_.squares)
    id_ = kernels::only_sat_with_squares;
  else if (chosen)
    id_ = kernels::best_sat(request_);
  if (backend_ == Backend::cuda) make_cuda(chosen);
  workspace_bytes_ = cuda_ ? cuda_->workspace_bytes() : simt::sat_workspace_bytes(id_, request_);
}

void DeviceSat::make_cuda(bool chosen) {
  const auto* next = std::begin(kernels::smaller_sats);
  for (;;) try {
      cuda_.emplace(id_, request_, device_);
      return;
    } catch (const Unavailable&) {  // less shared memory than where the choice was measured
      if (!chosen || next == std::end(kernels::smaller_sats)) throw;
      id_ = *next++;
      is_smaller_ = true;
    }
}

void DeviceSat::prepare(void* workspace, Stream stream) const {
  if (workspace_bytes_ == 0) return;
  if (backend_ == Backend::simt) {
    std::memset(workspace, 0, workspace_bytes_);
    return;
  }
  require_stream(stream);
  const cuda::DeviceScope scope(device_);
  cuda::clear(workspace, workspace_bytes_, stream);
}

void DeviceSat::execute(const SatArguments& arguments, void* workspace, Stream stream) const {
  if (backend_ == Backend::simt) {
    report(simt::sat(id_, request_, arguments, workspace), on_launch_);
    return;
  }
  require_stream(stream);
  const cuda::DeviceScope scope(device_);
  cuda_->execute(arguments, workspace, stream, on_launch_);
}

}  // namespace areal
