// The class of integral histograms: its array, what it answers, and pickles.
#include "tensor.hpp"

#include <algorithm>
#include <areal/error.hpp>
#include <areal/histogram_measures.hpp>
#include <areal/region_histogram.hpp>
#include <new>
#include <string_view>
#include <utility>
#include "answers.hpp"
#include "bindings.hpp"
#include "regions.hpp"

namespace areal::python {

nb::object tensor_object(Tensor&& tensor) {
  nb::object made = nb::inst_alloc(hooks().histogram_type);
  new (nb::inst_ptr<Tensor>(made)) Tensor(std::move(tensor));
  nb::inst_mark_ready(made);
  return made;
}

Distance distance_of(std::string_view name) {
  const auto known = distance_named(name);
  if (!known)
    throw InvalidArgument("measure " + std::string(name) +
                          ": may be l1, l2, chi-square, hellinger, intersection, emd or kolmogorov-smirnov");
  return *known;
}

namespace {

using Doubles = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Target = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

nb::object array_of(nb::handle self) {
  const Tensor& t = *nb::inst_ptr<Tensor>(self);
  if (t.array.is_valid()) return t.array;
  return numpy_array(t.view, t.tensor_axes(), t.order, self);
}

void load(nb::handle self, nb::object array, nb::object binning, const std::string& letters,
          std::array<std::int64_t, 4> extents, const std::string& border, const std::string& input,
          std::tuple<std::string, std::string, std::string> origin) {
  Tensor t;
  t.axes = &Axes::of(letters, letters.size());
  t.order = {Layout::planar, false, 0};
  const auto read = array_ref(array, "tensor");
  const bool fits = read && read->dimensions == static_cast<std::size_t>(t.tensor_axes().dimensions);
  const auto view = fits ? view_in(*read, t.tensor_axes(), t.order) : std::nullopt;
  if (!view) throw InvalidArgument("tensor: its state is not one that areal wrote");
  t.view = *view, t.array = std::move(array), t.binning = std::move(binning);
  t.border = border_named(border).value();
  t.input = type_of_numpy_name(input, "dtype");
  t.image = image_shape(extents, *t.axes, c_order(extents, *t.axes, false));
  t.origin = std::make_shared<Origin>(Origin{std::get<0>(origin), std::get<1>(origin), std::get<2>(origin)});
  new (nb::inst_ptr<Tensor>(self)) Tensor(std::move(t));
  nb::inst_mark_ready(self);
}

/// Boxes x images x bins: counts in 64 bits, weights in double; in double where `as_double`.
nb::object counts(const Tensor& t, const BoxArray& array, std::string_view format, bool clip, bool refused,
                  bool as_double, int threads) {
  const std::vector<Region> regions = regions_of(array, format, t.order.transposed);
  std::int64_t first_invalid = -1;
  QueryOptions options;
  options.outside = clip ? Outside::clip : Outside::error;
  options.execution = execution_of("auto", 0, threads);
  if (refused) options.first_invalid = Span<std::int64_t>(&first_invalid, 1);
  const auto images = static_cast<std::size_t>(t.view.shape.batch);
  const auto bins = static_cast<std::size_t>(t.view.shape.channels);
  std::vector<std::size_t> further;
  if (t.axes->n >= 0) further.push_back(images);
  further.push_back(bins);
  const auto of = [&](auto zero) {
    using T = decltype(zero);
    return answers<T>(regions.size(), further, [&](Span<T> out) {
      std::vector<T> some(t.axes->n >= 0 ? regions.size() * bins : 0);
      for (std::size_t n = 0; n < images; ++n) {
        const TensorView view = t.view_of(static_cast<std::int64_t>(n));
        if (t.axes->n < 0) return region_histograms(view, regions, out, options);
        region_histograms(view, regions, Span<T>(some), options);
        for (std::size_t i = 0; i < regions.size(); ++i)
          std::copy_n(some.begin() + static_cast<std::ptrdiff_t>(i * bins), bins,
                      out.begin() + static_cast<std::ptrdiff_t>((i * images + n) * bins));
      }
    });
  };
  const nb::object all = as_double || is_float(t.view.type) ? of(0.0) : of(std::uint64_t{});
  return refused ? nb::object(nb::make_tuple(all, first_invalid)) : all;
}

/// What N histograms say, one number each; `normalise` N x bins. `values`: edges, or the target of distances.
nb::object measure(std::string_view name, const Doubles& histograms, const Target& values, double percent,
                   std::string_view distance, int threads) {
  const auto n = histograms.shape(0), bins = histograms.shape(1);
  const Span<const double> all(histograms.data(), n * bins), further(values.data(), values.shape(0));
  const auto of = static_cast<std::int64_t>(bins);
  const Execution execution = execution_of("auto", 0, threads);
  const auto one_each = [&](const auto& ask) { return answers<double>(n, {}, ask); };
  if (name == "normalise")
    return answers<double>(n, {bins}, [&](Span<double> out) { normalise(all, of, out, execution); });
  if (name == "entropy") return one_each([&](Span<double> out) { entropies(all, of, out, execution); });
  if (name == "percentile")
    return one_each([&](Span<double> out) { percentiles(all, of, further, percent, out, execution); });
  if (name == "mean") return one_each([&](Span<double> out) { means(all, of, further, out, execution); });
  if (name == "mode")
    return answers<std::int64_t>(n, {}, [&](Span<std::int64_t> out) { modes(all, of, out, execution); });
  const Distance asked = distance_of(distance);
  return one_each([&](Span<double> out) { distances(asked, all, further, out, execution); });
}

/// Of every window inside the image, for each image.
nb::object map_of_distances(const Tensor& t, const Target& target, std::array<std::int64_t, 2> size,
                            std::string_view name, const std::string& dtype, int threads) {
  const Distance asked = distance_of(name);
  const Type type = type_of_numpy_name(dtype, "dtype");
  if (type != Type::f32 && type != Type::f64) throw InvalidArgument("dtype " + dtype + ": may be float32 or float64");
  std::int64_t height = size[0], width = size[1];
  if (t.order.transposed) std::swap(height, width);
  const auto fitting = [](std::int64_t extent, std::int64_t window) {
    return window > 0 && window <= extent ? extent - window + 1 : std::int64_t{0};
  };
  Array made(
      Shape{fitting(t.image.width, width), fitting(t.image.height, height), 1, t.view.shape.batch, Layout::interleaved},
      type);
  const Execution execution = execution_of("auto", 0, threads);
  const Span<const double> wanted(target.data(), target.shape(0));
  without_gil(true, [&] {
    for (std::int64_t n = 0; n < t.view.shape.batch; ++n)
      distance_map(t.view_of(n), width, height, wanted, asked, plane(made.view(), 0, n), execution);
  });
  return owned_array(std::move(made), t.axes->without_channels(), {Layout::interleaved, t.order.transposed, 0});
}

}  // namespace

void bind_tensor(nb::module_& m) {
  nb::class_<Tensor>(m, "Tensor")
      .def_prop_ro("array", &array_of, nb::sig("def array(self) -> numpy.typing.NDArray[typing.Any]"),
                   "The tensor: bins x H x W, of a batch N x bins x H x W; no copy.")
      .def_prop_ro(
          "binning", [](const Tensor& t) { return t.binning; }, nb::sig("def binning(self) -> typing.Any"),
          "The rule of bins.")
      .def_prop_ro(
          "axes", [](const Tensor& t) { return t.axes->letters; }, "The letters of the dimensions of the pixels.")
      .def_prop_ro(
          "border", [](const Tensor& t) { return std::string(name_of(t.border)); }, "none, zero or exclusive.")
      .def_prop_ro(
          "image_shape",
          [](const Tensor& t) {
            const ArrayShape shape = array_shape(ConstView(nullptr, t.input, t.image), *t.axes, t.order);
            nb::list extents;
            for (std::size_t i = 0; i < shape.dimensions; ++i) extents.append(shape.extents[i]);
            return nb::tuple(extents);
          },
          nb::sig("def image_shape(self) -> tuple[int, ...]"), "The shape of the array that was counted.")
      .def_prop_ro(
          "image_dtype", [](const Tensor& t) { return numpy_name(t.input); }, "The type of the pixels.")
      .def_prop_ro(
          "algorithm", [](const Tensor& t) { return t.origin->algorithm; }, "The id of what made the tensor.")
      .def_prop_ro(
          "reason", [](const Tensor& t) { return t.origin->reason; }, "Why that algorithm and backend.")
      .def_prop_ro(
          "backend", [](const Tensor& t) { return t.origin->backend; }, "cpu, cuda or simt.")
      .def("_load", &load);
  m.def("counts", &counts, nb::arg("tensor"), nb::arg("boxes"), nb::arg("format"), nb::arg("clip"), nb::arg("refused"),
        nb::arg("as_double"), nb::arg("threads"));
  m.def("measure", &measure, nb::arg("name"), nb::arg("histograms"), nb::arg("values"), nb::arg("percent"),
        nb::arg("distance"), nb::arg("threads"));
  m.def("distance_map", &map_of_distances, nb::arg("tensor"), nb::arg("target"), nb::arg("size"), nb::arg("measure"),
        nb::arg("dtype"), nb::arg("threads"));
}

}  // namespace areal::python
