// The door of filters: windows straight from the pixels.

#include <areal/filter.hpp>

#include "door.hpp"
#include "run.hpp"
#include "tables.hpp"

namespace doors {
namespace {

areal::Filter filter_of(const std::string& stat) {
  if (stat == "sum") return areal::filter::Sum{};
  if (stat == "mean") return areal::filter::Mean{};
  if (stat == "variance") return areal::filter::Variance{};
  if (stat == "std") return areal::filter::StandardDeviation{};
  throw BadQuestion("window: its stat " + stat + " is none of sum, mean, variance, std");
}

Json filter(const Question& q) {
  if (!q.has("out")) throw BadQuestion("out: none is given");
  const Running running(q);
  Inputs inputs(q);
  const areal::ConstView image = inputs.image_view();
  areal::FilterOptions options;
  options.window = window_of(q);
  options.nan = q.flag("ignore_nan") ? areal::Missing::omit : areal::Missing::propagate;
  options.mask = inputs.mask.has_value();
  options.min_count = 0;  // windows of tables have a sum of no pixels, too
  const areal::FilterPlan plan(image.shape, image.type, type_of_name(q["window"].value("type", "64f")),
                               filter_of(q["window"].value("stat", "mean")), options, running.execution());
  areal::Shape shape = plan.out_shape();
  if (q.has_param("out_layout")) shape.layout = layout_of(q.word("out_layout"));
  Room out(shape, plan.out(), lie_of_outputs(q), place_of(q));
  GuardedWorkspace workspace(plan, q);
  plan.execute({image, out.view(), inputs.mask_view()}, workspace.get());
  workspace.finish();
  inputs.expect_unchanged();
  Json answer = q.answer();
  const std::string path = q.text("out") + ".filter.npy";
  write_npy(path, out.take("the filter's output"));
  answer["window"] = path;
  return answer;
}

const std::vector<Door> doors = {{"filter", {"window"}, filter}};

}  // namespace

std::span<const Door> filter_doors() { return doors; }

}  // namespace doors
