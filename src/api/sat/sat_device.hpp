#pragma once
// The part of a SatPlan that runs on a device: cuda, or simt.

#include <memory>
#include <string>
#include <string_view>
#include "api/core/device_plan.hpp"
#include "kernels/sat/request.hpp"

namespace areal {

struct DeviceSat {
  std::string algorithm;    ///< its id
  bool is_smaller = false;  ///< it has smaller tiles than auto's first choice, for the device's shared memory
  std::shared_ptr<const kernels::AnyDevicePlan<kernels::Sat>> plan;
};

/// `id` may be auto; with squares it is always lookback. Throws Unavailable where the backend, the device or what the
/// options ask for is not there.
DeviceSat device_sat(const kernels::SatRequest& request, const Execution& execution, std::string_view id);

}  // namespace areal
