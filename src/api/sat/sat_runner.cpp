// A plan and its memory: tables of host images, whatever the plan runs on.
#include <areal/sat.hpp>
#include <utility>
#include "api/core/runner.hpp"
#include "api/core/twin.hpp"

namespace areal {

struct SatRunner::Device {
  explicit Device(const SatPlan& plan)  // in a DeviceScope
      : image(plan.image_shape(), plan.types().input),
        sum(plan.table_shape(), plan.types().table),
        workspace(plan.workspace_bytes()) {
    const SatOptions& options = plan.options();
    const Shape& shape = plan.image_shape();
    if (options.mask) mask = Twin({shape.width, shape.height, 1, shape.batch}, Type::u8);
    if (options.squares) squares = Twin(plan.table_shape(), *options.squares);
    if (options.tilted) tilted = Twin(plan.tilted_shape(), plan.types().table);
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

SatRunner::SatRunner(SatPlan plan) : plan_(std::move(plan)) { device_ = memory_for<Device>(plan_, workspace_); }

void SatRunner::execute(const SatArguments& arguments) { run(plan_, arguments, workspace_, device_.get()); }

Backend best_backend(const Shape& image, TypePair types, const SatOptions& options) {
  return backend_for("sat", options, [&](const SatOptions& on_cuda) {
    const SatPlan plan(image, types, on_cuda);
    const std::uint64_t mask = options.mask ? bytes_of(Shape{image.width, image.height, 1, image.batch}, Type::u8) : 0;
    return bytes_of(image, types.input) + mask + plan.table_bytes() + plan.workspace_bytes();
  });
}

}  // namespace areal
