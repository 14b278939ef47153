// Windows of tables in NumPy's arrays.
#include "windows.hpp"
#include <areal/array.hpp>
#include <areal/error.hpp>
#include <array>
#include <string>
#include <utility>
#include "answers.hpp"
#include "bindings.hpp"
#include "table.hpp"

namespace areal::python {

Statistic statistic_of(std::string_view name) {
  if (name == "sum") return Statistic::sum;
  if (name == "mean") return Statistic::mean;
  if (name == "var") return Statistic::variance;
  if (name == "std") return Statistic::deviation;
  throw InvalidArgument("stat " + std::string(name) + ": may be sum, mean, var or std");
}

Edge edge_of(std::string_view name) {
  constexpr std::pair<std::string_view, Edge> edges[] = {
      {"valid", Edge::valid},     {"shrink", Edge::shrink},       {"zero", Edge::zero}, {"replicate", Edge::replicate},
      {"reflect", Edge::reflect}, {"symmetric", Edge::symmetric}, {"wrap", Edge::wrap}, {"constant", Edge::constant}};
  for (const auto& [known, edge] : edges)
    if (known == name) return edge;
  throw InvalidArgument("edge " + std::string(name) +
                        ": may be valid, shrink, zero, replicate, reflect, symmetric, wrap or constant");
}

void windows_of(const SatView& table, const Window& window, Statistic asked, const View& out,
                const Execution& execution) {
  switch (asked) {
    case Statistic::sum:
      return window_sums(table, window, out, execution);
    case Statistic::mean:
      return window_means(table, window, out, execution);
    case Statistic::variance:
      return window_variances(table, window, out, execution);
    case Statistic::deviation:
      return window_standard_deviations(table, window, out, execution);
  }
}

namespace {

/// Of every window: an array of the table's axes.
nb::object window(const Table& t, std::array<std::int64_t, 2> size, std::array<std::int64_t, 2> anchor,
                  std::string_view stat, std::string_view edge, double value, const std::string& dtype, nb::handle out,
                  int threads) {
  if (t.axes->volume) throw InvalidArgument("window: a volume has none");
  const Statistic asked = statistic_of(stat);
  areal::Window window{size[1], size[0], anchor[1], anchor[0], edge_of(edge), value};
  if (t.order.transposed) std::swap(window.width, window.height), std::swap(window.anchor_x, window.anchor_y);
  const Execution execution = execution_of("auto", 0, threads);
  const SatView view = t.view();
  const Type type = type_of_numpy_name(dtype, "dtype");
  Shape shape = window_shape(t.image.width, t.image.height, window);
  shape.channels = t.image.channels, shape.batch = t.image.batch, shape.layout = view.sum.view.shape.layout;
  const auto compute = [&](const View& to) {
    without_gil(true, [&] { windows_of(view, window, asked, to, execution); });
  };
  if (!out.is_none()) {
    const auto array = array_ref(out, "out", true);
    if (!array) throw InvalidArgument("out: it must be a writable array");
    require_like(*array, array_shape(ConstView(nullptr, type, shape), *t.axes, t.order), type);
    if (const auto room = room_in(*array, *t.axes, t.order)) {
      compute(*room);
      return nb::borrow(out);
    }
    throw InvalidArgument("out: its memory must lie as the table's does");
  }
  Array made(shape, type);
  compute(made.view());
  return owned_array(std::move(made), *t.axes, t.order);
}

}  // namespace

void bind_windows(nb::module_& m) {
  m.def("window", &window, nb::arg("table"), nb::arg("size"), nb::arg("anchor"), nb::arg("stat"), nb::arg("edge"),
        nb::arg("value"), nb::arg("dtype"), nb::arg("out").none(), nb::arg("threads"));
}

}  // namespace areal::python
