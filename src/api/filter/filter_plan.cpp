// Filters straight from the pixels: checks, the choice of the algorithm, and the steps of an execute.
#include "api/filter/filter_plan.hpp"
#include <algorithm>
#include <areal/array.hpp>
#include <areal/catalog.hpp>
#include <areal/error.hpp>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>
#include "api/core/automatic.hpp"
#include "api/core/execute.hpp"
#include "api/core/require.hpp"
#include "api/core/view_check.hpp"
#include "api/core/window_axes.hpp"
#include "policy/filter_choice.hpp"

namespace areal {
namespace {

using policy::is_extreme;

constexpr ArgumentViews<FilterArguments, 2, 1> views{
    {{{"image", &FilterArguments::image}, {"mask", &FilterArguments::mask}}}, {{{"out", &FilterArguments::out}}}};

// A plan's arguments, checked.
struct Request {
  Shape image;
  Type in, out;
  Filter filter;
  FilterOptions options;
  WindowAxes axes;
  double fill;
};

bool uses_squares(const Filter& filter) {
  if (const auto* threshold = std::get_if<filter::Threshold>(&filter))
    return threshold->method != filter::Local::mean && threshold->method != filter::Local::bradley;
  return std::holds_alternative<filter::Variance>(filter) || std::holds_alternative<filter::StandardDeviation>(filter);
}

void check_types(const Filter& filter, Type in, Type out) {
  if (is_extreme(filter)) {
    require(in == out, "out type ", name_of(out), ": minimum and maximum of ", name_of(in), " are ", name_of(in));
    return;
  }
  require(in != Type::u64 && in != Type::s64, "image type ", name_of(in),
          ": it may be 8u, 8s, 16u, 16s, 32u, 32s, 16f, 32f or 64f; minimum and maximum take every type");
  constexpr Type known[] = {Type::u8, Type::s8, Type::u16, Type::s16, Type::s32, Type::f32, Type::f64};
  require(std::ranges::find(known, out) != std::end(known), "out type ", name_of(out),
          ": it may be 8u, 8s, 16u, 16s, 32s, 32f or 64f; minimum and maximum have the image's");
}

// The least and the most of an integer type.
std::pair<double, double> range_of(Type type) {
  const int bits = static_cast<int>(8 * size_of(type));
  if (is_signed_integer(type)) return {-std::ldexp(1, bits - 1), std::ldexp(1, bits - 1) - 1};
  return {0, std::ldexp(1, bits) - 1};
}

void check_value(const Window& window, Type in) {
  if (window.edge != Edge::constant || is_float(in)) return;
  const auto [least, most] = range_of(in);
  const double value = window.value;
  const double beyond = is_signed_integer(in) ? most + 1 : std::ldexp(1, static_cast<int>(8 * size_of(in)));
  const bool fits = value >= least && value <= most && value == std::floor(value) && value < beyond;
  require(fits, "window: value ", value, " for pixels of ", name_of(in),
          ": it may be a whole number that this type holds");
}

// Sums of integers fit 63 bits, their squares 96.
void check_sums(const Request& request) {
  if (is_float(request.in) || is_extreme(request.filter)) return;
  const auto pixels_of = [&](const formulas::WindowAxis& axis) {
    return static_cast<double>(axis.edge == Edge::shrink ? std::min(axis.size, axis.extent) : axis.size);
  };
  const double pixels = pixels_of(request.axes.columns) * pixels_of(request.axes.rows);
  const double most_pixel = std::ldexp(1, static_cast<int>(8 * size_of(request.in)));
  const Window& window = request.options.window;
  require(pixels * most_pixel <= 0x1p63, "window: sums of ", window.width, "x", window.height, " pixels of ",
          name_of(request.in), " do not fit 63 bits");
  require(!uses_squares(request.filter) || pixels < 0x1p32, "window: ", window.width, "x", window.height,
          ": windows of deviations of integers may have up to 2^32 - 1 pixels");
}

// Floats are added in the order of their positions, so that pixels beyond an edge cannot be summed up in advance.
// Neither are the valid pixels counted whose number decides.
void check_reach(const Request& request) {
  require(request.image.width < (std::int64_t{1} << 31), "image width ", request.image.width,
          ": algorithm blocks takes rows of up to 2^31 - 1 pixels");
  const bool counts = request.options.min_count > 1 && (request.options.mask || request.options.nan == Missing::omit);
  if ((is_extreme(request.filter) && !counts) || request.options.window.edge == Edge::shrink ||
      request.options.window.edge == Edge::valid)
    return;
  for (const formulas::WindowAxis* axis : {&request.axes.columns, &request.axes.rows}) {
    const std::int64_t most = cpu::Blocks::most_beyond(axis->extent);
    require(axis->before <= most && axis->size - 1 - axis->before <= most, "window: ", request.options.window.width,
            "x", request.options.window.height, " reaches more than ", most, " pixels beyond the edge of ",
            is_extreme(request.filter) ? "an image with valid pixels to count, " : "a float image of ",
            request.image.width, "x", request.image.height, ", which only edges shrink and valid allow");
  }
}

void check_parameters(const Filter& filter, Type in) {
  const auto check_ddof = [](int ddof) { require(ddof >= 0, "ddof ", ddof, ": it may be 0 or more"); };
  if (const auto* variance = std::get_if<filter::Variance>(&filter)) check_ddof(variance->ddof);
  if (const auto* deviation = std::get_if<filter::StandardDeviation>(&filter)) check_ddof(deviation->ddof);
  const auto* threshold = std::get_if<filter::Threshold>(&filter);
  if (threshold == nullptr) return;
  require(!threshold->k || std::isfinite(*threshold->k), "k ", threshold->k.value_or(0),
          ": it may be any finite number");
  require(std::isfinite(threshold->offset), "offset ", threshold->offset, ": it may be any finite number");
  require(std::isfinite(threshold->high), "high ", threshold->high, ": it may be any finite number");
  require(!threshold->r || (*threshold->r > 0 && std::isfinite(*threshold->r)), "r ", threshold->r.value_or(0),
          ": it may be any finite number above 0");
  require(threshold->method != filter::Local::sauvola || threshold->r || size_of(in) == 1 ||
              (size_of(in) == 2 && !is_float(in)),
          "r: thresholds of sauvola need it for pixels of ", name_of(in), ", half the range of their values");
}

Request checked(const Shape& image, Type in, Type out, const Filter& filter, const FilterOptions& options) {
  check_shape("image", image, in);
  check_types(filter, in, out);
  check_parameters(filter, in);
  const Window& window = options.window;
  FilterOptions used = options;
  if (std::holds_alternative<filter::Count>(filter)) used.min_count = 0;
  Request request{image,
                  in,
                  out,
                  filter,
                  used,
                  window_axes(image.width, image.height, window),
                  options.fill.value_or(is_float(out) ? std::numeric_limits<double>::quiet_NaN() : 0)};
  check_value(window, in);
  check_sums(request);
  require(options.nan == Missing::propagate || is_float(in), "nan omit: ", name_of(in), " pixels are never NaN");
  require(options.min_count >= 0, "min_count ", options.min_count, ": it may be 0 or more");
  check_shape("out", {request.axes.columns.outputs, request.axes.rows.outputs, image.channels, image.batch}, out);
  return request;
}

// The centre of a window from its first cell, which `valid` counts from.
std::int64_t centre(Edge edge, std::int64_t size, std::int64_t anchor) {
  return edge != Edge::valid ? 0 : anchor < 0 ? size / 2 : anchor;
}

// kernels::FilterRequest and cpu::FilterRequest have these in common.
template <class Backend>
Backend request_of(const Request& request) {
  const Window& window = request.options.window;
  Backend one;
  one.filter = request.filter;
  one.image = request.image;
  one.in = request.in, one.out = request.out;
  one.columns = request.axes.columns, one.rows = request.axes.rows;
  one.centre_x = centre(window.edge, window.width, window.anchor_x);
  one.centre_y = centre(window.edge, window.height, window.anchor_y);
  one.value = window.value;
  one.rounding = window.rounding;
  one.omit_nan = request.options.nan == Missing::omit, one.mask = request.options.mask;
  one.min_count = request.options.min_count;
  one.fill = request.fill;
  return one;
}

std::vector<std::string_view> ids_of(const Request& request) {
  if (request.options.algorithm != "auto") return {request.options.algorithm};
  return policy::ranked_filters(request.filter, request.in);
}

bool runs_on(const Algorithm& row, Backend backend) {
  return backend == Backend::cuda ? row.cuda : backend == Backend::simt ? row.simt : row.cpu;
}

void require_algorithm(const std::string& id, Backend backend) {
  const Algorithm* const row = find_algorithm("filter", id);
  if (row != nullptr && runs_on(*row, backend)) return;
  std::string known = "auto";
  for (const Algorithm& one : algorithms())
    if (one.family == "filter" && runs_on(one, backend)) known += ", " + std::string(one.id);
  throw InvalidArgument(sentence("algorithm ", id, " is not one of ", known));
}

// What an algorithm of the CPU needs, if it does not take the request.
std::string lacks_on_cpu(std::string_view id, const cpu::FilterRequest& request) {
  const bool extreme = is_extreme(request.filter), walk = policy::walk_takes(request.filter, request.in);
  if (id == "van-herk") return extreme ? cpu::Extremes::takes(request) : "it takes minimum and maximum";
  if (id == "walk") return walk ? "" : "it takes sums of integers";
  return walk ? "it takes floats, minimum and maximum" : "";
}

// The named algorithm, or the best that takes the request.
std::string chosen_on_cpu(const Request& request, const cpu::FilterRequest& on_cpu) {
  const std::vector<std::string_view> ids = ids_of(request);
  require_algorithm(std::string(ids.front()), Backend::cpu);
  for (const std::string_view id : ids)
    if (lacks_on_cpu(id, on_cpu).empty()) return std::string(id);
  throw InvalidArgument(
      sentence("algorithm ", ids.front(), ": ", lacks_on_cpu(ids.front(), on_cpu), "; for other filters choose auto"));
}

std::string reason_of(const FilterPlan::State& state) {
  if (state.options.algorithm != "auto") return "requested";
  if (state.device && !state.device->passed_over().empty())
    return "the best that takes this; " + state.device->passed_over();
  if (state.algorithm == "walk") return "sums of integers follow from the row before";
  return state.algorithm == "van-herk" ? "the fastest for minimum and maximum" : "the only one that takes this";
}

// The state on a named backend.
std::shared_ptr<FilterPlan::State> plan_on(const Request& request, const Execution& execution) {
  auto state = std::make_shared<FilterPlan::State>();
  state->execution = execution;
  state->image = request.image;
  state->in = request.in, state->out = request.out;
  state->options = request.options;
  state->columns = request.axes.columns, state->rows = request.axes.rows;
  require_stream_of(execution);
  if (execution.backend != Backend::cpu) {
    require_backend(execution.backend, execution.device);
    auto on_device = request_of<kernels::FilterRequest>(request);
    state->device.emplace(execution, on_device, ids_of(request));
    state->algorithm = state->device->algorithm(
        {ConstView(allocated(), request.in, request.image), View(allocated(), request.out, state->out_shape()),
         request.options.mask
             ? ConstView(allocated(), Type::u8, {request.image.width, request.image.height, 1, request.image.batch})
             : ConstView()});
    state->workspace_bytes = state->device->workspace_bytes();
    state->reason = reason_of(*state);
    return state;
  }
  auto on_cpu = request_of<cpu::FilterRequest>(request);
  on_cpu.threads = execution.threads;
  state->algorithm = chosen_on_cpu(request, on_cpu);
  state->reason = reason_of(*state);
  if (state->out_shape().empty()) return state;
  if (state->algorithm == "walk") {
    state->walk.emplace(on_cpu);
    state->workspace_bytes = state->walk->workspace_bytes();
  } else if (state->algorithm == "van-herk") {
    state->extremes.emplace(on_cpu);
    state->workspace_bytes = state->extremes->workspace_bytes();
  } else {
    check_reach(request);
    state->blocks.emplace(on_cpu);
    state->workspace_bytes = state->blocks->workspace_bytes();
  }
  return state;
}

std::shared_ptr<FilterPlan::State> plan_filter(const Shape& image, Type in, Type out, const Filter& filter,
                                               const FilterOptions& options, const Execution& execution) {
  require(execution.threads >= 0, "threads ", execution.threads, ": it may be 0 (all) or more");
  const Request request = checked(image, in, out, filter, options);
  const auto make = [&](const Execution& named) { return plan_on(request, named); };
  if (execution.backend != Backend::automatic) return make(execution);
  policy::BackendQuestion question;
  question.read = bytes_of(image, in);
  if (options.mask) question.read += bytes_of(Shape{image.width, image.height, 1, image.batch}, Type::u8);
  question.written =
      bytes_of({request.axes.columns.outputs, request.axes.rows.outputs, image.channels, image.batch}, out);
  const auto lacks = [&](const Execution& named) {
    return Choice<kernels::FilterSubject>::lacks(named, request_of<kernels::FilterRequest>(request), ids_of(request));
  };
  return automatic_plan("filter", options.algorithm, execution, question, lacks, make);
}

void check(const FilterPlan& plan, const FilterPlan::State& s, const FilterArguments& arguments) {
  check_view("image", arguments.image, s.image, s.in);
  Shape out = s.out_shape();
  out.layout = arguments.out.shape.layout;  // any
  check_view("out", arguments.out, out, s.out);
  if (s.options.mask)
    check_view("mask", arguments.mask, {s.image.width, s.image.height, 1, s.image.batch}, Type::u8);
  else
    require(arguments.mask.data == nullptr, "mask was given, but the plan was not made for it");
  require_memories(plan, views, arguments, true);
  require(!may_overlap(arguments.image, arguments.out), "out: it overlaps the image");
  require(!may_overlap(arguments.mask, arguments.out), "out: it overlaps the mask");
  if (s.device) s.device->check([&] { return placed(s.execution, views, arguments); });
}

}  // namespace

void FilterPlan::State::prepare(void* memory, Stream stream) const {
  if (device) device->prepare(memory, stream);
}

std::string_view FilterPlan::State::run(const FilterArguments& arguments, void* memory, Stream stream) const {
  if (device) return device->execute(arguments, memory, stream, {});
  if (arguments.out.shape.empty()) return algorithm;
  if (walk)
    walk->execute(arguments, memory);
  else if (extremes)
    extremes->execute(arguments, memory);
  else
    blocks->execute(arguments, memory);
  return algorithm;
}

FilterPlan::FilterPlan(const Shape& image, Type in, Type out, const Filter& filter, const FilterOptions& options,
                       const Execution& execution)
    : Plan(plan_filter(image, in, out, filter, options, execution)) {}

void FilterPlan::execute(const FilterArguments& arguments, Workspace& workspace) const {
  const State& s = state();
  Workspace::State& w = require_workspace(s, workspace);
  check(*this, s, arguments);
  if (w.borrowed) require_memories(*this, views, arguments, false);
  execute_in(w, views, arguments,
             [&](const FilterArguments& there, void* memory, Stream stream) { w.ran = s.run(there, memory, stream); });
}

const FilterPlan::State& FilterPlan::state() const noexcept { return static_cast<const State&>(*state_); }
const Shape& FilterPlan::image_shape() const noexcept { return state().image; }
Shape FilterPlan::out_shape() const noexcept { return state().out_shape(); }
Type FilterPlan::in() const noexcept { return state().in; }
Type FilterPlan::out() const noexcept { return state().out; }
const FilterOptions& FilterPlan::options() const noexcept { return state().options; }

void apply(const Filter& filter, const ConstView& image, const View& out, const FilterOptions& options,
           const Execution& execution) {
  apply(filter, FilterArguments{image, out}, options, execution);
}

void apply(const Filter& filter, const FilterArguments& arguments, const FilterOptions& options,
           const Execution& execution) {
  FilterOptions requested = options;
  if (arguments.mask.data != nullptr) requested.mask = true;
  const FilterPlan plan(arguments.image.shape, arguments.image.type, arguments.out.type, filter, requested,
                        execution_of(arguments.image, execution));
  Workspace workspace(plan);
  plan.execute(arguments, workspace);
  workspace.wait();
}

}  // namespace areal
