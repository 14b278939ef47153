// What tables in pieces need of the library: the table of one piece, with what lies above and to the left, and boxes.
#include <areal/error.hpp>
#include <areal/sat.hpp>
#include <string>
#include <utility>
#include <vector>
#include "arrays.hpp"
#include "bindings.hpp"
#include "regions.hpp"

namespace areal::python {
namespace {

ArrayRef array_of(nb::handle object, const char* name, bool may_write = false) {
  auto array = array_ref(object, name, may_write);
  if (!array) throw InvalidArgument(std::string(name) + ": it cannot be read in place");
  return std::move(*array);
}

/// One row or one column of the larger table, adjacent in memory; `array` keeps it.
ConstView line(const char* what, nb::handle values, bool is_row, ArrayRef& array) {
  if (values.is_none()) return {};
  array = array_of(values, what);
  if (array.dimensions != 1 || (array.extents[0] > 1 && array.strides[0] != 1))
    throw InvalidArgument(std::string(what) + ": it must be contiguous, with one dimension");
  return {array.data, array.type, is_row ? Shape{array.extents[0], 1} : Shape{1, array.extents[0]}};
}

void table_piece(nb::handle piece, nb::handle out, nb::handle above, nb::handle left, int threads) {
  const ArrayRef image = array_of(piece, "piece"), table = array_of(out, "out", true);
  const Axes& axes = Axes::of("HW", image.dimensions);
  Axes::of("HW", table.dimensions);
  const auto pixels = pixels_of(image, axes, false, false);
  if (!pixels) throw InvalidArgument("piece: the pixels of a row must be neighbours in memory");
  const auto room = room_in(table, axes, pixels->order);
  if (!room) throw InvalidArgument("out: the entries of a row must be neighbours in memory");
  ArrayRef row, column;
  SatOptions options;
  options.border = Border::none;
  options.types = TypePair{pixels->view.type, room->type};
  Execution execution;
  execution.backend = Backend::cpu;
  execution.threads = threads;
  SatArguments arguments{pixels->view, *room};
  arguments.carry.above = line("above", above, true, row);
  arguments.carry.left = line("left", left, false, column);
  const nb::gil_scoped_release released;
  const SatPlan plan(pixels->view.shape, pixels->view.type, options, execution);
  Workspace workspace(plan);
  plan.execute(arguments, workspace);
}

nb::object regions(const BoxArray& boxes, const std::string& format) {
  auto* const all = new std::vector<Region>(regions_of(boxes, format, false));
  const nb::capsule owner(all, [](void* p) noexcept { delete static_cast<std::vector<Region>*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, std::int64_t>(all->data(), {all->size(), 4}, owner));
}

}  // namespace

void bind_pieces(nb::module_& m) {
  m.def("table_piece", &table_piece, nb::arg("piece"), nb::arg("out"), nb::arg("above").none(), nb::arg("left").none(),
        nb::arg("threads"));
  m.def("regions", &regions);
}

}  // namespace areal::python
