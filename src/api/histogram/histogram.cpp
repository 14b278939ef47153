// Integral histograms: the checks and steps of an execute; the one-line form.
#include <areal/catalog.hpp>
#include <areal/error.hpp>
#include <mutex>
#include "api/core/execute.hpp"
#include "api/core/pixel_rule.hpp"
#include "api/core/require.hpp"
#include "api/core/view_check.hpp"
#include "api/histogram/histogram_plan.hpp"
#include "cpu/histogram/recurrence.hpp"

namespace areal {
namespace {

/// All views in one struct, for the copies of those in host memory.
struct FlatArguments {
  ConstView image, weights, above, left;
  View tensor;

  explicit FlatArguments(const HistogramArguments& a)
      : image(a.image), weights(a.weights), above(a.carry.above), left(a.carry.left), tensor(a.tensor) {}
  HistogramArguments arguments() const { return {image, tensor, weights, {above, left}}; }
};
constexpr ArgumentViews<FlatArguments, 4, 1> histogram_views{{{{"image", &FlatArguments::image},
                                                               {"weights", &FlatArguments::weights},
                                                               {"carry.above", &FlatArguments::above},
                                                               {"carry.left", &FlatArguments::left}}},
                                                             {{{"tensor", &FlatArguments::tensor}}}};

void check_carry(const Carry& carry, const HistogramArguments& arguments, const Algorithm& algorithm) {
  if (carry.empty()) return;
  require(!algorithm.plain_only, "algorithm ", algorithm.id,
          " takes no carry of a larger tensor; for one choose auto, fused (cpu) or reduce-then-scan (cuda, simt)");
  const View& tensor = arguments.tensor;
  Shape above = tensor.shape, left = tensor.shape;
  above.width += 1, above.height = 1, left.width = 1;
  if (carry.above.data != nullptr) check_view("carry.above", carry.above, above, tensor.type);
  if (carry.left.data != nullptr) check_view("carry.left", carry.left, left, tensor.type);
  require(!may_overlap(tensor, carry.above), "carry.above and the tensor share memory");
  require(!may_overlap(tensor, carry.left), "carry.left and the tensor share memory");
}

// Reports each finished piece of work to the callback, one thread at a time.
class Reporter {
 public:
  Reporter(const Progress& progress, std::int64_t total) : progress_(progress), total_(total) {}
  void finished() {
    if (!progress_) return;
    const std::scoped_lock lock(mutex_);
    // After a stop, threads that are still running do not call it again.
    stopped_ = stopped_ || !progress_(++done_, total_);
    if (stopped_) throw Cancelled("the integral histogram was cancelled");
  }

 private:
  const Progress& progress_;
  std::mutex mutex_;
  std::int64_t done_ = 0;
  const std::int64_t total_;
  bool stopped_ = false;
};

}  // namespace

void HistogramPlan::State::prepare(void* memory, Stream stream) const {
  if (device) device->prepare(memory, stream);
}

std::string_view HistogramPlan::State::run(const HistogramArguments& arguments, void* memory, Stream stream) const {
  if (tensor.empty()) return algorithm;
  if (device) return device->execute(arguments, memory, stream, on_launch);
  Reporter reporter(options.progress, fused ? fused->tiles() : tensor.channels);
  const auto finished = [&] { reporter.finished(); };
  if (fused)
    cpu::run_fused(*fused, rule, arguments.image, arguments.weights, arguments.tensor, arguments.carry, memory,
                   finished);
  else
    cpu::recurrence(rule, arguments.image, arguments.tensor, options.border,
                    algorithm == "serial" ? 1 : execution.threads, finished);
  return algorithm;
}

void HistogramPlan::check(const HistogramArguments& arguments) const {
  const State& s = state();
  check_view("image", arguments.image, s.image, s.type);
  check_view("tensor", arguments.tensor, s.tensor, s.options.counter);
  if (s.options.weighted)
    check_weights(arguments.weights, s.image);
  else
    require(arguments.weights.data == nullptr, "weights were given, but the plan was not made for them");
  check_carry(arguments.carry, arguments, *find_algorithm("histogram", s.algorithm));
  require_memories(*this, histogram_views, FlatArguments(arguments), true);
  require(!may_overlap(arguments.tensor, arguments.image), "the image and the tensor share memory");
  require(!may_overlap(arguments.tensor, arguments.weights), "the weights and the tensor share memory");
  if (s.device)
    s.device->check([&] { return placed(s.execution, histogram_views, FlatArguments(arguments)).arguments(); });
}

void HistogramPlan::execute(const HistogramArguments& arguments, Workspace& workspace) const {
  const State& s = state();
  Workspace::State& w = require_workspace(s, workspace);
  check(arguments);
  const FlatArguments flat(arguments);
  if (w.borrowed) require_memories(*this, histogram_views, flat, false);
  execute_in(w, histogram_views, flat, [&](const FlatArguments& there, void* memory, Stream stream) {
    w.ran = s.run(there.arguments(), memory, stream);
  });
}

void HistogramPlan::execute(const ConstView& image, HistogramTensor& into, Workspace& workspace,
                            const ConstView& weights) const {
  const State& s = state();
  require(into.border() == s.options.border, "into: a tensor of border `", name_of(into.border()),
          "`, this plan computes border `", name_of(s.options.border), "`");
  require(into.image_shape() == s.image,
          "into: a tensor of another shape of images than this plan's; HistogramPlan::allocate makes one for it");
  execute({image, into.tensor(), weights}, workspace);
}

HistogramTensor HistogramPlan::allocate(std::optional<MemoryPlace> memory) const {
  const State& s = state();
  const MemoryPlace place = memory.value_or(s.memory());
  if (place.is_host()) require_fit();
  return HistogramTensor(std::make_unique<HistogramTensor::State>(HistogramTensor::State{
      s.image, s.binning, s.options.border, place, OwnedView(s.tensor, s.options.counter, place)}));
}

HistogramTensor integral_histogram(const ConstView& image, const Binning& binning, const HistogramOptions& options,
                                   const Execution& execution, const ConstView& weights) {
  HistogramOptions requested = options;
  if (weights.data != nullptr) requested.weighted = true;
  const HistogramPlan plan(image.shape, image.type, binning, requested, execution_of(image, execution));
  require_memory("image", image.memory, plan, true);
  HistogramTensor tensor = plan.allocate(image.memory);
  Workspace workspace(plan);
  plan.execute(image, tensor, workspace, weights);
  workspace.wait();
  return tensor;
}

}  // namespace areal
