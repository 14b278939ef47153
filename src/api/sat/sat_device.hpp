#pragma once
// The part of a SatPlan that runs on a device: cuda, or simt.

#include <memory>
#include <string>
#include <string_view>
#include "api/core/device_plan.hpp"
#include "kernels/sat/request.hpp"

namespace areal {

struct DeviceSat {
  std::string algorithm;      ///< its id
  std::string why_not_first;  ///< why auto's first choice does not take this, if another one was taken
  std::shared_ptr<const kernels::AnyDevicePlan<kernels::Sat>> plan;
};

/// `id` may be auto, then the first in the policy's order that takes the request. Throws InvalidArgument for a named
/// algorithm that does not take it, Unavailable for a backend, a device or a kernel that is not there.
DeviceSat device_sat(const kernels::SatRequest& request, const Execution& execution, std::string_view id);

}  // namespace areal
