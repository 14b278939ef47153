#include "pieces/core/tensor_work.hpp"
#include <algorithm>
#include <utility>
#include "api/core/planned.hpp"
#include "api/core/require.hpp"

namespace areal::pieces {
namespace {

class TensorStep final : public Step {
 public:
  TensorStep(HistogramPlan plan, Stream stream) : planned_(std::move(plan), stream) {}

  void execute(const Views& views) override {
    HistogramArguments arguments{views.inputs[0], views.outputs[0], {}, views.carries[0]};
    if (views.inputs.size() > 1) arguments.weights = views.inputs[1];
    planned_.plan.execute(arguments, planned_.workspace);
  }

 private:
  Planned<HistogramPlan> planned_;
};

}  // namespace

void require_weights(const HistogramOptions& options, Type weights) {
  require(
      !options.weighted || weights == Type::u8 || weights == Type::u16 || weights == Type::f32 || weights == Type::f64,
      "weights of ", name_of(weights), ": they may be 8u, 16u, 32f or 64f");
}

TensorWork::TensorWork(const TensorSubject& subject, const Binning& bins, const Execution& execution)
    : subject_(subject), bins_(bins) {
  const Shape& image = subject.image;
  execution_ = execution;
  execution_ = plan_of(image.width, std::min<std::int64_t>(image.height, 16)).execution();
  form_.usual_bytes = std::uint64_t{256} << 20;  // to read an image again takes longer
  form_.carried = form_.downloads = subject.options.carries;
  form_.margin = subject.options.border == Border::zero ? 1 : 0;
  form_.carry_lead = 1;  // a tensor's carry has one entry more than its rows, the border's included
  form_.inputs.push_back({subject.type, image.channels, image.layout});
  if (subject.options.weighted) form_.inputs.push_back({subject.weights, 1, Layout::interleaved});
  form_.outputs.push_back({subject.options.counter, bins.bins(), Layout::planar});
}

HistogramPlan TensorWork::plan_of(std::int64_t width, std::int64_t height) const {
  const Shape& image = subject_.image;
  return HistogramPlan({width, height, image.channels, 1, image.layout}, subject_.type, bins_, subject_.options,
                       execution_);
}
std::size_t TensorWork::workspace_bytes(std::int64_t width, std::int64_t height) const {
  return plan_of(width, height).workspace_bytes();
}
std::unique_ptr<Step> TensorWork::plan(std::int64_t width, std::int64_t height, Stream stream) const {
  return std::make_unique<TensorStep>(plan_of(width, height), stream);
}

}  // namespace areal::pieces
