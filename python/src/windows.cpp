// Windows of tables. On a device the work is queued.
#include "windows.hpp"
#include <areal/error.hpp>
#include <array>
#include <string>
#include <utility>
#include "bindings.hpp"
#include "boxes.hpp"

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

void windows_of(const SatView& table, const Window& window, Statistic statistic, const View& out,
                const Execution& execution) {
  switch (statistic) {
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

/// An array with a value per window and the table's axes.
nb::object window(nb::handle on, nb::handle sum, nb::handle squares, nb::handle count, const std::string& border,
                  std::string_view letters, std::array<std::int64_t, 2> size, std::array<std::int64_t, 2> anchor,
                  std::string_view stat, std::string_view edge, double value, const std::string& dtype, nb::handle out,
                  int threads) {
  const Border known = border_of(border);
  CallArrays arrays{Framework(on)};
  PythonArray table = arrays.first(sum, "table"), of_squares, of_count;
  const Axes& axes = Axes::of(letters, table.ref().dimensions);
  if (axes.volume) throw InvalidArgument("window: a volume has none");
  const Statistic statistic = statistic_of(stat);
  areal::Window window{size[1], size[0], anchor[1], anchor[0], edge_of(edge), value};
  const Type type = type_of_numpy_name(dtype, "dtype");

  const Pixels pixels = arrays.pixels(sum, axes, true, count.is_none(), table);
  const ConstView& view = pixels.view;
  SatView tables(TableView(view, known));
  if (!squares.is_none())
    tables.squares = TableView(arrays.view(squares, "squares", axes, pixels.order, of_squares), known);
  if (!count.is_none())
    tables.count = TableView(arrays.view(count, "count", axes.without_channels(),
                                         {Layout::interleaved, pixels.order.transposed, 0}, of_count),
                             known);
  if (pixels.order.transposed) std::swap(window.width, window.height), std::swap(window.anchor_x, window.anchor_y);
  Shape shape = window_shape(tables.sum.image_width(), tables.sum.image_height(), window);
  shape.channels = view.shape.channels, shape.batch = view.shape.batch, shape.layout = view.shape.layout;

  const Execution execution = execution_where(arrays, threads);
  const auto compute = [&](const View& to) {
    without_gil(arrays.on_host(), [&] { windows_of(tables, window, statistic, to, execution); });
  };
  if (!out.is_none()) {
    const PythonArray given = arrays.writable(out);
    require_like(given.ref(), array_shape(ConstView(nullptr, type, shape), axes, pixels.order), type);
    const std::optional<View> out_view = writable_view(given.ref(), axes, pixels.order);
    if (!out_view) throw InvalidArgument("out: its memory must lie as the table's does");
    compute(*out_view);
    return nb::borrow(out);
  }
  const std::string in_memory = memory_letters(axes, pixels.order);
  NewArray made = arrays.empty(type, extents_of(shape, in_memory, pixels.order));
  compute(View(made.data(), type, shape).in(arrays.place().memory));
  return arrays.framework().reordered(made.take(), in_memory, axes.letters);
}

}  // namespace

void bind_windows(nb::module_& m) {
  m.def("window", &window, nb::arg("on"), nb::arg("sum"), nb::arg("squares").none(), nb::arg("count").none(),
        nb::arg("border"), nb::arg("axes"), nb::arg("size"), nb::arg("anchor"), nb::arg("stat"), nb::arg("edge"),
        nb::arg("value"), nb::arg("dtype"), nb::arg("out").none(), nb::arg("threads"));
}

}  // namespace areal::python
