// A plan and its memory: tables of host images, whatever the plan runs on.
#include <areal/error.hpp>
#include <areal/sat.hpp>
#include <utility>
#include "api/twin.hpp"
#include "cuda/device.hpp"

namespace areal {
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
