// Measures of histograms, and distances of every window's histogram.
#include <areal/error.hpp>
#include <areal/histogram_measures.hpp>
#include <areal/region_histogram.hpp>
#include <array>
#include <utility>
#include <vector>
#include "bindings.hpp"
#include "boxes.hpp"
#include "histogram.hpp"

namespace areal::python {
namespace {

using Numbers = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

/// Throws InvalidArgument with the choices.
Distance distance_of(std::string_view name) {
  const auto known = distance_named(name);
  if (!known)
    throw InvalidArgument("measure " + std::string(name) +
                          ": may be l1, l2, chi-square, hellinger, intersection, emd or kolmogorov-smirnov");
  return *known;
}

/// A measure of float64 histograms, whose last dimension is the bins: one number per histogram; for `normalise` one per
/// bin. `values`: edges, or the target of distances, in host memory, so that a call for a device waits for the copy.
nb::object measure(nb::handle on, std::string_view name, nb::handle histograms, const Numbers& values, double percent,
                   std::string_view distance, int threads) {
  CallArrays arrays{Framework(on)};
  const PythonArray array = arrays.first(histograms, "histograms");
  const ArrayRef& ref = array.ref();
  const auto all = array.span<const double>();
  std::vector<std::int64_t> extents(ref.extents.begin(),
                                    ref.extents.begin() + static_cast<std::ptrdiff_t>(ref.dimensions));
  if (extents.empty()) throw InvalidArgument("histograms: they have no dimension");
  const std::int64_t bins = extents.back();
  if (name != "normalise") extents.pop_back();
  std::size_t answers = 1;
  for (const std::int64_t extent : extents) answers *= static_cast<std::size_t>(extent);
  const bool whole = name == "mode";
  const Span<const double> further(values.data(), values.size());
  const Execution execution = execution_where(arrays, threads);
  NewArray made = arrays.empty(whole ? Type::s64 : Type::f64, extents);
  const MemoryPlace memory = arrays.place().memory;
  without_gil(arrays.on_host(), [&] {
    if (whole)
      return modes(all, bins, Span<std::int64_t>(static_cast<std::int64_t*>(made.data()), answers, memory), execution);
    const Span<double> out(static_cast<double*>(made.data()), answers, memory);
    if (name == "normalise") return normalise(all, bins, out, execution);
    if (name == "entropy") return entropies(all, bins, out, execution);
    if (name == "percentile") return percentiles(all, bins, further, percent, out, execution);
    if (name == "mean") return means(all, bins, further, out, execution);
    distances(distance_of(distance), all, further, out, execution);
  });
  return made.take();
}

/// A call for maps of distances, one for each image: N x rows x columns.
struct MapCall {
  Distance metric;
  Type type;
  std::array<std::int64_t, 2> size;  ///< rows and columns, of the array
  const Numbers& target;
  int threads;

  MapCall(std::string_view measure, const std::string& dtype, std::array<std::int64_t, 2> size_, const Numbers& target_,
          int threads_)
      : metric(distance_of(measure)),
        type(type_of_numpy_name(dtype, "dtype")),
        size(size_),
        target(target_),
        threads(threads_) {
    if (type != Type::f32 && type != Type::f64) throw InvalidArgument("dtype " + dtype + ": may be float32 or float64");
  }

  /// `fill(image, width, height, target, out, execution)` for each image of that shape, as areal sees it.
  template <class Fill>
  nb::object answer(const CallArrays& arrays, const Shape& image, bool has_batch, bool transposed, const Fill& fill) {
    if (transposed) std::swap(size[0], size[1]);
    const auto fitting = [](std::int64_t extent, std::int64_t window) {
      return window > 0 && window <= extent ? extent - window + 1 : std::int64_t{0};
    };
    const Shape shape{fitting(image.width, size[1]), fitting(image.height, size[0]), 1, image.batch};
    const Axes& axes = Axes::of(has_batch ? "NHW" : "HW", has_batch ? 3 : 2);
    const Order order{Layout::interleaved, transposed, 0};
    const std::string letters = memory_letters(axes, order);
    NewArray made = arrays.empty(type, extents_of(shape, letters, order));
    const View out = View(made.data(), type, shape).in(arrays.place().memory);
    const Execution execution = execution_where(arrays, threads);
    const Span<const double> wanted(target.data(), target.size());
    without_gil(arrays.on_host(), [&] {
      for (std::int64_t n = 0; n < shape.batch; ++n) fill(n, size[1], size[0], wanted, plane(out, 0, n), execution);
    });
    return arrays.framework().reordered(made.take(), letters, axes.letters);
  }
};

nb::object map_of_tensor(nb::handle on, nb::handle tensor, const std::string& border, const Numbers& target,
                         std::array<std::int64_t, 2> size, std::string_view measure, const std::string& dtype,
                         int threads) {
  MapCall call(measure, dtype, size, target, threads);
  CallArrays arrays{Framework(on)};
  const HistogramArray of(arrays, tensor, border_of(border));
  const TensorView first = of.view(0);
  const Shape image{first.image_width(), first.image_height(), 1, of.images()};
  return call.answer(arrays, image, of.has_batch(), of.is_transposed(),
                     [&](std::int64_t n, std::int64_t width, std::int64_t height, Span<const double> wanted,
                         const View& out, const Execution& execution) {
                       distance_map(of.view(n), width, height, wanted, call.metric, out, execution);
                     });
}

/// Of an array in host memory, without its tensor.
nb::object map_of_pixels(nb::handle on, nb::handle array, const Binning& binning, std::string_view letters,
                         const Numbers& target, std::array<std::int64_t, 2> size, std::string_view measure,
                         const std::string& dtype, nb::handle copy, int threads) {
  MapCall call(measure, dtype, size, target, threads);
  CallArrays arrays(Framework(on), copy);
  PythonArray image = arrays.first(array, "array");
  const Axes& axes = histogram_axes(letters, image.ref().dimensions);
  const Pixels pixels = arrays.pixels(array, axes, true, false, image);
  return call.answer(arrays, pixels.view.shape, axes.n >= 0, pixels.order.transposed,
                     [&](std::int64_t n, std::int64_t width, std::int64_t height, Span<const double> wanted,
                         const View& out, const Execution& execution) {
                       distance_map(image_of(pixels.view, n), binning, width, height, wanted, call.metric, out,
                                    execution);
                     });
}

}  // namespace

void bind_measures(nb::module_& m) {
  m.def("measure", &measure, nb::arg("on"), nb::arg("name"), nb::arg("histograms"), nb::arg("values"),
        nb::arg("percent"), nb::arg("distance"), nb::arg("threads"));
  m.def("distance_map_of_pixels", &map_of_pixels, nb::arg("on"), nb::arg("array"), nb::arg("binning"), nb::arg("axes"),
        nb::arg("target"), nb::arg("size"), nb::arg("measure"), nb::arg("dtype"), nb::arg("copy").none(),
        nb::arg("threads"));
  m.def("distance_map", &map_of_tensor, nb::arg("on"), nb::arg("tensor"), nb::arg("border"), nb::arg("target"),
        nb::arg("size"), nb::arg("measure"), nb::arg("dtype"), nb::arg("threads"));
}

}  // namespace areal::python
