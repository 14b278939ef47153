#include "api/query/region_device.hpp"
#include "cuda/device.hpp"
#include "cuda/query.hpp"
#include "simt/query.hpp"

namespace areal {

void answer(const Place& on, const kernels::RegionRequest& request) {
  if (on.backend == Backend::simt) {
    simt::answer(request);
    return;
  }
  const cuda::DeviceScope scope(on.device);
  cuda::answer(request, on.stream);
}

}  // namespace areal
