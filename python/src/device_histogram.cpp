// Integral histograms of arrays of other frameworks, and histograms of boxes straight from host images.
#include <nanobind/stl/shared_ptr.h>
#include <algorithm>
#include <areal/binning.hpp>
#include <areal/histogram.hpp>
#include <areal/region_histogram.hpp>
#include <atomic>
#include <limits>
#include <memory>
#include <utility>
#include "bindings.hpp"
#include "device_arrays.hpp"
#include "device_workspaces.hpp"
#include "planned.hpp"
#include "process.hpp"
#include "regions.hpp"
#include "spelled_binning.hpp"

namespace areal::python {
namespace {

struct TensorBinning {
  Binning binning;
  std::uint64_t number;  ///< its own
};

std::uint64_t next_number() {
  static std::atomic<std::uint64_t> made_before{0};
  return ++made_before;
}

struct TensorHistogramPlan {
  explicit TensorHistogramPlan(HistogramPlan of) : plan(std::move(of)) {}
  HistogramPlan plan;
  Workspaces workspaces;
};

struct PlanKey {
  Shape shape;
  Type type;
  std::uint64_t binning;
  Type counter;
  bool weighted, forked;
  Border border;
  std::string algorithm;
  int threads;
  MemoryPlace place;
  friend bool operator==(const PlanKey&, const PlanKey&) = default;
};

std::shared_ptr<TensorHistogramPlan> plan_of(const PlanKey& key, const TensorBinning& binning) {
  static auto& recent = *new RecentlyUsed<PlanKey, TensorHistogramPlan>;
  return recent.get(key, [&] {
    HistogramOptions options;
    options.border = key.border, options.counter = key.counter, options.weighted = key.weighted;
    options.algorithm = key.algorithm;
    Execution execution;
    execution.backend = key.place.is_host() ? Backend::cpu : Backend::cuda;
    execution.device = key.place.device, execution.threads = key.threads;
    return std::make_shared<TensorHistogramPlan>(
        HistogramPlan(key.shape, key.type, binning.binning, options, execution));
  });
}

/// The counter of a dtype's name, and the type that the framework's tensor has.
std::pair<Type, Type> counter_of(const std::string& dtype) {
  const Type asked = type_of_numpy_name(dtype, "dtype");
  if (asked == Type::s32) return {Type::u32, asked};
  if (asked == Type::s64) return {Type::u64, asked};
  return {asked, asked};
}

/// N x bins x H x W. None where the arrays cannot be read as they lie.
nb::object tensor_histogram(nb::handle x, const TensorBinning& binning, nb::handle weights, std::string_view letters,
                            const std::string& border, const std::string& dtype, const std::string& algorithm,
                            int threads, nb::object empty, nb::handle stream) {
  const ForeignArray image(x, stream_given(stream), "array");
  const Axes& axes = Axes::of(letters, static_cast<std::size_t>(image.tensor().ndim));
  if (axes.volume) throw InvalidArgument("axes DHW: volumes have no integral histograms");
  const auto known = border_named(border);
  if (!known) throw InvalidArgument("border " + border + ": may be zero, none or exclusive");
  const std::optional<Pixels> pixels = pixels_of(image.ref(), axes, false, false);
  if (!pixels) return nb::none();
  const bool on_host = image.memory().is_host();
  std::optional<ForeignArray> weight;
  ConstView weight_view;
  if (!weights.is_none()) {
    weight.emplace(weights, on_host ? std::nullopt : std::optional(image.work_stream()), "weights");
    if (!(weight->memory() == image.memory())) throw InvalidArgument("weights: they must lie where the array does");
    const Axes& plain = Axes::of(axes.without_channels().letters, static_cast<std::size_t>(weight->tensor().ndim));
    const std::optional<ConstView> view = view_in(weight->ref(), plain, {Layout::interleaved, false, 0});
    if (!view) return nb::none();
    weight_view = *view;
  }
  const auto [counter, as] = counter_of(dtype);
  const bool forked = is_forked_child();
  const auto planned = plan_of({pixels->view.shape, pixels->view.type, binning.number, counter, !weights.is_none(),
                                forked, *known, algorithm, forked ? 1 : threads, image.memory()},
                               binning);
  const HistogramPlan& plan = planned->plan;
  if (on_host) plan.require_fit();
  const Shape shape = plan.tensor_shape();
  std::vector<std::int64_t> extents;
  if (axes.n >= 0) extents.push_back(shape.batch);
  extents.insert(extents.end(), {shape.channels, shape.height, shape.width});
  const Allocator allocator(image, std::move(empty));
  NewArray made = allocator.make(as, extents);
  HistogramArguments arguments;
  arguments.image = pixels->view, arguments.weights = weight_view;
  arguments.tensor = View(made.data(), counter, shape).in(image.memory());
  if (on_host) {
    without_gil(plan.tensor_bytes() >= long_bytes, [&] {
      Workspace workspace(plan);
      plan.execute(arguments, workspace);
    });
  } else {
    Workspaces::Ready ready = planned->workspaces.get(plan, allocator, image.work_stream());
    {
      const nb::gil_scoped_release released;
      plan.execute(arguments, ready.workspace);
    }
    planned->workspaces.put(std::move(ready));
  }
  return made.take();
}

/// Boxes x bins of one host image, int64 or with weights float64, and the first box that cannot be answered where
/// `refused`. Rows are streamed: no tensor.
nb::object tensor_histograms(nb::handle x, const TensorBinning& binning, nb::handle weights, nb::handle boxes,
                             std::string_view format, std::string_view letters, bool clip, int threads, bool refused) {
  const ForeignArray image(x, std::nullopt, "array"), of_boxes(boxes, std::nullopt, "boxes");
  const Axes& axes = Axes::of(letters, static_cast<std::size_t>(image.tensor().ndim));
  if (axes.n >= 0) throw InvalidArgument("axes " + std::string(letters) + ": histograms of boxes are of one image");
  const std::optional<Pixels> pixels = pixels_of(image.ref(), axes, false, false);
  if (!pixels) return nb::none();
  std::optional<ForeignArray> weight;
  ConstView weight_view;
  if (!weights.is_none()) {
    weight.emplace(weights, std::nullopt, "weights");
    const std::optional<ConstView> view =
        view_in(weight->ref(), Axes::of("HW", static_cast<std::size_t>(weight->tensor().ndim)),
                {Layout::interleaved, false, 0});
    if (!view) return nb::none();
    weight_view = *view;
  }
  const dl::Tensor& t = of_boxes.tensor();
  if (t.ndim != 2 || t.shape[1] != 4 || of_boxes.type() != Type::s64 || !of_boxes.memory().is_host())
    throw InvalidArgument("boxes: they must be N x 4 numbers of int64 in host memory");
  const std::size_t extents[2] = {static_cast<std::size_t>(t.shape[0]), 4};
  const BoxArray numbers(static_cast<const std::int64_t*>(of_boxes.data()), 2, extents, {}, t.strides);
  const std::vector<Region> regions = regions_of(numbers, format, false);
  const bool weighted = !weights.is_none();
  const Allocator allocator(image, nb::none());
  const std::int64_t bins = binning.binning.bins();
  NewArray made = allocator.make(weighted ? Type::f64 : Type::s64, {t.shape[0], bins});
  const auto size = static_cast<std::size_t>(t.shape[0] * bins);
  QueryOptions options;
  std::int64_t first = -1;
  options.outside = clip ? Outside::clip : Outside::error;
  options.execution.threads = is_forked_child() ? 1 : threads;
  if (refused) options.first_invalid = Span<std::int64_t>(&first, 1);
  without_gil(true, [&] {
    if (weighted)
      region_histograms(pixels->view, binning.binning, weight_view, regions,
                        Span<double>(static_cast<double*>(made.data()), size), options);
    else
      region_histograms(pixels->view, binning.binning, regions,
                        Span<std::uint64_t>(static_cast<std::uint64_t*>(made.data()), size), options);
  });
  return nb::make_tuple(made.take(), first);
}

}  // namespace

void bind_device_histogram(nb::module_& m) {
  nb::class_<TensorBinning>(m, "TensorBinning")
      .def_prop_ro("bins", [](const TensorBinning& b) { return b.binning.bins(); })
      .def_prop_ro("edges", [](const TensorBinning& b) { return b.binning.bin_edges(); });
  m.def(
      "tensor_binning",
      [](const std::string& kind, std::int64_t bins, const std::vector<double>& numbers,
         const std::vector<std::int64_t>& table, bool clamp, std::optional<std::int64_t> ignored) {
        return TensorBinning{spelled_binning(kind, bins, numbers, table, clamp, ignored), next_number()};
      },
      nb::arg("kind"), nb::arg("bins"), nb::arg("numbers"), nb::arg("table"), nb::arg("clamp"),
      nb::arg("ignored").none());
  m.def("tensor_binning_of", [](const Binning& binning) { return TensorBinning{binning, next_number()}; });
  m.def("tensor_histogram", &tensor_histogram, nb::arg("array"), nb::arg("binning"), nb::arg("weights").none(),
        nb::arg("axes"), nb::arg("border"), nb::arg("dtype"), nb::arg("algorithm"), nb::arg("threads"),
        nb::arg("empty").none() = nb::none(), nb::arg("stream").none() = nb::none());
  m.def("tensor_histograms", &tensor_histograms, nb::arg("array"), nb::arg("binning"), nb::arg("weights").none(),
        nb::arg("boxes"), nb::arg("format"), nb::arg("axes"), nb::arg("clip"), nb::arg("threads"), nb::arg("refused"));
}

}  // namespace areal::python
