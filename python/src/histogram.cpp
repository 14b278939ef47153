// Integral histograms of arrays, and histograms of boxes straight from host images.
#include "histogram.hpp"
#include <algorithm>
#include <areal/error.hpp>
#include <areal/histogram.hpp>
#include <areal/histogram_store.hpp>
#include <areal/region_histogram.hpp>
#include <areal/region_quantile.hpp>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
#include "bindings.hpp"
#include "boxes.hpp"
#include "planned.hpp"
#include "recently_used.hpp"

namespace areal::python {

HistogramArray::HistogramArray(CallArrays& arrays, nb::handle tensor, Border border)
    : array_(arrays.first(tensor, "tensor")), border_(border) {
  const std::size_t dimensions = array_.ref().dimensions;
  const Axes& axes = Axes::of(dimensions == 4 ? "NCHW" : "CHW", dimensions);
  std::optional<ConstView> view;
  for (const bool transposed : {false, true})
    if (!view && (!transposed || arrays.on_host())) {
      order_ = {Layout::planar, transposed, 0};
      view = view_in(array_.ref(), axes, order_);
    }
  if (!view) {
    order_ = {Layout::planar, false, 0};
    array_ = arrays.copied(tensor, "tensor", axes.letters, memory_letters(axes, order_));
    view = view_in(array_.ref(), axes, order_).value();
  }
  view_ = *view;
  view_.type = unsigned_type(view_.type);
}

namespace {

using PlannedHistogram = Planned<HistogramPlan>;

const Axes& axes_of(std::string_view letters, std::size_t dimensions) {
  const Axes& axes = Axes::of(letters, dimensions);
  if (axes.volume) throw InvalidArgument("axes DHW: histograms are of images; use NHW");
  return axes;
}

class HistogramPlanOf {
 public:
  HistogramPlanOf(const Binning& binning, const std::vector<std::int64_t>& shape, const std::string& dtype,
                  std::string_view axes, const std::string& counter, const std::string& border, bool weighted,
                  const std::string& algorithm, std::uint64_t memory_limit, const std::string& backend, int device,
                  int threads)
      : binning_(binning), axes_(&axes_of(axes, shape.size())), type_(type_of_numpy_name(dtype, "dtype")) {
    for (std::size_t i = 0; i < shape.size(); ++i) {
      if (shape[i] < 0) throw InvalidArgument("shape: an extent of " + std::to_string(shape[i]));
      extents_[i] = shape[i];
    }
    options_.border = border_of(border);
    seen_as_ = type_of_numpy_name(counter, "dtype");
    options_.counter = unsigned_type(seen_as_);
    options_.weighted = weighted;
    options_.algorithm = algorithm;
    options_.memory_limit = memory_limit;
    execution_ = execution_of(backend, device, threads);
    const Order order = c_order(extents_, *axes_, false);
    first_ = get({image_shape(extents_, *axes_, order), type_, order.layout, axes_});
  }

  /// The tensor, an array of the framework; algorithm, reason and backend.
  nb::object execute(nb::handle on, nb::handle array, nb::handle out, nb::handle weights, nb::handle copy) {
    CallArrays arrays(Framework(on), copy);
    PythonArray image = arrays.first(array, "array"), weight_array;
    require_planned(image.ref(), *axes_, extents_, type_);
    // Queries on a device need tensors in the order of the axes.
    Pixels pixels = arrays.pixels(array, *axes_, arrays.on_host(), false, image);
    const Axes& axes = Axes::of(axes_->n >= 0 ? "NCHW" : "CHW", axes_->n >= 0 ? 4 : 3);
    std::shared_ptr<PlannedHistogram> planned = get_for(pixels, arrays);
    HistogramArguments arguments;
    NewArray made;
    if (out.is_none()) {
      if (arrays.on_host()) planned->plan.require_fit();
      const Shape shape = planned->plan.tensor_shape();
      const Order order{Layout::planar, pixels.order.transposed, 0};
      made = arrays.empty(seen_as_, extents_of(shape, memory_letters(axes, order), order));
      arguments.tensor = View(made.data(), options_.counter, shape).in(arrays.place().memory);
    } else {
      const PythonArray given = arrays.writable(out);
      const auto place = [&] {
        const Order order{Layout::planar, pixels.order.transposed, 0};
        const ConstView wanted(nullptr, seen_as_, planned->plan.tensor_shape());
        require_like(given.ref(), array_shape(wanted, axes, order), seen_as_);
        return writable_view(given.ref(), axes, order);
      };
      std::optional<View> view = place();
      if (!view) {  // transposed
        Order order = c_order(extents_, *axes_, false);
        order.transposed = !pixels.order.transposed;
        image = arrays.copied(array, "array", axes_->letters, memory_letters(*axes_, order));
        pixels = {view_in(image.ref(), *axes_, order).value(), order};
        planned = get_for(pixels, arrays);
        view = place();
      }
      if (!view)
        throw InvalidArgument(
            "out: it cannot be written in place; rows need a positive pitch, and elements may not lie apart");
      arguments.tensor = *view;
      arguments.tensor.type = options_.counter;
    }
    arguments.image = pixels.view;
    if (!weights.is_none())
      arguments.weights = arrays.view(weights, "weights", axes_->without_channels(),
                                      {Layout::interleaved, pixels.order.transposed, 0}, weight_array);
    planned->execute(arguments, arrays);
    const HistogramPlan& plan = planned->plan;
    nb::object tensor = nb::borrow(out);
    if (out.is_none())
      tensor = arrays.framework().reordered(
          made.take(), memory_letters(axes, {Layout::planar, pixels.order.transposed, 0}), axes.letters);
    return nb::make_tuple(tensor, plan.algorithm(), plan.reason(), name_of(plan.backend()));
  }

  const HistogramPlan& plan() const noexcept { return first_->plan; }
  const char* letters() const noexcept { return axes_->letters; }

 private:
  std::shared_ptr<PlannedHistogram> get(PlanKey key) {
    key.is_forked = is_forked_child();
    return plans_.get(key, [&] {
      return std::make_shared<PlannedHistogram>(key.image, type_, binning_, options_, execution_for(execution_, key));
    });
  }
  std::shared_ptr<PlannedHistogram> get_for(const Pixels& pixels, const CallArrays& arrays) {
    PlanKey key{pixels.view.shape, type_, Layout::planar, axes_, arrays.place().memory};
    key.is_numpy = arrays.framework().is_numpy();
    return get(key);
  }
  Binning binning_;
  const Axes* axes_;
  Type type_, seen_as_ = Type::u32;  ///< of the pixels; of the framework's tensor, perhaps the counter with a sign
  std::array<std::int64_t, 4> extents_{};
  HistogramOptions options_;
  Execution execution_;
  RecentlyUsed<PlanKey, PlannedHistogram> plans_;
  std::shared_ptr<PlannedHistogram> first_;  ///< for NumPy's arrays in C order
};

/// Arrays of images x boxes x bins, int64 or NumPy's uint64, or double: `fill(image, span, options)`.
template <class Fill>
nb::object histograms_answered(const CallArrays& arrays, bool as_double, bool has_batch, std::int64_t images,
                               std::size_t boxes, std::int64_t bins, bool clip, bool refused, int threads,
                               const Fill& fill) {
  std::vector<std::int64_t> extents{static_cast<std::int64_t>(boxes), bins};
  if (has_batch) extents.insert(extents.begin(), images);
  std::int64_t size = 0;
  if (__builtin_mul_overflow(extents[0], extents[1], &size) || (has_batch && __builtin_mul_overflow(size, bins, &size)))
    throw InvalidArgument("boxes: their answers do not fit 64 bits");
  const std::size_t each = boxes * static_cast<std::size_t>(bins);
  const Type type = as_double ? Type::f64 : arrays.framework().is_numpy() ? Type::u64 : Type::s64;
  return answered(arrays, type, extents, clip, refused, threads, [&](void* data, const QueryOptions& options) {
    for (std::int64_t n = 0; n < images; ++n) {
      const std::size_t first = static_cast<std::size_t>(n) * each;
      if (as_double)
        fill(n, Span<double>(static_cast<double*>(data) + first, each, arrays.place().memory), options);
      else
        fill(n, Span<std::uint64_t>(static_cast<std::uint64_t*>(data) + first, each, arrays.place().memory), options);
    }
  });
}

/// What a store is told of the regions that it will answer about.
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

ConstView image_of(ConstView all, std::int64_t n) {
  all.data = all.row(0, 0, n);
  all.shape.batch = 1;
  return all;
}

/// From the store of each image, where it lies: images x boxes x bins, without axes N boxes x bins.
nb::object streamed(nb::handle on, nb::handle array, const Binning& binning, nb::handle boxes, std::string_view letters,
                    std::string_view format, bool clip, nb::handle weights, nb::handle copy, int threads,
                    std::string_view store) {
  CallArrays arrays(Framework(on), copy);
  PythonArray image = arrays.first(array, "array"), weight_array;
  const Axes& axes = axes_of(letters, image.ref().dimensions);
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

/// From the store of each image, where it lies: images x boxes x channels x quantiles, without axes N or C without
/// those.
nb::object quantiles(nb::handle on, nb::handle array, nb::handle boxes, const std::vector<double>& q,
                     std::string_view method_name, std::string_view letters, std::string_view format, bool clip,
                     nb::handle copy, int threads, std::string_view store, int bits) {
  const std::optional<QuantileMethod> method = quantile_method_named(method_name);
  if (!method)
    throw InvalidArgument("method '" + std::string(method_name) +
                          "': it may be linear, lower, higher, nearest, "
                          "midpoint or another one of numpy.quantile");
  CallArrays arrays(Framework(on), copy);
  PythonArray image = arrays.first(array, "array");
  const Axes& axes = axes_of(letters, image.ref().dimensions);
  const Pixels pixels = arrays.pixels(array, axes, true, false, image);
  const Boxes<Region> items(boxes, format, pixels.order.transposed, arrays);
  const Span<const Region> regions = items.span();
  Shape shape = pixels.view.shape;
  const std::int64_t images = shape.batch;
  shape.batch = 1;
  StoreOptions wanted = store_options(store, "auto, none or rank", regions, shape, false);
  wanted.bits = bits;
  const StorePlan plan(shape, pixels.view.type, wanted, execution_at(arrays, threads));
  std::vector<std::int64_t> extents{static_cast<std::int64_t>(regions.size())};
  if (axes.n >= 0) extents.insert(extents.begin(), images);
  if (axes.c >= 0) extents.push_back(shape.channels);
  extents.push_back(static_cast<std::int64_t>(q.size()));
  std::int64_t size = sizeof(double);
  for (const std::int64_t extent : extents)
    if (__builtin_mul_overflow(size, extent, &size)) throw InvalidArgument("boxes: their answers do not fit 64 bits");
  HistogramStore built;
  return answered(arrays, Type::f64, extents, clip, false, threads, [&](void* data, const QueryOptions& options) {
    const std::size_t each = regions.size() * static_cast<std::size_t>(shape.channels) * q.size();
    for (std::int64_t n = 0; n < images; ++n) {
      plan.build({image_of(pixels.view, n)}, built);
      region_quantiles(
          built, regions, q,
          Span<double>(static_cast<double*>(data) + static_cast<std::size_t>(n) * each, each, arrays.place().memory),
          *method, options);
    }
  });
}

/// From a tensor: images x boxes x bins, without a batch boxes x bins; in double where `as_double`.
nb::object counts(nb::handle on, nb::handle tensor, const std::string& border, nb::handle boxes,
                  std::string_view format, bool clip, bool refused, bool as_double, int threads) {
  CallArrays arrays{Framework(on)};
  const HistogramArray of(arrays, tensor, border_of(border));
  const Boxes<Region> items(boxes, format, of.is_transposed(), arrays);
  const Span<const Region> regions = items.span();
  return histograms_answered(arrays, as_double || is_float(of.type()), of.has_batch(), of.images(), regions.size(),
                             of.bins(), clip, refused, threads,
                             [&](std::int64_t n, auto out, const QueryOptions& options) {
                               region_histograms(of.view(n), regions, out, options);
                             });
}

}  // namespace

void bind_histogram(nb::module_& m) {
  nb::class_<HistogramPlanOf>(m, "HistogramPlan")
      .def(nb::init<const Binning&, const std::vector<std::int64_t>&, const std::string&, std::string_view,
                    const std::string&, const std::string&, bool, const std::string&, std::uint64_t, const std::string&,
                    int, int>(),
           nb::arg("binning"), nb::arg("shape"), nb::arg("dtype"), nb::arg("axes"), nb::arg("counter"),
           nb::arg("border"), nb::arg("weighted"), nb::arg("algorithm"), nb::arg("memory_limit"), nb::arg("backend"),
           nb::arg("device"), nb::arg("threads"))
      .def("execute", &HistogramPlanOf::execute, nb::arg("on"), nb::arg("x"), nb::arg("out").none(),
           nb::arg("weights").none(), nb::arg("copy").none(),
           nb::sig("def execute(self, on: object, x: object, out: object | None, weights: object | None, copy: object "
                   "| None) -> tuple[typing.Any, str, str, str]"),
           "What a call of the plan does.")
      .def_prop_ro("axes", &HistogramPlanOf::letters, "The letters of the dimensions.")
      .def_prop_ro(
          "algorithm", [](const HistogramPlanOf& p) { return p.plan().algorithm(); },
          "The id of what makes the tensor.")
      .def_prop_ro(
          "reason", [](const HistogramPlanOf& p) { return p.plan().reason(); }, "Why that algorithm and backend.")
      .def_prop_ro(
          "backend", [](const HistogramPlanOf& p) { return std::string(name_of(p.plan().backend())); },
          "cpu, cuda or simt.")
      .def_prop_ro(
          "tensor_bytes", [](const HistogramPlanOf& p) { return p.plan().tensor_bytes(); }, "Of one tensor.");
  m.def("histograms", &streamed, nb::arg("on"), nb::arg("array"), nb::arg("binning"), nb::arg("boxes"), nb::arg("axes"),
        nb::arg("format"), nb::arg("clip"), nb::arg("weights").none(), nb::arg("copy").none(), nb::arg("threads"),
        nb::arg("store") = "auto");
  m.def("quantiles", &quantiles, nb::arg("on"), nb::arg("array"), nb::arg("boxes"), nb::arg("q"), nb::arg("method"),
        nb::arg("axes"), nb::arg("format"), nb::arg("clip"), nb::arg("copy").none(), nb::arg("threads"),
        nb::arg("store"), nb::arg("bits"));
  m.def("counts", &counts, nb::arg("on"), nb::arg("tensor"), nb::arg("border"), nb::arg("boxes"), nb::arg("format"),
        nb::arg("clip"), nb::arg("refused"), nb::arg("as_double"), nb::arg("threads"));
}

}  // namespace areal::python
