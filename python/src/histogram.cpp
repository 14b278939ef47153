// Integral histograms of arrays: plans and their calls.
#include <areal/error.hpp>
#include <areal/histogram.hpp>
#include <areal/region_histogram.hpp>
#include <array>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
#include "answers.hpp"
#include "bindings.hpp"
#include "copies.hpp"
#include "regions.hpp"
#include "tensor.hpp"

namespace areal::python {

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
    const auto known = border_named(border);
    if (!known) throw InvalidArgument("border " + border + ": may be zero, none or exclusive");
    options_.border = *known;
    options_.counter = type_of_numpy_name(counter, "dtype");
    options_.weighted = weighted;
    options_.algorithm = algorithm;
    options_.memory_limit = memory_limit;
    execution_ = execution_of(backend, device, threads);
    first_ = get(image_shape(extents_, *axes_, c_order(extents_, *axes_, false)));
  }

  nb::object execute(nb::handle binning, nb::handle array, nb::handle out, nb::handle weights, nb::handle copy) {
    const Copies copies(copy);
    ArrayRef read = copies.read(array, "array");
    if (read.dimensions != static_cast<std::size_t>(axes_->dimensions) || read.extents != extents_ ||
        read.type != type_)
      refuse(read);
    std::optional<Pixels> pixels = pixels_of(read, *axes_, true, false);
    Tensor tensor;
    tensor.axes = axes_;
    std::optional<ArrayRef> room;
    if (!out.is_none()) {
      room = array_ref(out, "out", true);
      if (!room) throw InvalidArgument("out: it must be a writable array");
      tensor.array = nb::borrow(out);
    }
    const auto copied = [&](const Order& order) {
      read = copies.of(array, "array", axes_->letters, memory_letters(*axes_, order));
      pixels = Pixels{view_in(read, *axes_, order).value(), order};
    };
    if (!pixels) copied(c_order(extents_, *axes_, false));
    HistogramArguments arguments;
    auto planned = get(pixels->view.shape);
    if (room) {
      const auto place = [&] {
        tensor.order = {Layout::planar, pixels->order.transposed, 0};
        const ConstView wanted(nullptr, options_.counter, planned->plan.tensor_shape());
        require_like(*room, array_shape(wanted, tensor.tensor_axes(), tensor.order), options_.counter);
        return room_in(*room, tensor.tensor_axes(), tensor.order);
      };
      std::optional<View> view = place();
      if (!view) {  // transposed
        Order order = c_order(extents_, *axes_, false);
        order.transposed = !pixels->order.transposed;
        copied(order);
        planned = get(pixels->view.shape);
        view = place();
      }
      if (!view)
        throw InvalidArgument(
            "out: it cannot be written in place; rows need a positive pitch, and elements may not lie apart");
      arguments.tensor = *view;
    } else {
      tensor.order = {Layout::planar, pixels->order.transposed, 0};
      planned->plan.require_fit();
      tensor.owned = planned->plan.allocate(MemoryPlace{});
      arguments.tensor = tensor.owned.tensor();
    }
    arguments.image = pixels->view;
    ArrayRef weight_array;
    if (!weights.is_none())
      arguments.weights = copies.view(weights, "weights", axes_->without_channels(),
                                      {Layout::interleaved, pixels->order.transposed, 0}, weight_array);
    PlannedHistogram::Taken(*planned).execute(arguments);
    tensor.view = arguments.tensor;
    tensor.binning = nb::borrow(binning);
    tensor.border = options_.border, tensor.input = type_;
    tensor.image = pixels->view.shape, tensor.origin = planned->origin;
    return tensor_object(std::move(tensor));
  }

  const HistogramPlan& plan() const noexcept { return first_->plan; }
  const char* letters() const noexcept { return axes_->letters; }

 private:
  std::shared_ptr<PlannedHistogram> get(const Shape& image) {
    const std::lock_guard lock(mutex_);
    for (const auto& planned : plans_)
      if (planned->plan.image_shape() == image) return planned;
    plans_.push_back(std::make_shared<PlannedHistogram>(image, type_, binning_, options_, execution_));
    return plans_.back();
  }
  [[noreturn]] void refuse(const ArrayRef& array) const {
    ArrayRef wanted;
    wanted.dimensions = static_cast<std::size_t>(axes_->dimensions), wanted.extents = extents_;
    throw InvalidArgument("array: one of " + ArrayShape::of(array).words() + ", " + numpy_name(array.type) +
                          "; this plan is for " + ArrayShape::of(wanted).words() + ", " + numpy_name(type_));
  }

  Binning binning_;
  const Axes* axes_;
  Type type_;
  std::array<std::int64_t, 4> extents_{};
  HistogramOptions options_;
  Execution execution_;
  std::mutex mutex_;
  std::vector<std::shared_ptr<PlannedHistogram>> plans_;  ///< one for each order in which arrays lie in memory
  std::shared_ptr<PlannedHistogram> first_;               ///< for arrays in C order
};

/// Straight from the pixels: boxes x images x bins.
nb::object streamed(nb::handle array, const Binning& binning, const BoxArray& boxes, std::string_view letters,
                    std::string_view format, bool clip, nb::handle weights, nb::handle copy, int threads) {
  const Copies copies(copy);
  ArrayRef read = copies.read(array, "array"), weight_array;
  const Axes& axes = axes_of(letters, read.dimensions);
  std::optional<Pixels> pixels = pixels_of(read, axes, true, false);
  if (!pixels) {
    const Order order = c_order(read.extents, axes, false);
    read = copies.of(array, "array", axes.letters, memory_letters(axes, order));
    pixels = Pixels{view_in(read, axes, order).value(), order};
  }
  ConstView weight;
  if (!weights.is_none())
    weight = copies.view(weights, "weights", axes.without_channels(),
                         {Layout::interleaved, pixels->order.transposed, 0}, weight_array);
  const std::vector<Region> regions = regions_of(boxes, format, pixels->order.transposed);
  QueryOptions options;
  options.outside = clip ? Outside::clip : Outside::error;
  options.execution = execution_of("auto", 0, threads);
  const auto images = static_cast<std::size_t>(pixels->view.shape.batch);
  const auto bins = static_cast<std::size_t>(binning.bins());
  std::vector<std::size_t> further;
  if (axes.n >= 0) further.push_back(images);
  further.push_back(bins);
  const auto one = [](ConstView all, std::size_t n) {
    all.data = all.row(0, 0, static_cast<std::int64_t>(n));
    all.shape.batch = 1;
    return all;
  };
  const auto each_image = [&](auto zero, const auto& count) {
    using T = decltype(zero);
    return answers<T>(regions.size(), further, [&](Span<T> out) {
      if (axes.n < 0) return count(0, out);
      std::vector<T> some(regions.size() * bins);
      for (std::size_t n = 0; n < images; ++n) {
        count(n, Span<T>(some));
        for (std::size_t i = 0; i < regions.size(); ++i)
          std::copy_n(some.begin() + static_cast<std::ptrdiff_t>(i * bins), bins,
                      out.begin() + static_cast<std::ptrdiff_t>((i * images + n) * bins));
      }
    });
  };
  if (!weights.is_none())
    return each_image(0.0, [&](std::size_t n, Span<double> out) {
      region_histograms(one(pixels->view, n), binning, one(weight, n), regions, out, options);
    });
  return each_image(std::uint64_t{}, [&](std::size_t n, Span<std::uint64_t> out) {
    region_histograms(one(pixels->view, n), binning, regions, out, options);
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
      .def("execute", &HistogramPlanOf::execute, nb::arg("binning"), nb::arg("x"), nb::arg("out").none(),
           nb::arg("weights").none(), nb::arg("copy").none(), "What a call of the plan does.")
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
  m.def("histograms", &streamed, nb::arg("array"), nb::arg("binning"), nb::arg("boxes"), nb::arg("axes"),
        nb::arg("format"), nb::arg("clip"), nb::arg("weights").none(), nb::arg("copy").none(), nb::arg("threads"));
}

}  // namespace areal::python
