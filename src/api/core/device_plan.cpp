#include "api/core/device_plan.hpp"

#include <areal/error.hpp>
#include <string>
#include "api/core/require.hpp"
#include "cuda/device.hpp"

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

}  // namespace areal
