#include "api/query/region_device.hpp"
#include "api/core/device_plan.hpp"

namespace areal {

void require_place(const Place& on) {
  require(on.backend == Backend::cuda || on.backend == Backend::simt, "backend ", name_of(on.backend),
          ": queries are queued on cuda or simt; for host memory there are those without a Place");
  require_backend(on.backend, on.device);
  if (on.backend == Backend::cuda) require_stream(on.stream);
}

void answer(const Place& on, const kernels::RegionRequest& request) {
  require_place(on);
  device_plan<kernels::Query>(on.backend, on.device, {})->execute(request, nullptr, on.stream, {});
}

}  // namespace areal
