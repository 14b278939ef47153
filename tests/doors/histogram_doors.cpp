// Doors of integral histograms that one plan computes.

#include <areal/histogram.hpp>
#include <areal/research/histogram.hpp>

#include "door.hpp"
#include "histograms.hpp"
#include "run.hpp"
#include "tables.hpp"

namespace doors {
namespace {

areal::HistogramOptions watched_options(const Question& q) {
  areal::HistogramOptions options = histogram_options(q);
  options.progress = q.progress();
  return options;
}

std::shared_ptr<Room> room_for(const areal::HistogramPlan& plan, const Question& q, std::byte fill = poison) {
  return std::make_shared<Room>(plan.tensor_shape(), plan.options().counter, lie_of_outputs(q), place_of(q), fill);
}

Json execute_twice(const Question& q, const areal::HistogramPlan& plan) {
  HistogramInputs inputs(q);
  auto first = room_for(plan, q, other_poison), second = room_for(plan, q);
  GuardedWorkspace workspace(plan, q);
  const areal::HistogramArguments into_first{inputs.image_view(), first->view(), inputs.weights_view()};
  plan.check(into_first);
  plan.execute(into_first, workspace.get());
  const areal::HistogramPlan copy = plan;  // which is the same plan
  copy.execute({inputs.image_view(), second->view(), inputs.weights_view()}, workspace.get());
  workspace.finish();
  inputs.expect_unchanged();
  expect_equal(first->take("the tensor"), second->take("the tensor"), "two executes with one workspace");
  Tensor tensor = tensor_in(second, plan.options().border);
  tensor.ran = plan.algorithm();
  return respond(q, tensor);
}

Json direct(const Question& q) {
  const Running running(q);
  const Elements image = image_elements(q);
  return execute_twice(
      q, areal::HistogramPlan(image.shape, image.type, binning_of(q), watched_options(q), running.execution()));
}
Json on_cpu(const Question& q) { return direct(q.with("backend", "cpu")); }
Json on_simt(const Question& q) { return direct(q.with("backend", "simt")); }
Json on_cuda(const Question& q) { return direct(q.with("backend", "cuda")); }

Json research(const Question& q) {
  const Running running(q);
  const Elements image = image_elements(q);
  areal::research::HistogramParameters parameters;
  if (q.has_param("kernel_tile")) parameters.tile = static_cast<int>(q.number("kernel_tile"));
  parameters.tile_threads = static_cast<int>(q.number("kernel_threads"));
  return execute_twice(q, areal::research::histogram_plan(image.shape, image.type, binning_of(q), watched_options(q),
                                                          parameters, running.execution()));
}

/// Into the tensor that the plan allocates.
Json allocated(const Question& q) {
  const Running running(q);
  HistogramInputs inputs(q);
  const areal::ConstView image = inputs.image_view();
  const areal::HistogramPlan plan(image.shape, image.type, binning_of(q), watched_options(q), running.execution());
  plan.require_fit();
  auto tensor = std::make_shared<areal::HistogramTensor>(plan.allocate(place_of(q)));
  areal::Workspace workspace(plan);
  plan.execute(image, *tensor, workspace, inputs.weights_view());
  workspace.wait();
  inputs.expect_unchanged();
  Tensor made = tensor_of(tensor);
  made.ran = plan.algorithm();
  return respond(q, made);
}

areal::HistogramTensor one_line_tensor(const Question& q, const areal::HistogramOptions& options) {
  HistogramInputs inputs(q);
  areal::HistogramTensor tensor =
      areal::integral_histogram(inputs.image_view(), binning_of(q), options, execution_of(q), inputs.weights_view());
  inputs.expect_unchanged();
  return tensor;
}

Json one_line(const Question& q) {
  return respond(q, tensor_of(std::make_shared<areal::HistogramTensor>(one_line_tensor(q, watched_options(q)))));
}

/// Computed in one border, converted to the other.
Json with_border(const Question& q) {
  areal::HistogramOptions options = histogram_options(q);
  const areal::Border wanted = options.border;
  options.border = wanted == areal::Border::none ? areal::Border::zero : areal::Border::none;
  if (q.has_param("from")) options.border = border_of(q.with("border", q.param("from")));
  auto tensor =
      std::make_shared<areal::HistogramTensor>(one_line_tensor(q, options).with_border(wanted, execution_of(q)));
  if (tensor->border() != wanted) throw Failed("with_border: the tensor says that it has another border");
  return respond(q, tensor_of(tensor));
}

Json copied(const Question& q) {
  const areal::HistogramTensor tensor = one_line_tensor(q, histogram_options(q));
  return respond(q, tensor_of(std::make_shared<areal::HistogramTensor>(tensor.copy_to({}).copy_to({}))));
}

/// One plan, executed by several threads at once.
Json parallel(const Question& q) {
  const Running running(q);
  HistogramInputs inputs(q);
  const areal::ConstView image = inputs.image_view();
  const areal::HistogramPlan plan(image.shape, image.type, binning_of(q), histogram_options(q), running.execution());
  std::vector<std::shared_ptr<Room>> rooms(static_cast<std::size_t>(q.number("parallel", 3)));
  for (auto& room : rooms) room = room_for(plan, q);
  on_threads(static_cast<int>(rooms.size()), [&rooms, &inputs, &plan, &q](int i) {
    GuardedWorkspace workspace(plan, q);
    plan.execute({inputs.image_view(), rooms[static_cast<std::size_t>(i)]->view(), inputs.weights_view()},
                 workspace.get());
    workspace.finish();
  });
  for (auto& room : rooms)
    expect_equal(rooms.front()->take("a tensor"), room->take("a tensor"), "executes of one plan on several threads");
  Tensor tensor = tensor_in(rooms.front(), plan.options().border);
  tensor.ran = plan.algorithm();
  return respond(q, tensor);
}

const std::vector<std::string_view> all = {"histogram", "measures", "distance-map"};
const std::vector<std::string_view> histogram = {"histogram"};
const std::vector<Door> doors = {{"histogram", all, direct},
                                 {"histogram-cpu", all, on_cpu},
                                 {"histogram-simt", all, on_simt},
                                 {"histogram-cuda", all, on_cuda},
                                 {"histogram-research", all, research},
                                 {"histogram-allocated", histogram, allocated},
                                 {"histogram-one-line", all, one_line},
                                 {"histogram-with-border", histogram, with_border},
                                 {"histogram-copied", histogram, copied},
                                 {"histogram-parallel", histogram, parallel}};

}  // namespace

std::span<const Door> histogram_doors() { return doors; }

}  // namespace doors
