// Owned device memory, and its copies from and to the host.
#include <areal/array.hpp>
#include <areal/error.hpp>
#include "api/core/owned_view.hpp"
#include "api/core/plan_state.hpp"
#include "api/core/require.hpp"
#include "api/core/staging_buffer.hpp"
#include "api/core/view_check.hpp"
#include "cuda/device.hpp"

namespace areal {
namespace {

void require_cuda(const Execution& execution) {
  require(execution.backend == Backend::automatic || execution.backend == Backend::cuda, "backend ",
          name_of(execution.backend), ": a DeviceArray is memory of a CUDA device");
  Execution on_cuda = execution;
  on_cuda.backend = Backend::cuda;
  require_stream_of(on_cuda);
}

void require_device(int device) {
  if (const std::string why_not = cuda::why_not(device); !why_not.empty())
    throw Unavailable("device " + std::to_string(device) + ": " + why_not);
}

}  // namespace

DeviceArray::DeviceArray(const Shape& shape, Type type, int device)
    : shape_(shape), type_(type), bytes_(bytes_of(shape, type)), place_{MemoryPlace::cuda, device} {
  require_device(device);
  if (bytes_ == 0) return;
  const cuda::DeviceScope scope(device);
  const auto memory = std::make_shared<cuda::Memory>(bytes_);
  memory_ = {memory, memory->data()};
}

DeviceArray DeviceArray::copy_of(const ConstView& host, const Execution& execution) {
  require_cuda(execution);
  require(host.memory.is_host(), "view: memory of CUDA device ", host.memory.device, ", it must be host memory");
  check_shape("view", host.shape, host.type);
  check_view("view", host, host.shape, host.type);
  DeviceArray array(host.shape, host.type, execution.device);
  copy_between({}, array.place_, execution, [&](Stream stream) { copy_rows_in(array.memory_.get(), host, stream); });
  return array;
}

Array DeviceArray::to_host(const Execution& execution) const {
  require_cuda(execution);
  Array array(shape_, type_);
  if (bytes_ > 0)
    copy_between(place_, {}, execution,
                 [&](Stream stream) { cuda::copy_out(array.data(), memory_.get(), bytes_, stream); });
  return array;
}

}  // namespace areal
