#include "api/sat/sat_device.hpp"

#include <algorithm>
#include <areal/error.hpp>
#include <string_view>
#include <vector>
#include "policy/sat_choice.hpp"

namespace areal {

namespace {

/// The algorithms to try, in this order.
std::vector<std::string_view> candidates(const kernels::SatRequest& request, std::string_view id, Backend backend) {
  if (id != "auto") return {id};
  if (request.squares) return {policy::only_sat_with_squares};
  std::vector<std::string_view> ids{policy::best_sat(request.image, request.types, request.border)};
  const auto add = [&](std::string_view other) {
    if (std::find(ids.begin(), ids.end(), other) == ids.end()) ids.push_back(other);
  };
  add(policy::tiles_sat(request.image, request.types));
  if (backend == Backend::cuda)
    for (const std::string_view smaller : policy::smaller_sats) add(smaller);
  return ids;
}

}  // namespace

DeviceSat device_sat(const kernels::SatRequest& asked, const Execution& execution, std::string_view id) {
  kernels::SatRequest request = asked;
  require_backend(execution.backend, execution.device);
  const std::vector<std::string_view> ids = candidates(request, id, execution.backend);
  std::string why_not;
  for (std::size_t i = 0;; ++i) try {
      request.id = std::string(ids[i]);
      return {request.id, why_not, device_plan<kernels::Sat>(execution.backend, execution.device, request)};
    } catch (const Unavailable& error) {  // it does not take this, or needs more shared memory than the device has
      if (i + 1 == ids.size()) throw;
      if (why_not.empty()) why_not = error.what();
    }
}

}  // namespace areal
