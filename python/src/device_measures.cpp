// What histograms in arrays of other frameworks say, and distances of every window's.
#include <areal/error.hpp>
#include <areal/histogram_measures.hpp>
#include <areal/region_histogram.hpp>
#include <array>
#include <utility>
#include <vector>
#include "bindings.hpp"
#include "device_arrays.hpp"
#include "process.hpp"
#include "tensor.hpp"

namespace areal::python {
namespace {

Execution execution_beside(const ForeignArray& array, int threads) {
  Execution execution;
  execution.threads = is_forked_child() ? 1 : threads;
  if (!array.memory().is_host()) execution.stream = array.work_stream();
  return execution;
}

/// Of histograms of float64, whose last dimension is the bins: one number each, `normalise` as many as there are.
/// `values`: edges, or the target of distances; the host's, so that a device's call waits for the copy.
nb::object tensor_measure(std::string_view name, nb::handle histograms, const std::vector<double>& values,
                          double percent, std::string_view distance, int threads, nb::object empty, nb::handle stream) {
  const ForeignArray array(histograms, stream_given(stream), "histograms");
  const dl::Tensor& t = array.tensor();
  if (t.ndim < 1) throw InvalidArgument("histograms: they have no dimension");
  std::vector<std::int64_t> extents(t.shape, t.shape + t.ndim);
  const std::int64_t bins = extents.back();
  const auto all = array.span<const double>();
  if (name != "normalise") extents.pop_back();
  std::size_t answers = 1;
  for (const std::int64_t extent : extents) answers *= static_cast<std::size_t>(extent);
  const bool whole = name == "mode";
  const Span<const double> further(values.data(), values.size());
  const Execution execution = execution_beside(array, threads);
  NewArray made = Allocator(array, std::move(empty)).make(whole ? Type::s64 : Type::f64, extents);
  const auto run = [&] {
    if (whole) {
      modes(all, bins, Span<std::int64_t>(static_cast<std::int64_t*>(made.data()), answers, array.memory()), execution);
      return;
    }
    const Span<double> out(static_cast<double*>(made.data()), answers, array.memory());
    if (name == "normalise") return normalise(all, bins, out, execution);
    if (name == "entropy") return entropies(all, bins, out, execution);
    if (name == "percentile") return percentiles(all, bins, further, percent, out, execution);
    if (name == "mean") return means(all, bins, further, out, execution);
    distances(distance_of(distance), all, further, out, execution);
  };
  without_gil(array.memory().is_host(), run);
  return made.take();
}

/// N x rows x columns of the distances between the target and every window's histogram. None where the tensor cannot be
/// read as it lies.
nb::object tensor_distance_map(nb::handle tensor, const std::string& border, const std::vector<double>& target,
                               std::array<std::int64_t, 2> size, std::string_view measure, const std::string& dtype,
                               int threads, nb::object empty, nb::handle stream) {
  const auto known = border_named(border);
  if (!known) throw InvalidArgument("border " + border + ": may be zero, none or exclusive");
  const ForeignArray array(tensor, stream_given(stream), "tensor");
  const auto dimensions = static_cast<std::size_t>(array.tensor().ndim);
  const Axes& axes = Axes::of(dimensions == 4 ? "NCHW" : "CHW", dimensions);
  const Distance asked = distance_of(measure);
  const Type type = type_of_numpy_name(dtype, "dtype");
  if (type != Type::f32 && type != Type::f64) throw InvalidArgument("dtype " + dtype + ": may be float32 or float64");
  Tensor of;
  of.border = *known;
  const std::optional<ConstView> view = view_in(array.ref(), axes, {Layout::planar, false, 0});
  if (!view) return nb::none();
  of.view = *view;
  if (is_signed_integer(of.view.type)) of.view.type = of.view.type == Type::s32 ? Type::u32 : Type::u64;
  const TensorView first = of.view_of(0);
  const auto fitting = [](std::int64_t extent, std::int64_t window) {
    return window > 0 && window <= extent ? extent - window + 1 : std::int64_t{0};
  };
  const Shape shape{fitting(first.image_width(), size[1]), fitting(first.image_height(), size[0]), 1,
                    of.view.shape.batch};
  std::vector<std::int64_t> extents{shape.height, shape.width};
  if (axes.n >= 0) extents.insert(extents.begin(), shape.batch);
  NewArray made = Allocator(array, std::move(empty)).make(type, extents);
  const View out = View(made.data(), type, shape).in(array.memory());
  const Execution execution = execution_beside(array, threads);
  const Span<const double> wanted(target.data(), target.size());
  without_gil(array.memory().is_host(), [&] {
    for (std::int64_t n = 0; n < shape.batch; ++n)
      distance_map(of.view_of(n), size[1], size[0], wanted, asked, plane(out, 0, n), execution);
  });
  return made.take();
}

}  // namespace

void bind_device_measures(nb::module_& m) {
  m.def("tensor_measure", &tensor_measure, nb::arg("name"), nb::arg("histograms"), nb::arg("values"),
        nb::arg("percent"), nb::arg("distance"), nb::arg("threads"), nb::arg("empty").none() = nb::none(),
        nb::arg("stream").none() = nb::none());
  m.def("tensor_distance_map", &tensor_distance_map, nb::arg("tensor"), nb::arg("border"), nb::arg("target"),
        nb::arg("size"), nb::arg("measure"), nb::arg("dtype"), nb::arg("threads"), nb::arg("empty").none() = nb::none(),
        nb::arg("stream").none() = nb::none());
}

}  // namespace areal::python
