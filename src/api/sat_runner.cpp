// A plan and its memory: tables of host images, whatever the plan runs on.
#include <areal/error.hpp>
#include <areal/sat.hpp>
#include <cstring>
#include <optional>
#include "api/require.hpp"
#include "api/sat_device.hpp"
#include "cuda/device.hpp"

namespace areal {
namespace {

/// A contiguous view of the same elements.
template <class V>
bool is_contiguous(const V& view) {
  const V flat(view.data, view.type, view.shape);
  return view.row_pitch == flat.row_pitch && view.plane_pitch == flat.plane_pitch &&
         view.batch_pitch == flat.batch_pitch;
}

void copy_rows(const ConstView& from, const View& to) {
  const Shape& shape = from.shape;
  const std::int64_t planes = shape.layout == Layout::planar ? shape.channels : 1;
  const auto bytes = static_cast<std::size_t>(shape.width * from.column_pitch());
  if (bytes == 0) return;
  for (std::int64_t n = 0; n < shape.batch; ++n)
    for (std::int64_t c = 0; c < planes; ++c)
      for (std::int64_t y = 0; y < shape.height; ++y) std::memcpy(to.row(y, c, n), from.row(y, c, n), bytes);
}

}  // namespace

struct SatRunner::Device {
  explicit Device(const SatPlan& plan)  // in a DeviceScope
      : image(bytes_of(plan.image_shape(), plan.lane().input)),
        sum(bytes_of(plan.table_shape(), plan.lane().table)),
        workspace(plan.workspace_bytes()) {
    plan.prepare(workspace.data(), stream.get());
  }
  cuda::OwnedStream stream;
  cuda::Memory image, sum, workspace;
};

SatRunner::SatRunner(SatPlan plan) : plan_(std::move(plan)) {
  if (plan_.backend() == Backend::cuda) {
    const cuda::DeviceScope scope(plan_.options().device);
    device_ = std::make_shared<Device>(plan_);
  } else {
    workspace_ = Array(Shape{static_cast<std::int64_t>(plan_.workspace_bytes()), 1}, Type::u8);
    plan_.prepare(workspace_.data());
  }
}

void SatRunner::execute(const SatArguments& arguments) {
  if (!device_) {
    plan_.execute(arguments, workspace_.data());
    return;
  }
  plan_.check(arguments);
  const cuda::DeviceScope scope(plan_.options().device);
  const Stream stream = device_->stream.get();
  ConstView image = arguments.image;
  Array flat;
  if (!is_contiguous(image)) {
    flat = Array(image.shape, image.type);
    copy_rows(image, flat.view());
    image = flat.view();
  }
  cuda::copy_in(device_->image.data(), image.data, bytes_of(image.shape, image.type), stream);
  const View sum(device_->sum.data(), arguments.sum.type, arguments.sum.shape);
  plan_.execute({ConstView(device_->image.data(), image.type, image.shape), sum}, device_->workspace.data(), stream);
  const std::size_t bytes = bytes_of(sum.shape, sum.type);
  if (is_contiguous(arguments.sum)) {
    cuda::copy_out(arguments.sum.data, sum.data, bytes, stream);
    device_->stream.synchronize();
    return;
  }
  Array back(sum.shape, sum.type);
  cuda::copy_out(back.data(), sum.data, bytes, stream);
  device_->stream.synchronize();
  copy_rows(back.view(), arguments.sum);
}

}  // namespace areal
