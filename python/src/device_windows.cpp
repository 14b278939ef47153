// Windows of tables in arrays of other frameworks. On a device the work is queued.
#include <areal/error.hpp>
#include <array>
#include <utility>
#include "bindings.hpp"
#include "device_arrays.hpp"
#include "process.hpp"
#include "windows.hpp"

namespace areal::python {
namespace {

/// An array for every window, and how its dimensions are put into the asked order, None where they are. None where the
/// tables cannot be read as they lie.
nb::object tensor_window(nb::handle sum, nb::handle squares, const std::string& border, std::string_view letters,
                         std::array<std::int64_t, 2> size, std::array<std::int64_t, 2> anchor, std::string_view stat,
                         std::string_view edge, double value, const std::string& dtype, nb::handle out, int threads,
                         nb::object empty, nb::handle stream) {
  const auto known = border_named(border);
  if (!known) throw InvalidArgument("border " + border + ": may be zero, none or exclusive");
  const ForeignArray table(sum, stream_given(stream), "table");
  const Axes& axes = Axes::of(letters, static_cast<std::size_t>(table.tensor().ndim));
  if (axes.volume) throw InvalidArgument("window: a volume has none");
  const Statistic asked = statistic_of(stat);
  areal::Window window{size[1], size[0], anchor[1], anchor[0], edge_of(edge), value};
  const Type type = type_of_numpy_name(dtype, "dtype");

  const std::optional<Pixels> pixels = pixels_of(table.ref(), axes, true, true);
  if (!pixels) return nb::none();
  const bool on_host = table.memory().is_host();
  const auto same_stream = on_host ? std::nullopt : std::optional(table.work_stream());
  std::optional<ForeignArray> of_squares;
  SatView tables(TableView(pixels->view, *known));
  if (!squares.is_none() && (asked == Statistic::variance || asked == Statistic::deviation)) {
    of_squares.emplace(squares, same_stream, "squares");
    const std::optional<ConstView> view = view_in(of_squares->ref(), axes, pixels->order);
    if (!view) return nb::none();
    tables.squares = TableView(*view, *known);
  }
  if (pixels->order.transposed) std::swap(window.width, window.height), std::swap(window.anchor_x, window.anchor_y);
  const ConstView& view = pixels->view;
  Shape shape = window_shape(tables.sum.image_width(), tables.sum.image_height(), window);
  shape.channels = view.shape.channels, shape.batch = view.shape.batch, shape.layout = view.shape.layout;

  Execution execution;
  execution.threads = is_forked_child() ? 1 : threads;
  if (!on_host) execution.stream = same_stream;
  const auto compute = [&](const View& to) {
    without_gil(on_host, [&] { windows_of(tables, window, asked, to, execution); });
  };
  if (!out.is_none()) {
    const ForeignArray given(out, same_stream, "out");
    if (given.is_read_only()) throw InvalidArgument("out: it is read-only");
    if (!(given.memory() == table.memory())) throw InvalidArgument("out: it must lie where the table does");
    const ArrayRef array = given.ref();
    require_like(array, array_shape(ConstView(nullptr, type, shape), axes, pixels->order), type);
    const std::optional<View> room = room_in(array, axes, pixels->order);
    if (!room) throw InvalidArgument("out: its memory must lie as the table's does");
    compute(*room);
    return nb::make_tuple(nb::borrow(out), nb::none());
  }
  const std::string in_memory = memory_letters(axes, pixels->order);
  NewArray made = Allocator(table, std::move(empty)).make(type, extents_of(shape, in_memory, pixels->order));
  compute(View(made.data(), type, shape).in(table.memory()));
  return nb::make_tuple(made.take(), order_of(in_memory, axes.letters));
}

}  // namespace

void bind_device_windows(nb::module_& m) {
  m.def("tensor_window", &tensor_window, nb::arg("sum"), nb::arg("squares").none(), nb::arg("border"), nb::arg("axes"),
        nb::arg("size"), nb::arg("anchor"), nb::arg("stat"), nb::arg("edge"), nb::arg("value"), nb::arg("dtype"),
        nb::arg("out").none(), nb::arg("threads"), nb::arg("empty").none() = nb::none(),
        nb::arg("stream").none() = nb::none());
}

}  // namespace areal::python
