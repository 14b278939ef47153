// areal.filters: filters straight from the pixels.
#include <areal/error.hpp>
#include <areal/filter.hpp>
#include <array>
#include <atomic>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include "bindings.hpp"
#include "planned.hpp"
#include "process.hpp"
#include "recently_used.hpp"
#include "windows.hpp"

namespace areal::python {
namespace {

/// A filter with its options, of which Python keeps one for each set of arguments.
struct FilterSettings {
  Filter filter;
  FilterOptions options;
  Type out = Type::u8;
  Execution execution;
  std::uint64_t number = 0;  ///< unique; part of the keys of plans
};

Filter filter_of(std::string_view name, std::optional<double> k, std::optional<double> r, double offset, double high,
                 bool inverted, int ddof) {
  using filter::Local;
  constexpr std::pair<std::string_view, Local> thresholds[] = {{"mean", Local::mean},       {"bradley", Local::bradley},
                                                               {"niblack", Local::niblack}, {"sauvola", Local::sauvola},
                                                               {"wolf", Local::wolf},       {"nick", Local::nick}};
  if (name == "sum") return filter::Sum{};
  if (name == "mean") return filter::Mean{};
  if (name == "count") return filter::Count{};
  if (name == "var") return filter::Variance{ddof};
  if (name == "std") return filter::StandardDeviation{ddof};
  if (name == "min") return filter::Minimum{};
  if (name == "max") return filter::Maximum{};
  if (name == "percentile") return filter::Percentile{k.value_or(50)};
  if (name == "equalize") return filter::Equalize{};
  if (name == "otsu") return filter::Otsu{k.value_or(1) != 0};
  if (name == "entropy") return filter::Entropy{};
  if (name == "modal") return filter::Modal{};
  if (name == "bilateral") return filter::Bilateral{k.value_or(0)};
  constexpr std::string_view threshold = "threshold-";
  if (name.starts_with(threshold)) {
    name.remove_prefix(threshold.size());
    for (const auto& [known, method] : thresholds)
      if (known == name) return filter::Threshold{method, k, r, offset, high, inverted};
    throw InvalidArgument("method " + std::string(name) + ": may be mean, bradley, niblack, sauvola, wolf or nick");
  }
  throw InvalidArgument("filter " + std::string(name) + ": areal has none of that name");
}

std::uint64_t next_number() {
  static std::atomic<std::uint64_t> made_before{0};
  return ++made_before;
}

FilterSettings guided_settings(double eps, double scale, std::array<std::int64_t, 2> size,
                               std::array<std::int64_t, 2> anchor, const std::string& edge, double value,
                               const std::string& dtype, const std::string& algorithm, const std::string& backend,
                               int device, int threads) {
  FilterSettings made{filter::Guided{eps, scale}, {}, type_of_numpy_name(dtype, "dtype"), {}};
  made.options.window = {size[1], size[0], anchor[1], anchor[0], edge_of(edge), value};
  made.options.algorithm = algorithm;
  made.execution = execution_of(backend, device, threads);
  made.number = next_number();
  return made;
}

FilterSettings gaussian_settings(std::array<double, 2> sigma, double truncate, int passes, const std::string& edge,
                                 double value, const std::string& dtype, const std::string& algorithm,
                                 const std::string& backend, int device, int threads) {
  FilterSettings made{
      filter::Gaussian{sigma[1], sigma[0], truncate, passes}, {}, type_of_numpy_name(dtype, "dtype"), {}};
  made.options.window.edge = edge_of(edge), made.options.window.value = value;
  made.options.algorithm = algorithm;
  made.execution = execution_of(backend, device, threads);
  made.number = next_number();
  return made;
}

FilterSettings settings_of(const std::string& name, std::optional<double> k, std::optional<double> r, double offset,
                           double high, bool inverted, int ddof, std::array<std::int64_t, 2> size,
                           std::array<std::int64_t, 2> anchor, const std::string& edge, double value,
                           const std::string& nan, bool mask, std::int64_t min_count, std::optional<double> fill,
                           const std::string& rounding, const std::string& dtype, const std::string& algorithm,
                           const std::string& backend, int device, int threads, bool sizes) {
  FilterSettings made{filter_of(name, k, r, offset, high, inverted, ddof), {}, type_of_numpy_name(dtype, "dtype"), {}};
  made.options.window = {size[1], size[0], anchor[1], anchor[0], edge_of(edge), value};
  if (rounding != "nearest" && rounding != "opencv")
    throw InvalidArgument("rounding " + rounding + ": may be nearest or opencv");
  made.options.window.rounding = rounding == "opencv" ? Rounding::opencv : Rounding::nearest;
  if (nan != "propagate" && nan != "omit") throw InvalidArgument("nan " + nan + ": may be propagate or omit");
  made.options.nan = nan == "omit" ? Missing::omit : Missing::propagate;
  made.options.sizes = sizes;
  made.options.mask = mask, made.options.min_count = min_count, made.options.fill = fill;
  made.options.algorithm = algorithm;
  made.execution = execution_of(backend, device, threads);
  made.number = next_number();
  return made;
}

/// Whether an image whose columns are contiguous is read in place, rows and columns changing places. It is copied where
/// an answer depends on the order in which floats are added: the same pixels give the same bits in any memory order.
bool may_transpose(const Filter& filter, Type type) {
  using namespace areal::filter;
  const auto is = [&]<class... Of>() { return (std::holds_alternative<Of>(filter) || ...); };
  if (is.operator()<Minimum, Maximum, Percentile, Count>()) return true;
  return !is_float(type) && !is.operator()<Guided, Gaussian, Bilateral>();
}

/// Rows and columns change places where the image is read transposed.
Filter filter_in(const FilterSettings& settings, bool transposed) {
  Filter filter = settings.filter;
  auto* const gaussian = std::get_if<filter::Gaussian>(&filter);
  if (gaussian != nullptr && transposed) std::swap(gaussian->sigma_x, gaussian->sigma_y);
  return filter;
}

/// Windows are of rows and columns, also where the image is read transposed.
FilterOptions options_in(const FilterSettings& settings, bool transposed) {
  FilterOptions options = settings.options;
  if (transposed)
    std::swap(options.window.width, options.window.height), std::swap(options.window.anchor_x, options.window.anchor_y);
  return options;
}

struct FilterKey {
  PlanKey plan;
  bool transposed;
  std::int64_t guide = 0;  ///< channels
  Type guide_type = Type::u8;
  friend bool operator==(const FilterKey&, const FilterKey&) = default;
};

/// The axes of a guide: the image's, with or without C.
const Axes& axes_of_guide(const Axes& axes, std::size_t dimensions) {
  const Axes& plain = axes.without_channels();
  if (dimensions == static_cast<std::size_t>(plain.dimensions)) return plain;
  return axes.c >= 0 ? axes : Axes::of(std::string(axes.letters) + "C", dimensions);
}

/// An array of a value for each window, with the image's axes.
nb::object filtered(nb::handle on, nb::handle array, const FilterSettings& settings, std::string_view letters,
                    nb::handle mask, nb::handle out, nb::handle guide, nb::handle sizes) {
  static auto& recent = *new RecentlyUsed<FilterKey, Planned<FilterPlan>>;  // see areal.sat
  CallArrays arrays{Framework(on)};
  PythonArray image = arrays.first(array, "array");
  const Axes& axes = Axes::of(letters, image.ref().dimensions);
  if (axes.volume) throw InvalidArgument("axes DHW: windows are of images; with NHW each slice is one");
  const bool alone = mask.is_none() && guide.is_none() && sizes.is_none();
  const bool may_turn = sizes.is_none() && may_transpose(settings.filter, image.ref().type);
  const Pixels pixels = arrays.pixels(array, axes, may_turn, alone, image);
  FilterKey key{{pixels.view.shape, pixels.view.type, pixels.order.layout, &axes, pixels.view.memory, settings.number},
                pixels.order.transposed};
  key.plan.is_numpy = arrays.framework().is_numpy(), key.plan.is_forked = is_forked_child();
  PythonArray kept, kept_guide, kept_sizes;
  FilterArguments arguments{pixels.view, {}, {}};
  if (!guide.is_none()) {
    const Axes& guide_axes = axes_of_guide(axes, arrays.read(guide, "guide").ref().dimensions);
    const bool interleaved = guide_axes.c < 0 || guide_axes.c == guide_axes.dimensions - 1;
    const Layout layout = interleaved ? Layout::interleaved : Layout::planar;
    arguments.guide = arrays.view(guide, "guide", guide_axes, {layout, pixels.order.transposed, 0}, kept_guide);
    key.guide = arguments.guide.shape.channels, key.guide_type = arguments.guide.type;
  }
  if (!sizes.is_none()) {
    const Axes& sizes_axes = axes_of_guide(axes, arrays.read(sizes, "size").ref().dimensions);
    const bool interleaved = sizes_axes.c < 0 || sizes_axes.c == sizes_axes.dimensions - 1;
    const Layout layout = interleaved ? Layout::interleaved : Layout::planar;
    arguments.sizes = arrays.view(sizes, "size", sizes_axes, {layout, false, 0}, kept_sizes);
  }
  const auto planned = recent.get(key, [&] {
    FilterOptions options = options_in(settings, pixels.order.transposed);
    if (key.guide > 0) options.guide = key.guide, options.guide_type = key.guide_type;
    return std::make_shared<Planned<FilterPlan>>(pixels.view.shape, pixels.view.type, settings.out,
                                                 filter_in(settings, pixels.order.transposed), options,
                                                 execution_for(settings.execution, key.plan));
  });
  if (!mask.is_none())
    arguments.mask =
        arrays.view(mask, "mask", axes.without_channels(), {Layout::interleaved, pixels.order.transposed, 0}, kept);
  const Shape shape = planned->plan.out_shape();
  if (!out.is_none()) {
    const PythonArray given = arrays.writable(out);
    require_like(given.ref(), array_shape(ConstView(nullptr, settings.out, shape), axes, pixels.order), settings.out);
    const std::optional<View> view = writable_view(given.ref(), axes, pixels.order);
    if (!view)
      throw InvalidArgument(may_turn ? "out: its memory must lie as the image's does"
                                     : "out: its rows must be contiguous, as this filter adds floats along rows");
    arguments.out = *view;
    planned->execute(arguments, arrays);
    return nb::borrow(out);
  }
  const std::string in_memory = memory_letters(axes, pixels.order);
  NewArray made = arrays.empty(settings.out, extents_of(shape, in_memory, pixels.order));
  arguments.out = View(made.data(), settings.out, shape).in(arrays.place().memory);
  planned->execute(arguments, arrays);
  return arrays.framework().reordered(made.take(), in_memory, axes.letters);
}

}  // namespace

void bind_filters(nb::module_& m) {
  nb::class_<FilterSettings>(m, "FilterSettings");
  m.def("filter_settings", &settings_of, nb::arg("name"), nb::arg("k").none(), nb::arg("r").none(), nb::arg("offset"),
        nb::arg("high"), nb::arg("inverted"), nb::arg("ddof"), nb::arg("size"), nb::arg("anchor"), nb::arg("edge"),
        nb::arg("value"), nb::arg("nan"), nb::arg("mask"), nb::arg("min_count"), nb::arg("fill").none(),
        nb::arg("rounding"), nb::arg("dtype"), nb::arg("algorithm"), nb::arg("backend"), nb::arg("device"),
        nb::arg("threads"), nb::arg("sizes") = false);
  m.def("guided_settings", &guided_settings, nb::arg("eps"), nb::arg("scale"), nb::arg("size"), nb::arg("anchor"),
        nb::arg("edge"), nb::arg("value"), nb::arg("dtype"), nb::arg("algorithm"), nb::arg("backend"),
        nb::arg("device"), nb::arg("threads"));
  m.def("gaussian_settings", &gaussian_settings, nb::arg("sigma"), nb::arg("truncate"), nb::arg("passes"),
        nb::arg("edge"), nb::arg("value"), nb::arg("dtype"), nb::arg("algorithm"), nb::arg("backend"),
        nb::arg("device"), nb::arg("threads"));
  m.def("filter", &filtered, nb::arg("on"), nb::arg("array"), nb::arg("settings"), nb::arg("axes"),
        nb::arg("mask").none(), nb::arg("out").none(), nb::arg("guide").none() = nb::none(),
        nb::arg("sizes").none() = nb::none());
}

}  // namespace areal::python
