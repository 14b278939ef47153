// What tables in pieces need of the library: the table of one piece, with what lies above and to the left, and boxes.
#include <areal/error.hpp>
#include <areal/sat.hpp>
#include <optional>
#include <string>
#include "arrays.hpp"
#include "bindings.hpp"
#include "regions.hpp"

namespace areal::python {
namespace {

using Line = std::optional<AnyArray>;

/// One row or one column of the larger table, adjacent in memory.
ConstView line(const char* what, const Line& values, bool is_row) {
  if (!values) return {};
  if (values->ndim() != 1 || (values->shape(0) > 1 && values->stride(0) != 1))
    throw InvalidArgument(std::string(what) + ": it must be contiguous, with one dimension");
  const auto extent = static_cast<std::int64_t>(values->shape(0));
  return {values->data(), type_of_dtype(values->dtype()), is_row ? Shape{extent, 1} : Shape{1, extent}};
}

void table_piece(const AnyArray& piece, const nb::ndarray<>& out, const Line& above, const Line& left, int threads) {
  const Axes axes = Axes::of("HW", piece.ndim());
  Axes::of("HW", out.ndim());
  const auto pixels = pixels_of(piece, axes);
  if (!pixels || pixels->lie.flipped) throw InvalidArgument("piece: the pixels of a row must be neighbours in memory");
  const auto room = room_of(out, axes, pixels->lie);
  if (!room) throw InvalidArgument("out: the entries of a row must be neighbours in memory");
  SatOptions options;
  options.border = Border::none;
  options.types = TypePair{pixels->view.type, room->type};
  Execution execution;
  execution.backend = Backend::cpu;
  execution.threads = threads;
  SatArguments arguments{pixels->view, *room};
  arguments.carry.above = line("above", above, true);
  arguments.carry.left = line("left", left, false);
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
