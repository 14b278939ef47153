// The class of tables: its arrays, what it says of itself, and pickles.
#include "table.hpp"

#include <areal/error.hpp>
#include <new>
#include <utility>
#include "bindings.hpp"

namespace areal::python {

SatView Table::view() const {
  if (reverse && (border != Border::zero || axes->volume))
    throw InvalidArgument("table: a reversed one answers about boxes with border zero, and not of a volume");
  const auto optional = [&](TableKind kind) -> std::optional<TableView> {
    if (!has[kind]) return std::nullopt;
    return TableView(views[kind], border);
  };
  SatView made(TableView(views[sums], border), optional(squares_of_pixels), optional(counts_of));
  if (has[tilted_sums_of]) made.tilted = views[tilted_sums_of];
  return made;
}

nb::object sat_object(Table&& table) {
  nb::object made = nb::inst_alloc(hooks().sat_type);
  new (nb::inst_ptr<Table>(made)) Table(std::move(table));
  nb::inst_mark_ready(made);
  return made;
}

namespace {

nb::object array_of(nb::handle self, TableKind kind) {
  const Table& t = *nb::inst_ptr<Table>(self);
  if (!t.has[kind]) return nb::none();
  if (t.arrays[kind].is_valid()) return t.arrays[kind];
  return numpy_array(t.views[kind], t.axes_of(kind), t.order, self);
}

nb::tuple extents_of(const Table& t) {
  const ArrayShape shape = array_shape(ConstView(nullptr, t.types.input, t.image), *t.axes, t.order);
  nb::list extents;
  for (std::size_t i = 0; i < shape.dimensions; ++i) extents.append(shape.extents[i]);
  return nb::tuple(extents);
}

/// The table that arrays are, as a pickle has them: sum, squares, tilted, count, the missing ones None.
void load(nb::handle self, nb::tuple arrays, const std::string& letters, std::array<std::int64_t, 4> extents,
          const std::string& border, const std::string& input, std::tuple<std::string, std::string, std::string> origin,
          bool reverse) {
  Table t;
  t.reverse = reverse;
  const auto read = [&](std::size_t kind) { return array_ref(arrays[kind], "table"); };
  const std::optional<ArrayRef> first = arrays.size() == table_kinds ? read(0) : std::nullopt;
  if (!first) throw InvalidArgument("table: its state is not one that areal wrote");
  t.axes = &Axes::of(letters, first->dimensions);
  t.border = border_named(border).value();
  t.types = {type_of_numpy_name(input, "dtype"), first->type};
  t.order = c_order(extents, *t.axes, arrays[static_cast<std::size_t>(counts_of)].is_none());
  t.image = image_shape(extents, *t.axes, t.order);
  for (std::size_t kind = 0; kind < table_kinds; ++kind) {
    if (arrays[kind].is_none()) continue;
    const Axes& axes = t.axes_of(TableKind(kind));
    std::optional<ConstView> view;
    if (const auto array = read(kind); array && array->dimensions == static_cast<std::size_t>(axes.dimensions))
      view = view_in(*array, axes, t.order);
    if (!view) throw InvalidArgument("table: its arrays do not lie alike");
    t.views[kind] = *view, t.has[kind] = true;
    t.arrays[kind] = nb::borrow(arrays[kind]);
  }
  t.origin = std::make_shared<Origin>(Origin{std::get<0>(origin), std::get<1>(origin), std::get<2>(origin)});
  new (nb::inst_ptr<Table>(self)) Table(std::move(t));
  nb::inst_mark_ready(self);
}

}  // namespace

void bind_table(nb::module_& m) {
  nb::class_<Table>(m, "Table")
      .def_prop_ro(
          "array", [](nb::handle self) { return array_of(self, sums); },
          nb::sig("def array(self) -> numpy.typing.NDArray[typing.Any]"),
          "The sums, in the order of the array's axes; no copy.")
      .def_prop_ro(
          "squares", [](nb::handle self) { return array_of(self, squares_of_pixels); },
          nb::sig("def squares(self) -> numpy.typing.NDArray[typing.Any] | None"),
          "The sums of squares, of the same shape; None unless asked for. No copy.")
      .def_prop_ro(
          "tilted", [](nb::handle self) { return array_of(self, tilted_sums_of); },
          nb::sig("def tilted(self) -> numpy.typing.NDArray[typing.Any] | None"),
          "The sums rotated by 45 degrees, (H+1) x (W+1), as OpenCV defines them; None unless asked for. No "
          "copy.")
      .def_prop_ro(
          "count", [](nb::handle self) { return array_of(self, counts_of); },
          nb::sig("def count(self) -> numpy.typing.NDArray[typing.Any] | None"),
          "The table of valid pixels, without the axis C; None without mask and ignore_nan. No copy.")
      .def_prop_ro(
          "axes", [](const Table& t) { return t.axes->letters; }, "The letters of the dimensions.")
      .def_prop_ro(
          "border", [](const Table& t) { return std::string(name_of(t.border)); }, "zero, none or exclusive.")
      .def_prop_ro("image_shape", &extents_of, nb::sig("def image_shape(self) -> tuple[int, ...]"),
                   "The shape of the array that was summed.")
      .def_prop_ro(
          "image_dtype", [](const Table& t) { return numpy_name(t.types.input); },
          "The type of the pixels, as NumPy names it; bool counts as uint8.")
      .def_prop_ro(
          "algorithm", [](const Table& t) { return t.origin->algorithm; }, "The id of what made the table.")
      .def_prop_ro(
          "reason", [](const Table& t) { return t.origin->reason; }, "Why that algorithm and backend.")
      .def_prop_ro(
          "backend", [](const Table& t) { return t.origin->backend; }, "cpu, cuda or simt.")
      .def_prop_ro(
          "reverse", [](const Table& t) { return t.reverse; }, "Whether an entry sums what lies right and below.")
      .def("_load", &load);
}

}  // namespace areal::python
