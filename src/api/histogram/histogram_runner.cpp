// A plan and its memory: integral histograms of host images, whatever the plan runs on.
#include <areal/histogram.hpp>
#include "api/core/runner.hpp"
#include "api/core/twin.hpp"

namespace areal {
namespace {

/// The memory that a runner takes on the device. Weights may be of any type that a plan takes.
Shape weights_shape(const HistogramPlan& plan) {
  const Shape& image = plan.image_shape();
  return {image.width, image.height, 1, image.batch};
}
constexpr Type widest_weight = Type::f64;

std::uint64_t device_bytes(const HistogramPlan& plan) {
  return bytes_of(plan.image_shape(), plan.image_type()) + plan.tensor_bytes() + plan.workspace_bytes() +
         (plan.options().weighted ? bytes_of(weights_shape(plan), widest_weight) : 0);
}

}  // namespace

struct HistogramRunner::Device {
  explicit Device(const HistogramPlan& plan)  // in a DeviceScope
      : image(plan.image_shape(), plan.image_type()),
        tensor(plan.tensor_shape(), plan.options().counter),
        workspace(plan.workspace_bytes()) {
    plan.prepare(workspace.data(), stream.get());
  }

  void execute(const HistogramPlan& plan, const HistogramArguments& host) {
    const Stream queue = stream.get();
    if (plan.options().weighted && (!weights.view().data || weights.view().type != host.weights.type))
      weights = Twin(weights_shape(plan), host.weights.type);
    image.copy_in(host.image, queue);
    weights.copy_in(host.weights, queue);
    plan.execute({image.view(), tensor.view(), weights.view()}, workspace.data(), queue);
    tensor.copy_out(host.tensor, queue);
    stream.synchronize();
    tensor.finish(host.tensor);
  }

  cuda::OwnedStream stream;
  Twin image, tensor, weights;
  cuda::Memory workspace;
};

HistogramRunner::HistogramRunner(HistogramPlan plan) : plan_(std::move(plan)) {
  device_ = memory_for<Device>(plan_, workspace_);
}

void HistogramRunner::execute(const HistogramArguments& arguments) { run(plan_, arguments, workspace_, device_.get()); }

Backend best_backend(const Shape& image, Type type, const Binning& binning, const HistogramOptions& options) {
  if (options.backend == Backend::automatic && options.progress) return Backend::cpu;  // which can be cancelled
  return backend_for("histogram", options, [&](const HistogramOptions& on_cuda) {
    return device_bytes(HistogramPlan(image, type, binning, on_cuda));
  });
}

Array integral_histogram(const ConstView& image, const Binning& binning, const HistogramOptions& options,
                         const ConstView& weights) {
  HistogramOptions asked = options;
  if (weights.data != nullptr) asked.weighted = true;
  asked.backend = best_backend(image.shape, image.type, binning, asked);
  const HistogramPlan plan(image.shape, image.type, binning, asked);
  plan.require_fit();
  Array tensor(plan.tensor_shape(), asked.counter);
  HistogramRunner(plan).execute({image, tensor.view(), weights});
  return tensor;
}

}  // namespace areal
