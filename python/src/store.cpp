// Stores of histograms and of quantiles: those that a call builds for its boxes, and those that Python keeps.
#include <algorithm>
#include <areal/error.hpp>
#include <areal/histogram_store.hpp>
#include <areal/region_quantile.hpp>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
#include "bindings.hpp"
#include "histogram.hpp"
#include "process.hpp"

namespace areal::python {
namespace {

/// The options of a store that answers these regions.
StoreOptions store_options(std::string_view name, const char* names, Span<const Region> regions, const Shape& image,
                           bool weighted) {
  StoreOptions options;
  const std::optional<Store> store = store_named(name);
  if (!store) throw InvalidArgument("store '" + std::string(name) + "': it may be " + names);
  options.store = *store;
  options.regions = static_cast<std::int64_t>(regions.size());
  options.weighted = weighted;
  if (!regions.memory().is_host()) return options;  // their area is unknown
  double area = 0;
  for (const Region& region : regions)
    area += static_cast<double>(std::clamp<std::int64_t>(region.width, 0, image.width)) *
            static_cast<double>(std::clamp<std::int64_t>(region.height, 0, image.height));
  options.area = static_cast<std::int64_t>(std::min(area, 9e18));
  return options;
}

/// Where the arrays lie.
Execution execution_at(const CallArrays& arrays, int threads) {
  Execution execution{.backend = Backend::cpu, .threads = threads};
  if (!arrays.on_host()) {
    execution.backend = Backend::cuda, execution.device = arrays.place().memory.device;
    execution.stream = arrays.stream();
  }
  return execution;
}

/// From the store of each image, where it lies: images x boxes x bins, without axes N boxes x bins.
nb::object streamed(nb::handle on, nb::handle array, const Binning& binning, nb::handle boxes, std::string_view letters,
                    std::string_view format, bool clip, nb::handle weights, nb::handle copy, int threads,
                    std::string_view store) {
  CallArrays arrays(Framework(on), copy);
  PythonArray image = arrays.first(array, "array"), weight_array;
  const Axes& axes = histogram_axes(letters, image.ref().dimensions);
  const Pixels pixels = arrays.pixels(array, axes, true, false, image);
  const bool weighted = !weights.is_none();
  ConstView weight;
  if (weighted)
    weight = arrays.view(weights, "weights", axes.without_channels(), {Layout::interleaved, pixels.order.transposed, 0},
                         weight_array);
  const Boxes<Region> items(boxes, format, pixels.order.transposed, arrays);
  const Span<const Region> regions = items.span();
  const std::int64_t images = pixels.view.shape.batch;
  Shape shape = pixels.view.shape;
  shape.batch = 1;
  const StoreOptions wanted = store_options(store, "auto, none, compact or tensor", regions, shape, weighted);
  const StorePlan plan(shape, pixels.view.type, binning, wanted, execution_at(arrays, threads));
  HistogramStore built;
  return histograms_answered(
      arrays, weighted, axes.n >= 0, images, regions.size(), binning.bins(), clip, false, threads,
      [&](std::int64_t n, auto out, const QueryOptions& options) {
        plan.build({image_of(pixels.view, n), weighted ? image_of(weight, n) : ConstView()}, built);
        region_histograms(built, regions, out, options);
      });
}

QuantileMethod method_of(std::string_view name) {
  const std::optional<QuantileMethod> method = quantile_method_named(name);
  if (!method)
    throw InvalidArgument("method '" + std::string(name) +
                          "': it may be linear, lower, higher, nearest, "
                          "midpoint or another one of numpy.quantile");
  return *method;
}

/// Arrays of images x boxes x channels x quantiles, without axes N or C without those: `fill(image, span, options)`.
template <class Fill>
nb::object quantiles_answered(const CallArrays& arrays, const Axes& axes, const Shape& images, std::size_t boxes,
                              std::size_t quantiles, bool clip, int threads, const Fill& fill) {
  std::vector<std::int64_t> extents{static_cast<std::int64_t>(boxes)};
  if (axes.n >= 0) extents.insert(extents.begin(), images.batch);
  if (axes.c >= 0) extents.push_back(images.channels);
  extents.push_back(static_cast<std::int64_t>(quantiles));
  std::int64_t size = sizeof(double);
  for (const std::int64_t extent : extents)
    if (__builtin_mul_overflow(size, extent, &size)) throw InvalidArgument("boxes: their answers do not fit 64 bits");
  return answered(arrays, Type::f64, extents, clip, false, threads, [&](void* data, const QueryOptions& options) {
    const std::size_t each = boxes * static_cast<std::size_t>(images.channels) * quantiles;
    for (std::int64_t n = 0; n < images.batch; ++n)
      fill(n,
           Span<double>(static_cast<double*>(data) + static_cast<std::size_t>(n) * each, each, arrays.place().memory),
           options);
  });
}

/// From the store of each image, where it lies.
nb::object quantiles(nb::handle on, nb::handle array, nb::handle boxes, const std::vector<double>& q,
                     std::string_view method_name, std::string_view letters, std::string_view format, bool clip,
                     nb::handle copy, int threads, std::string_view store, int bits) {
  const QuantileMethod method = method_of(method_name);
  CallArrays arrays(Framework(on), copy);
  PythonArray image = arrays.first(array, "array");
  const Axes& axes = histogram_axes(letters, image.ref().dimensions);
  const Pixels pixels = arrays.pixels(array, axes, true, false, image);
  const Boxes<Region> items(boxes, format, pixels.order.transposed, arrays);
  const Span<const Region> regions = items.span();
  Shape one = pixels.view.shape;
  one.batch = 1;
  StoreOptions wanted = store_options(store, "auto, none or rank", regions, one, false);
  wanted.bits = bits;
  const StorePlan plan(one, pixels.view.type, wanted, execution_at(arrays, threads));
  HistogramStore built;
  return quantiles_answered(arrays, axes, pixels.view.shape, regions.size(), q.size(), clip, threads,
                            [&](std::int64_t n, Span<double> out, const QueryOptions& options) {
                              plan.build({image_of(pixels.view, n)}, built);
                              region_quantiles(built, regions, q, out, method, options);
                            });
}

/// The compact or the rank store of an array's images, where they lie.
class StoreOf {
 public:
  /// A compact store with a binning, else a rank store.
  static StoreOf build(nb::handle on, nb::handle array, const Binning* binning, std::string_view letters,
                       nb::handle mask, nb::handle copy, int threads, int block, int bits, std::uint64_t memory_limit) {
    CallArrays arrays(Framework(on), copy);
    PythonArray image = arrays.first(array, "array"), mask_array;
    const Axes& axes = histogram_axes(letters, image.ref().dimensions);
    const Pixels pixels = arrays.pixels(array, axes, true, false, image);
    StoreArguments arguments{pixels.view};
    if (!mask.is_none())
      arguments.mask = arrays.view(mask, "mask", axes.without_channels(),
                                   {Layout::interleaved, pixels.order.transposed, 0}, mask_array);
    StoreOptions options{.masked = !mask.is_none(), .memory_limit = memory_limit, .block = block, .bits = bits};
    StoreOf made(plan_of(pixels.view.shape, pixels.view.type, binning, options, execution_at(arrays, threads)), axes,
                 pixels.order.transposed);
    made.plan_.require_fit();
    if (!arrays.on_host()) made.place_ = arrays.empty(Type::u8, {1}).take();
    without_gil(arrays.on_host(), [&] { made.store_ = made.plan_.build(arguments); });
    return made;
  }

  /// From the bytes of another one, in host memory.
  static StoreOf restore(nb::handle bytes, const Shape& shape, const std::string& dtype, const Binning* binning,
                         std::string_view letters, bool transposed, bool masked, int block, int bits) {
    const PythonArray from(bytes, std::nullopt, "bytes");
    const Span<const std::uint8_t> all = from.span<const std::uint8_t>();
    Array data({static_cast<std::int64_t>(all.size()), 1}, Type::u8);
    std::memcpy(data.data(), all.data(), all.size());
    const StoreOptions options{.masked = masked, .block = block, .bits = bits};
    StoreOf made(plan_of(shape, type_of_numpy_name(dtype, "dtype"), binning, options, {.backend = Backend::cpu}),
                 Axes::of(letters, letters.size()), transposed);
    made.store_ = made.plan_.restore(std::move(data));
    return made;
  }

  /// Images x boxes x bins, without axes N boxes x bins; in double where `as_double`.
  nb::object counts(nb::handle on, nb::handle boxes, std::string_view format, bool clip, bool refused, bool as_double,
                    int threads) const {
    const CallArrays arrays = arrays_of(on);
    const Boxes<Region> items(boxes, format, transposed_, arrays);
    return histograms_answered(arrays, as_double, axes_->n >= 0, plan_.image_shape().batch, items.span().size(),
                               plan_.binning().bins(), clip, refused, threads,
                               [&](std::int64_t n, auto out, const QueryOptions& options) {
                                 region_histograms(store_.view(n), items.span(), out, options);
                               });
  }

  nb::object quantiles(nb::handle on, nb::handle boxes, const std::vector<double>& q, std::string_view method_name,
                       std::string_view format, bool clip, int threads) const {
    const QuantileMethod method = method_of(method_name);
    const CallArrays arrays = arrays_of(on);
    const Boxes<Region> items(boxes, format, transposed_, arrays);
    return quantiles_answered(arrays, *axes_, plan_.image_shape(), items.span().size(), q.size(), clip, threads,
                              [&](std::int64_t n, Span<double> out, const QueryOptions& options) {
                                region_quantiles(store_.view(n), items.span(), q, out, method, options);
                              });
  }

  /// The arguments of store_restored but the binning and the axes; `bytes` is an array of NumPy.
  nb::dict state() const {
    const Array bytes = store_.to_host();
    const nb::object array = numpy_empty(Type::u8, {static_cast<std::int64_t>(bytes.bytes())});
    std::memcpy(PythonArray::of_host(array, "bytes", true).ref().data, bytes.data(), bytes.bytes());
    const Shape& shape = plan_.image_shape();
    const StoreOptions& options = plan_.options();
    nb::dict state;
    state["bytes"] = array;
    state["width"] = shape.width, state["height"] = shape.height;
    state["channels"] = shape.channels, state["batch"] = shape.batch;
    state["planar"] = shape.layout == Layout::planar;
    state["dtype"] = dtype();
    state["transposed"] = transposed_;
    state["masked"] = options.masked, state["block"] = options.block, state["bits"] = options.bits;
    return state;
  }

  std::uint64_t bytes() const { return store_.bytes(); }
  const char* letters() const noexcept { return axes_->letters; }
  std::string dtype() const { return numpy_name(plan_.image_type()); }
  std::string kind() const { return std::string(name_of(plan_.store())); }
  std::string backend() const { return std::string(name_of(plan_.backend())); }
  int block() const { return plan_.options().block; }
  /// Of the array, in the order of its axes.
  std::vector<std::int64_t> shape() const {
    return extents_of(plan_.image_shape(), axes_->letters, {plan_.image_shape().layout, transposed_, 0});
  }

 private:
  StoreOf(StorePlan plan, const Axes& axes, bool transposed)
      : plan_(std::move(plan)), axes_(&axes), transposed_(transposed) {}

  static StorePlan plan_of(const Shape& shape, Type type, const Binning* binning, StoreOptions options,
                           const Execution& execution) {
    options.store = binning != nullptr ? Store::compact : Store::rank;
    return binning != nullptr ? StorePlan(shape, type, *binning, options, execution)
                              : StorePlan(shape, type, options, execution);
  }

  /// A query's arrays lie where the store does.
  CallArrays arrays_of(nb::handle on) const {
    CallArrays arrays{Framework(on)};
    if (place_.is_valid()) static_cast<void>(arrays.first(place_, "store"));
    return arrays;
  }

  StorePlan plan_;
  HistogramStore store_;
  const Axes* axes_;
  bool transposed_;   ///< H is the innermost dimension: the store is of the transposed image
  nb::object place_;  ///< on a device: an array there, which names it and its framework's stream
};

}  // namespace

void bind_store(nb::module_& m) {
  nb::class_<StoreOf>(m, "StoreOf")
      .def("counts", &StoreOf::counts, nb::arg("on"), nb::arg("boxes"), nb::arg("format"), nb::arg("clip"),
           nb::arg("refused"), nb::arg("as_double"), nb::arg("threads"))
      .def("quantiles", &StoreOf::quantiles, nb::arg("on"), nb::arg("boxes"), nb::arg("q"), nb::arg("method"),
           nb::arg("format"), nb::arg("clip"), nb::arg("threads"))
      .def("state", &StoreOf::state)
      .def_prop_ro("bytes", &StoreOf::bytes)
      .def_prop_ro("axes", &StoreOf::letters)
      .def_prop_ro("dtype", &StoreOf::dtype)
      .def_prop_ro("kind", &StoreOf::kind)
      .def_prop_ro("backend", &StoreOf::backend)
      .def_prop_ro("block", &StoreOf::block)
      .def_prop_ro("shape", &StoreOf::shape);
  m.def("store_of", &StoreOf::build, nb::arg("on"), nb::arg("array"), nb::arg("binning").none(), nb::arg("axes"),
        nb::arg("mask").none(), nb::arg("copy").none(), nb::arg("threads"), nb::arg("block"), nb::arg("bits"),
        nb::arg("memory_limit"));
  m.def(
      "store_restored",
      [](nb::handle bytes, std::int64_t width, std::int64_t height, std::int64_t channels, std::int64_t batch,
         bool planar, const std::string& dtype, bool transposed, bool masked, int block, int bits,
         const Binning* binning, const std::string& axes) {
        const Shape shape{width, height, channels, batch, planar ? Layout::planar : Layout::interleaved};
        return StoreOf::restore(bytes, shape, dtype, binning, axes, transposed, masked, block, bits);
      },
      nb::arg("bytes"), nb::arg("width"), nb::arg("height"), nb::arg("channels"), nb::arg("batch"), nb::arg("planar"),
      nb::arg("dtype"), nb::arg("transposed"), nb::arg("masked"), nb::arg("block"), nb::arg("bits"),
      nb::arg("binning").none(), nb::arg("axes"));
  m.def("histograms", &streamed, nb::arg("on"), nb::arg("array"), nb::arg("binning"), nb::arg("boxes"), nb::arg("axes"),
        nb::arg("format"), nb::arg("clip"), nb::arg("weights").none(), nb::arg("copy").none(), nb::arg("threads"),
        nb::arg("store") = "auto");
  m.def("quantiles", &quantiles, nb::arg("on"), nb::arg("array"), nb::arg("boxes"), nb::arg("q"), nb::arg("method"),
        nb::arg("axes"), nb::arg("format"), nb::arg("clip"), nb::arg("copy").none(), nb::arg("threads"),
        nb::arg("store"), nb::arg("bits"));
}

}  // namespace areal::python
