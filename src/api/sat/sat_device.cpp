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

void require_launches(const LaunchReport& launched, Backend backend) {
  require(!launched || backend == Backend::simt || backend == Backend::cuda, "launched: backend ", name_of(backend),
          " launches nothing; cuda and simt do");
}

void report(const std::vector<LaunchCounts>& launches, const LaunchReport& launched) {
  if (!launched) return;
  for (const LaunchCounts& launch : launches) launched(launch);
}

void require_stream(Stream stream) {
  require(stream.handle() != nullptr, "stream: work on cuda needs the CUDA stream that it may use");
}

DeviceSat::DeviceSat(const Shape& image, TypePair types, const SatOptions& options, std::string id)
    : request_{image,          types,        options.border,     options.squares,
               options.tilted, options.mask, options.ignore_nan, options.volume,
               options.r,      options.scan},
      backend_(options.backend),
      device_(options.device),
      id_(std::move(id)),
      launched_(options.launched) {
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
    report(simt::sat(id_, request_, arguments, workspace), launched_);
    return;
  }
  require_stream(stream);
  const cuda::DeviceScope scope(device_);
  cuda_->execute(arguments, workspace, stream, launched_);
}

}  // namespace areal
