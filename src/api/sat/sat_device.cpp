#include "api/sat/sat_device.hpp"

#include <areal/error.hpp>
#include <string_view>
#include <vector>
#include "policy/sat_choice.hpp"

namespace areal {

namespace {

/// The algorithms to try, in this order.
std::vector<std::string_view> candidates(const kernels::SatRequest& request, std::string_view id, Backend backend) {
  if (request.squares) return {policy::only_sat_with_squares};
  if (id != "auto") return {id};
  std::vector<std::string_view> ids{policy::best_sat(request.image, request.types)};
  if (backend == Backend::cuda)
    for (const std::string_view smaller : policy::smaller_sats)
      if (smaller != ids.front()) ids.push_back(smaller);
  return ids;
}

}  // namespace

DeviceSat::DeviceSat(const kernels::SatRequest& asked, const Execution& execution, const LaunchReport& on_launch,
                     std::string id)
    : backend_(execution.backend), on_launch_(on_launch) {
  kernels::SatRequest request = asked;
  require_backend(backend_, execution.device);
  const std::vector<std::string_view> ids = candidates(request, id, backend_);
  for (std::size_t i = 0;; ++i) try {
      request.id = std::string(ids[i]);
      plan_ = device_plan<kernels::Sat>(backend_, execution.device, request);
      id_ = request.id;
      is_smaller_ = i > 0;
      return;
    } catch (const Unavailable&) {  // less shared memory than where the choice was measured
      if (i + 1 == ids.size()) throw;
    }
}

void DeviceSat::prepare(void* workspace, Stream stream) const {
  if (workspace_bytes() == 0) return;
  if (backend_ == Backend::cuda) require_stream(stream);
  plan_->prepare(workspace, stream);
}

void DeviceSat::execute(const SatArguments& arguments, void* workspace, Stream stream) const {
  if (backend_ == Backend::cuda) require_stream(stream);
  plan_->execute(arguments, workspace, stream, on_launch_);
}

}  // namespace areal
