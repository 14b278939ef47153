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
#include "cpu/filter/finish.hpp"
#include "policy/filter_choice.hpp"

namespace areal {
namespace {

using policy::is_bilateral;
using policy::is_extreme;
using policy::is_of_levels;
using policy::is_rank;
using policy::keeps_type;

constexpr ArgumentViews<FilterArguments, 4, 1> filter_views{{{{"image", &FilterArguments::image},
                                                              {"mask", &FilterArguments::mask},
                                                              {"guide", &FilterArguments::guide},
                                                              {"sizes", &FilterArguments::sizes}}},
                                                            {{{"out", &FilterArguments::out}}}};

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
  if (std::holds_alternative<filter::Guided>(filter)) {
    require(in == Type::u8 || in == Type::u16 || in == Type::f32, "image type ", name_of(in),
            ": guided filters take 8u, 16u or 32f");
    require(out == in || out == Type::f32, "out type ", name_of(out), ": guided filters of ", name_of(in), " give ",
            name_of(in), in == Type::f32 ? "" : " or 32f");
    return;
  }
  if (is_bilateral(filter)) {
    require(in == Type::u8, "image type ", name_of(in), ": bilateral filters take 8u");
    require(out == Type::u8 || out == Type::f32 || out == Type::f64, "out type ", name_of(out),
            ": bilateral filters give 8u, 32f or 64f");
    return;
  }
  if (is_of_levels(filter)) {
    require(in == Type::u8 || in == Type::u16, "image type ", name_of(in),
            ": equalize, otsu, entropy and modal take 8u and 16u");
    const bool is_entropy = std::holds_alternative<filter::Entropy>(filter);
    require(is_entropy ? out == Type::f32 || out == Type::f64 : out == in, "out type ", name_of(out), ": ",
            is_entropy ? "entropies are" : "equalize, otsu and modal give", " ",
            is_entropy ? "32f or 64f" : name_of(in));
    return;
  }
  if (keeps_type(filter)) {
    require(in == out, "out type ", name_of(out), ": ", is_extreme(filter) ? "minimum and maximum" : "percentiles",
            " of ", name_of(in), " are ", name_of(in));
    return;
  }
  require(in != Type::u64 && in != Type::s64, "image type ", name_of(in),
          ": it may be 8u, 8s, 16u, 16s, 32u, 32s, 16f, 32f or 64f; minimum, maximum and percentiles take every type");
  constexpr Type known[] = {Type::u8, Type::s8, Type::u16, Type::s16, Type::s32, Type::f32, Type::f64};
  require(std::ranges::find(known, out) != std::end(known), "out type ", name_of(out),
          ": it may be 8u, 8s, 16u, 16s, 32s, 32f or 64f; minimum, maximum and percentiles have the image's");
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
  if (is_float(request.in) || keeps_type(request.filter) || is_of_levels(request.filter)) return;
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

// Floats and a, b of guided filters are added in the order of their positions, so that pixels beyond an edge cannot be
// summed up in advance. Neither are the valid pixels counted whose number decides.
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

// The sums of a plane fit 63 bits, and its pixels are counted in 32.
void check_sizes(const Filter& filter, const Shape& image, Type in, const FilterOptions& options) {
  require(
      policy::has_sizes(filter),
      "sizes: windows of a size per pixel are for sums, means, counts, variances, standard deviations and thresholds "
      "other than of wolf");
  const Window& window = options.window;
  require(window.width == 1 && window.height == 1 && window.anchor_x <= 0 && window.anchor_y <= 0,
          "window: ", window.width, "x", window.height, ": with sizes leave it at 1x1, without an anchor");
  require(window.edge == Edge::shrink, "window: windows of a size per pixel take edge shrink");
  const double pixels = static_cast<double>(image.width) * static_cast<double>(image.height);
  const double most = is_float(in) || size_of(in) < 4 ? 0x1p32 - 1 : 0x1p31;
  require(pixels <= most, "image of ", image.width, "x", image.height, ": windows of a size per pixel of ", name_of(in),
          " take planes of up to ", most, " pixels");
}

// Every pixel of these filters is valid.
void check_all_valid(const char* name, const FilterOptions& options) {
  require(!options.mask, "mask: ", name, " filters have none");
  require(options.nan == Missing::propagate, "nan omit: ", name, " filters propagate NaN");
  require(options.min_count <= 1 && !options.fill, options.fill ? "fill" : "min_count", ": every pixel of ", name,
          " filters is valid");
}

void check_guided(const filter::Guided& guided, const Shape& image, Type in, const FilterOptions& options) {
  require(guided.eps > 0 && std::isfinite(guided.eps), "eps ", guided.eps, ": it may be any finite number above 0");
  require(guided.scale == 1, "scale ", guided.scale, ": guided filters are not subsampled, it may be 1");
  require(options.guide == 0 || options.guide == 1 || options.guide == 3, "guide of ", options.guide,
          " channels: it may have 1 or 3, or 0 for no guide");
  const Type type = options.guide_type.value_or(in);
  require(type == Type::u8 || type == Type::u16 || type == Type::f32, "guide type ", name_of(type),
          ": it may be 8u, 16u or 32f");
  require(options.guide > 0 || type == in, "guide type ", name_of(type), ": there is no guide");
  const Window& window = options.window;
  require(window.edge != Edge::valid, "window: guided filters take every edge but valid");
  if (options.guide > 0) check_shape("guide", {image.width, image.height, options.guide, image.batch}, type);
  check_value(window, type);
  // Sums of products are exact in double.
  const std::size_t bytes = std::max(is_float(in) ? 1 : size_of(in), is_float(type) ? 1 : size_of(type));
  const double pixels = static_cast<double>(window.width) * static_cast<double>(window.height);
  require(pixels * std::ldexp(1, static_cast<int>(16 * bytes)) <= 0x1p53, "window: ", window.width, "x", window.height,
          ": guided filters of ", bytes == 1 ? "8" : "16", " bits take up to 2^", bytes == 1 ? 37 : 21, " pixels");
  check_all_valid("guided", options);
}

void check_gaussian(const filter::Gaussian& gaussian, const FilterOptions& options) {
  for (const double sigma : {gaussian.sigma_x, gaussian.sigma_y})
    require(sigma >= 0 && sigma <= cpu::Gaussian::most_sigma, "sigma ", sigma, ": it may be 0 to ",
            cpu::Gaussian::most_sigma);
  require(gaussian.truncate > 0 && std::isfinite(gaussian.truncate), "truncate ", gaussian.truncate,
          ": it may be any finite number above 0");
  require(gaussian.passes >= 0 && gaussian.passes <= cpu::Gaussian::most_passes, "passes ", gaussian.passes,
          ": they may be 0 to ", cpu::Gaussian::most_passes);
  const Window& window = options.window;
  require(window.width == 1 && window.height == 1 && window.anchor_x <= 0 && window.anchor_y <= 0,
          "window: ", window.width, "x", window.height, ": a Gaussian's follows from sigma, leave it at 1x1");
  check_all_valid("Gaussian", options);
}

// Windows are counted in 32 bits, and their pixels beyond an edge are kept.
void check_ranks(const Request& request) {
  const Window& window = request.options.window;
  const char* const these = is_rank(request.filter) ? "percentiles" : "counts by level";
  require(request.image.width < (std::int64_t{1} << 31), "image width ", request.image.width, ": ", these,
          " take rows of up to 2^31 - 1 pixels");
  double pixels = 1;
  for (const formulas::WindowAxis* axis : {&request.axes.columns, &request.axes.rows}) {
    pixels *= static_cast<double>(axis->edge == Edge::shrink ? std::min(axis->size, axis->extent) : axis->size);
    const std::int64_t most = cpu::Blocks::most_beyond(axis->extent);
    const bool reaches = axis->edge != Edge::shrink && axis->edge != Edge::valid;
    require(!reaches || (axis->before <= most && axis->size - 1 - axis->before <= most), "window: ", window.width, "x",
            window.height, " reaches more than ", most, " pixels beyond the edge of an image of ", request.image.width,
            "x", request.image.height, ", which ", these, " allow only with edges shrink and valid");
  }
  require(pixels < 0x1p32, "window: ", window.width, "x", window.height, ": windows of ", these,
          " may have up to 2^32 - 1 pixels");
}

void check_parameters(const Filter& filter, const Shape& image, Type in, const FilterOptions& options) {
  const auto* guided = std::get_if<filter::Guided>(&filter);
  if (guided != nullptr) return check_guided(*guided, image, in, options);
  require(options.guide == 0 && !options.guide_type, "guide: only guided filters have one");
  if (options.sizes) check_sizes(filter, image, in, options);
  if (const auto* gaussian = std::get_if<filter::Gaussian>(&filter)) return check_gaussian(*gaussian, options);
  if (const auto* rank = std::get_if<filter::Percentile>(&filter))
    require(rank->percent >= 0 && rank->percent <= 100, "percent ", rank->percent, ": it may be 0 to 100");
  if (const auto* bilateral = std::get_if<filter::Bilateral>(&filter))
    require(bilateral->sigma_range > 0 && std::isfinite(bilateral->sigma_range), "sigma_range ", bilateral->sigma_range,
            ": it may be any finite number above 0");
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

// The window's algorithm, before the choice of a plan: that of `auto`, or the named one.
std::string_view algorithm_of(const Filter& filter, Type in, const FilterOptions& options) {
  return options.algorithm == "auto" ? policy::ranked_filters(filter, in, options.window.height).front()
                                     : std::string_view(options.algorithm);
}

// A Gaussian's follows from sigma.
Window window_of(const Filter& filter, Type in, const FilterOptions& options) {
  Window window = options.window;
  if (const auto* gaussian = std::get_if<filter::Gaussian>(&filter)) {
    const std::string_view algorithm = algorithm_of(filter, in, options);
    const cpu::Gaussian::Axis columns(*gaussian, gaussian->sigma_x, algorithm),
        rows(*gaussian, gaussian->sigma_y, algorithm);
    for (const cpu::Gaussian::Axis& axis : {columns, rows})
      require(axis.passes > 0 || axis.reach <= cpu::Gaussian::most_reach, "sigma and truncate: weights of ", axis.reach,
              " pixels to each side, of at most ", cpu::Gaussian::most_reach);
    window.width = columns.size(), window.height = rows.size();
    window.anchor_x = columns.reach, window.anchor_y = rows.reach;
  }
  return window;
}

Request checked(const Shape& image, Type in, Type out, const Filter& filter, const FilterOptions& options) {
  check_shape("image", image, in);
  check_types(filter, in, out);
  check_parameters(filter, image, in, options);
  const Window window = window_of(filter, in, options);
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
  one.guide = request.options.guide, one.guide_type = request.options.guide_type.value_or(request.in);
  one.min_count = request.options.min_count;
  one.fill = request.fill;
  return one;
}

bool runs_on(const Algorithm& row, Backend backend) {
  return backend == Backend::cuda ? row.cuda : backend == Backend::simt ? row.simt : row.cpu;
}

// The named algorithm, or those that `auto` may choose on a backend.
std::vector<std::string_view> ids_of(const Request& request, Backend backend) {
  if (request.options.algorithm != "auto") return {request.options.algorithm};
  if (request.options.sizes) return {"table"};
  auto ids = policy::ranked_filters(request.filter, request.in, request.options.window.height);
  std::erase_if(ids, [&](std::string_view id) { return !runs_on(*find_algorithm("filter", id), backend); });
  return ids;
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
  if (request.sizes || id == "table") {
    if (id != "table") return "it takes windows of one size";
    return request.sizes ? std::string() : sentence("it takes ", policy::taken_by(id));
  }
  if (!policy::takes(id, request.filter, request.in)) return sentence("it takes ", policy::taken_by(id));
  if (is_rank(request.filter)) return cpu::Ranks::refusal(cpu::Ranks::structure_named(id), request);
  if (is_of_levels(request.filter)) return cpu::Levels::refusal(id, request);
  return id == "van-herk" ? cpu::Extremes::takes(request) : std::string();
}

// The named algorithm, or the best that takes the request.
std::string chosen_on_cpu(const Request& request, const cpu::FilterRequest& on_cpu) {
  const std::vector<std::string_view> ids = ids_of(request, Backend::cpu);
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
  return std::string(policy::reason_for(state.algorithm));
}

// Why a device does not run it; empty if it may.
std::string lacks_kernel(const FilterOptions& options, Backend backend) {
  if (!options.sizes) return {};
  return sentence("backend ", name_of(backend), ": windows of a size per pixel run on the CPU");
}

// The state on a named backend.
std::shared_ptr<FilterPlan::State> plan_on(const Request& request, const Execution& execution) {
  auto state = std::make_shared<FilterPlan::State>();
  state->execution = execution;
  state->image = request.image;
  state->in = request.in, state->out = request.out;
  state->filter = request.filter;
  state->options = request.options;
  state->columns = request.axes.columns, state->rows = request.axes.rows;
  require_stream_of(execution);
  if (execution.backend != Backend::cpu) {
    if (const std::string why = lacks_kernel(request.options, execution.backend); !why.empty())
      throw InvalidArgument(why);
    require_backend(execution.backend, execution.device);
    auto on_device = request_of<kernels::FilterRequest>(request);
    state->device.emplace(execution, on_device, ids_of(request, execution.backend));
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
  on_cpu.sizes = request.options.sizes;
  state->algorithm = on_cpu.algorithm = chosen_on_cpu(request, on_cpu);
  state->reason = reason_of(*state);
  if (state->out_shape().empty()) return state;
  if (state->algorithm == "guided-walk" || state->algorithm == "blocks") check_reach(request);
  if (is_rank(request.filter) || is_of_levels(request.filter)) check_ranks(request);
  const auto made = [&]<class Engine>() {
    state->workspace_bytes = state->on_cpu.emplace<Engine>(on_cpu).workspace_bytes();
  };
  if (state->algorithm == "table") made.operator()<cpu::Sized>();
  if (state->algorithm == "walk") made.operator()<cpu::Walk>();
  if (state->algorithm == "blocks") made.operator()<cpu::Blocks>();
  if (state->algorithm == "van-herk") made.operator()<cpu::Extremes>();
  if (state->algorithm == "guided-walk") made.operator()<cpu::Guided>();
  if (is_rank(request.filter)) made.operator()<cpu::Ranks>();
  if (is_of_levels(request.filter)) made.operator()<cpu::Levels>();
  if (policy::is_gaussian(state->algorithm)) made.operator()<cpu::Gaussian>();
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
  if (options.sizes) question.read += bytes_of(Shape{image.width, image.height, 1, image.batch}, Type::s32);
  if (options.guide > 0)
    question.read +=
        bytes_of(Shape{image.width, image.height, options.guide, image.batch}, options.guide_type.value_or(in));
  question.written =
      bytes_of({request.axes.columns.outputs, request.axes.rows.outputs, image.channels, image.batch}, out);
  const auto lacks = [&](const Execution& named) {
    if (std::string why = lacks_kernel(request.options, named.backend); !why.empty()) return why;
    // The CPU takes what kernels refuse.
    return Choice<kernels::FilterSubject>::refusal(named, request_of<kernels::FilterRequest>(request),
                                                   ids_of(request, named.backend))
        .why;
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
  if (s.options.guide > 0) {
    Shape guide{s.image.width, s.image.height, s.options.guide, s.image.batch};
    guide.layout = arguments.guide.shape.layout;  // any
    check_view("guide", arguments.guide, guide, s.options.guide_type.value_or(s.in));
  } else {
    require(arguments.guide.data == nullptr, "guide was given, but the plan was not made for it");
  }
  if (s.options.sizes) {
    const ConstView& sizes = arguments.sizes;
    require(sizes.type == Type::u16 || sizes.type == Type::s32, "sizes type ", name_of(sizes.type),
            ": it may be 16u or 32s");
    require(sizes.shape.channels == 1 || sizes.shape.channels == 2, "sizes of ", sizes.shape.channels,
            " channels: they may have 1, for rows and columns, or 2");
    check_view("sizes", sizes, {s.image.width, s.image.height, sizes.shape.channels, s.image.batch, sizes.shape.layout},
               sizes.type);
  } else {
    require(arguments.sizes.data == nullptr, "sizes were given, but the plan was not made for them");
  }
  require_memories(plan, filter_views, arguments, true);
  require(!may_overlap(arguments.sizes, arguments.out), "out: it overlaps the sizes");
  require(!may_overlap(arguments.guide, arguments.out), "out: it overlaps the guide");
  require(!may_overlap(arguments.image, arguments.out), "out: it overlaps the image");
  require(!may_overlap(arguments.mask, arguments.out), "out: it overlaps the mask");
  if (s.device) s.device->check([&] { return placed(s.execution, filter_views, arguments); });
}

}  // namespace

void FilterPlan::State::prepare(void* memory, Stream stream) const {
  if (device) device->prepare(memory, stream);
}

std::string_view FilterPlan::State::run(const FilterArguments& arguments, void* memory, Stream stream) const {
  if (device) return device->execute(arguments, memory, stream, {});
  if (!arguments.out.shape.empty()) run_rows(arguments, cpu::FilterRows::all(rows), memory);
  return algorithm;
}

void FilterPlan::State::run_rows(const FilterArguments& arguments, const cpu::FilterRows& part, void* memory) const {
  std::visit(
      [&]<class Engine>(const Engine& engine) {
        if constexpr (std::is_same_v<Engine, cpu::Sized>)
          engine.execute(arguments, memory);  // whole images alone
        else if constexpr (!std::is_same_v<Engine, std::monostate>)
          engine.execute(arguments, memory, part);
      },
      on_cpu);
}

std::string_view FilterPlan::State::needs_the_whole() const {
  if (options.sizes) return "windows of a size per pixel are not made in parts";
  if (device) return "only the CPU makes parts of its output";
  if (std::holds_alternative<filter::Equalize>(filter) && in != Type::u8)
    return "equalize of 16u has as many bins as the largest pixel of the whole image needs";
  if (cpu::is_wolf(filter))
    return "it compares every window with the largest deviation and the least pixel of the whole image";
  return "";
}

FilterPlan::FilterPlan(const Shape& image, Type in, Type out, const Filter& filter, const FilterOptions& options,
                       const Execution& execution)
    : Plan(plan_filter(image, in, out, filter, options, execution)) {}

void FilterPlan::execute(const FilterArguments& arguments, Workspace& workspace) const {
  const State& s = state();
  Workspace::State& w = require_workspace(s, workspace);
  check(*this, s, arguments);
  if (w.borrowed) require_memories(*this, filter_views, arguments, false);
  execute_in(w, filter_views, arguments,
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
  if (arguments.sizes.data != nullptr) requested.sizes = true;
  const FilterPlan plan(arguments.image.shape, arguments.image.type, arguments.out.type, filter, requested,
                        execution_of(arguments.image, execution));
  Workspace workspace(plan);
  plan.execute(arguments, workspace);
  workspace.wait();
}

}  // namespace areal
