// areal.Cascade.
#include <areal/cascade.hpp>
#include <areal/error.hpp>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>
#include "arrays.hpp"
#include "bindings.hpp"
#include "process.hpp"
#include "python_array.hpp"

namespace areal::python {
namespace {

using BoxOfPython = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t>;
using SizeOfPython = std::pair<std::int64_t, std::int64_t>;

std::vector<BoxOfPython> detected(const Cascade& cascade, nb::handle on, nb::handle image, double scale_factor,
                                  std::int64_t min_neighbors, const SizeOfPython& min_size,
                                  const SizeOfPython& max_size, int threads) {
  CallArrays arrays{Framework(on)};
  PythonArray kept = arrays.first(image, "image");
  const Pixels pixels = arrays.pixels(image, Axes::of("HW", kept.ref().dimensions), false, false, kept);
  const DetectOptions options{
      scale_factor, min_neighbors, {min_size.first, min_size.second}, {max_size.first, max_size.second}};
  const Execution execution = execution_of("auto", 0, is_forked_child() ? 1 : threads);
  std::vector<Detection> found;
  without_gil(true, [&] { found = detect(cascade, pixels.view, options, execution); });
  std::vector<BoxOfPython> boxes;
  boxes.reserve(found.size());
  for (const Detection& box : found) boxes.emplace_back(box.x, box.y, box.width, box.height, box.neighbors);
  return boxes;
}

}  // namespace

void bind_cascade(nb::module_& m) {
  nb::class_<Cascade>(m, "CascadeRule")
      .def_static("load", &Cascade::load, nb::arg("path"))
      .def_static(
          "parse", [](const std::string& text) { return Cascade::parse(text); }, nb::arg("text"))
      .def_prop_ro("window",
                   [](const Cascade& cascade) { return SizeOfPython(cascade.window().width, cascade.window().height); })
      .def_prop_ro("kind", [](const Cascade& cascade) { return std::string(name_of(cascade.kind())); })
      .def_prop_ro("stages", &Cascade::stages)
      .def_prop_ro("features", &Cascade::features)
      .def("detect", &detected, nb::arg("on"), nb::arg("image"), nb::arg("scale_factor"), nb::arg("min_neighbors"),
           nb::arg("min_size"), nb::arg("max_size"), nb::arg("threads"));
}

}  // namespace areal::python
