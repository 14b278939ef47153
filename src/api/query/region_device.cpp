#include "api/query/region_device.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include "api/core/device_plan.hpp"

namespace areal {

namespace {

/// A plan does not depend on the request, so one a device serves all queries: making it costs as much as a launch.
const kernels::AnyDevicePlan<kernels::Query>& query_plan(Backend backend, int device) {
  static std::mutex mutex;
  static std::map<std::pair<Backend, int>, std::unique_ptr<const kernels::AnyDevicePlan<kernels::Query>>> plans;
  const std::lock_guard lock(mutex);
  auto& plan = plans[{backend, device}];
  if (!plan) plan = device_plan<kernels::Query>(backend, device, {});
  return *plan;
}

}  // namespace

void answer(const Place& on, const kernels::RegionRequest& request) {
  query_plan(on.backend, on.device).execute(request, nullptr, on.stream, {});
}

}  // namespace areal
