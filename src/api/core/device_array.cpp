// Owned device memory, and its copies from and to the host.
#include <areal/array.hpp>
#include <areal/error.hpp>
#include "api/core/copy_rows.hpp"
#include "api/core/device_memory.hpp"
#include "api/core/memory.hpp"
#include "api/core/owned_view.hpp"
#include "api/core/plan_state.hpp"
#include "api/core/require.hpp"
#include "api/core/staging_buffer.hpp"
#include "api/core/view_check.hpp"
#include "cuda/device.hpp"

namespace areal {
namespace {

void require_stream(Execution execution) {
  if (execution.backend == Backend::automatic) execution.backend = Backend::cuda;
  require_stream_of(execution);
}

}  // namespace

DeviceArray::DeviceArray(const Shape& shape, Type type, int device)
    : DeviceArray(shape, type, Execution{.backend = Backend::cuda, .device = device}) {}

DeviceArray::DeviceArray(const Shape& shape, Type type, const Execution& on)
    : shape_(shape), type_(type), bytes_(bytes_of(shape, type)), place_(memory_of(on)) {
  memory_ = Memory(shape, type, place_).share();
}

DeviceArray DeviceArray::copy_of(const ConstView& host, const Execution& execution) {
  require_stream(execution);
  require(host.memory.is_host(), "view: memory of CUDA device ", host.memory.device, ", it must be host memory");
  check_shape("view", host.shape, host.type);
  check_view("view", host, host.shape, host.type);
  DeviceArray array(host.shape, host.type, execution);
  copy_between({}, array.place_, execution, [&](Stream stream) {
    if (array.place_.is_host())
      copy_rows(host, array.view());
    else
      copy_rows_in(array.memory_.get(), host, stream);
  });
  return array;
}

Array DeviceArray::to_host(const Execution& execution) const {
  require_stream(execution);
  Array array(shape_, type_);
  if (bytes_ > 0)
    copy_between(place_, {}, execution, [&](Stream stream) {
      if (place_.is_host())
        copy_rows(view(), array.view());
      else
        cuda::copy_out(array.data(), memory_.get(), bytes_, stream);
    });
  return array;
}

}  // namespace areal
