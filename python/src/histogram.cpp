// Integral histograms of arrays.
#include "histogram.hpp"
#include <algorithm>
#include <areal/error.hpp>
#include <areal/histogram.hpp>
#include <areal/region_histogram.hpp>
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

const Axes& histogram_axes(std::string_view letters, std::size_t dimensions) {
  const Axes& axes = Axes::of(letters, dimensions);
  if (axes.volume) throw InvalidArgument("axes DHW: histograms are of images; use NHW");
  return axes;
}

namespace {

using PlannedHistogram = Planned<HistogramPlan>;

class HistogramPlanOf {
 public:
  HistogramPlanOf(const Binning& binning, const std::vector<std::int64_t>& shape, const std::string& dtype,
                  std::string_view axes, const std::string& counter, const std::string& border, bool weighted,
                  const std::string& algorithm, std::uint64_t memory_limit, const std::string& backend, int device,
                  int threads)
      : binning_(binning), axes_(&histogram_axes(axes, shape.size())), type_(type_of_numpy_name(dtype, "dtype")) {
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
  m.def("counts", &counts, nb::arg("on"), nb::arg("tensor"), nb::arg("border"), nb::arg("boxes"), nb::arg("format"),
        nb::arg("clip"), nb::arg("refused"), nb::arg("as_double"), nb::arg("threads"));
}

}  // namespace areal::python
