// Doors of sums of one line, and of values scattered to the corners of regions.

#include <areal/research/scan.hpp>
#include <areal/sat.hpp>
#include <areal/scatter.hpp>

#include "door.hpp"
#include "run.hpp"
#include "tables.hpp"

namespace doors {
namespace {

Json with_table(const Question& q, const Elements& elements, const std::string& algorithm) {
  if (!q.has("out")) throw BadQuestion("out: none is given");
  Json answer = q.answer();
  const std::string path = q.text("out") + ".sum.npy";
  write_npy(path, elements);
  answer["tables"]["sum"] = path;
  if (!algorithm.empty()) answer["ran"] = algorithm;
  return answer;
}

areal::TypePair types_of(const Question& q, const Elements& line) {
  return q.has("types") ? areal::type_pair(q.text("types")) : areal::default_types(line.shape, line.type);
}

areal::ScanOptions scan_options(const Question& q) {
  areal::ScanOptions options;
  options.algorithm = q.text("algorithm", "optimal");
  options.threads = q.number("scan_threads");
  options.group = q.number("scan_group");
  return options;
}

/// A ScanPlan of an image of one row, executed twice.
Json scan_plan(const Question& q) {
  const Running running(q);
  Inputs inputs(q);
  const Elements line = image_elements(q);
  const areal::TypePair types = types_of(q, line);
  const areal::ScanPlan plan(line.shape.width, types, scan_options(q), running.execution());
  Room first({line.shape.width, 1}, types.table, lie_of_outputs(q), place_of(q), other_poison);
  Room second({line.shape.width, 1}, types.table, lie_of_outputs(q), place_of(q));
  GuardedWorkspace workspace(plan, q);
  plan.execute(inputs.image_view(), first.view(), workspace.get());
  plan.execute(inputs.image_view(), second.view(), workspace.get());
  workspace.finish();
  inputs.expect_unchanged();
  const Elements sums = second.take("the sums");
  expect_equal(first.take("the sums"), sums, "two executes with one workspace");
  return with_table(q, sums, plan.algorithm());
}

Json scan_line(const Question& q) {
  Inputs inputs(q);
  const Elements line = image_elements(q);
  Room sums({line.shape.width, 1}, types_of(q, line).table, lie_of_outputs(q), place_of(q));
  areal::scan_line(inputs.image_view(), sums.view(), scan_options(q), execution_of(q));
  inputs.expect_unchanged();
  return with_table(q, sums.take("the sums"), "");
}

/// The image of `image` alone says the size; `types` the type of what is written, as 8u64f.
Json scatter(const Question& q) {
  const Elements image = image_elements(q);
  const areal::Type type = types_of(q, image).table;
  const std::vector<areal::Region> regions = regions_of(q);
  areal::Shape shape = image.shape;
  const std::int64_t more = border_of(q) == areal::Border::zero ? 1 : 0;
  shape.width += more;
  shape.height += more;
  shape.layout = layout_of(q.word("out_layout", "planar"));
  Room out(shape, type, lie_of_outputs(q), place_of(q));
  areal::QueryOptions options = query_options(q);
  const auto with = [&q, &regions, &out, &options](auto as) {
    std::vector<decltype(as)> values;
    for (const Json& value : q["values"]) {
      if constexpr (std::is_floating_point_v<decltype(as)>)
        values.push_back(number_of(value));
      else
        values.push_back(value.get<decltype(as)>());
    }
    areal::scatter_corners(regions, values, out.view(), border_of(q), options);
  };
  if (!q.has("values")) throw BadQuestion("values: none are given");
  if (areal::is_float(type))
    with(double());
  else if (areal::is_signed_integer(type))
    with(std::int64_t());
  else
    with(std::uint64_t());
  return with_table(q, out.take("what was scattered"), "");
}

const std::vector<Door> doors = {
    {"scan-plan", {"line"}, scan_plan}, {"scan-line", {"line"}, scan_line}, {"scatter", {"scatter"}, scatter}};

}  // namespace

std::span<const Door> line_doors() { return doors; }

}  // namespace doors
