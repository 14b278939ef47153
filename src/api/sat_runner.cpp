// A plan and its memory: tables of host images, whatever the plan runs on.
#include <areal/error.hpp>
#include <areal/sat.hpp>
#include <cstring>
#include <optional>
#include <utility>
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

/// A contiguous copy on the device of a view on the host. Without memory where the view is not asked for.
class Twin {
 public:
  Twin() = default;
  Twin(const Shape& shape, Type type)
      : memory_(std::in_place, bytes_of(shape, type)), view_(memory_->data(), type, shape) {}

  const View& view() const { return view_; }

  void copy_in(const ConstView& host, Stream stream) {
    if (!memory_) return;
    if (is_contiguous(host)) return cuda::copy_in(view_.data, host.data, bytes(), stream);
    staged_ = Array(host.shape, host.type);
    copy_rows(host, staged_.view());
    cuda::copy_in(view_.data, staged_.data(), bytes(), stream);
  }
  void copy_out(const View& host, Stream stream) {
    if (!memory_) return;
    staged_ = is_contiguous(host) ? Array() : Array(host.shape, host.type);
    cuda::copy_out(is_contiguous(host) ? host.data : staged_.data(), view_.data, bytes(), stream);
  }
  /// Once the stream has done what was queued.
  void finish(const View& host) {
    if (memory_ && !is_contiguous(host)) copy_rows(staged_.view(), host);
    staged_ = Array();
  }

 private:
  std::size_t bytes() const { return bytes_of(view_.shape, view_.type); }

  std::optional<cuda::Memory> memory_;
  View view_;
  Array staged_;
};

}  // namespace

struct SatRunner::Device {
  explicit Device(const SatPlan& plan)  // in a DeviceScope
      : image(plan.image_shape(), plan.lane().input),
        sum(plan.table_shape(), plan.lane().table),
        workspace(plan.workspace_bytes()) {
    const SatOptions& options = plan.options();
    const Shape& shape = plan.image_shape();
    if (options.mask) mask = Twin({shape.width, shape.height, 1, shape.batch}, Type::u8);
    if (options.squares) squares = Twin(plan.table_shape(), *options.squares);
    if (options.tilted) tilted = Twin(plan.tilted_shape(), plan.lane().table);
    if (options.mask || options.ignore_nan) count = Twin(plan.count_shape(), Type::u32);
    plan.prepare(workspace.data(), stream.get());
  }

  void execute(const SatPlan& plan, const SatArguments& host) {
    const Stream queue = stream.get();
    image.copy_in(host.image, queue);
    mask.copy_in(host.mask, queue);
    plan.execute({image.view(), sum.view(), mask.view(), squares.view(), tilted.view(), count.view()}, workspace.data(),
                 queue);
    const std::pair<Twin*, const View*> tables[] = {
        {&sum, &host.sum}, {&squares, &host.squares}, {&tilted, &host.tilted}, {&count, &host.count}};
    for (const auto& [table, view] : tables) table->copy_out(*view, queue);
    stream.synchronize();
    for (const auto& [table, view] : tables) table->finish(*view);
  }

  cuda::OwnedStream stream;
  Twin image, mask, sum, squares, tilted, count;
  cuda::Memory workspace;
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
  device_->execute(plan_, arguments);
}

}  // namespace areal
