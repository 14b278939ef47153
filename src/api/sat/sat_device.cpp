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
  std::vector<std::string_view> ids{policy::best_sat(request.image, request.types, request.border)};
  if (backend == Backend::cuda)
    for (const std::string_view smaller : policy::smaller_sats)
      if (smaller != ids.front()) ids.push_back(smaller);
  return ids;
}

}  // namespace

DeviceSat device_sat(const kernels::SatRequest& asked, const Execution& execution, std::string_view id) {
  kernels::SatRequest request = asked;
  require_backend(execution.backend, execution.device);
  const std::vector<std::string_view> ids = candidates(request, id, execution.backend);
  for (std::size_t i = 0;; ++i) try {
      request.id = std::string(ids[i]);
      return {request.id, i > 0, device_plan<kernels::Sat>(execution.backend, execution.device, request)};
    } catch (const Unavailable&) {  // less shared memory than where the choice was measured
      if (i + 1 == ids.size()) throw;
    }
}

}  // namespace areal
