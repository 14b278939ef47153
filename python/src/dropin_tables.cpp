// The tables of areal.skimage and areal.cv2, into arrays that their Python code allocated.
#include <areal/error.hpp>
#include <utility>
#include "bindings.hpp"
#include "dropin.hpp"

namespace areal::python::dropin {
namespace {

/// The table's view with the element type that the plan computes: the same bits.
View as_type(View view, Type type) {
  view.type = type;
  return view;
}

Squares squares_of(Type type) {
  switch (type) {
    case Type::u32:
    case Type::s32:
      return Squares::u32;
    case Type::u64:
    case Type::s64:
      return Squares::u64;
    case Type::f32:
      return Squares::f32;
    case Type::f64:
      return Squares::f64;
    default:
      throw InvalidArgument("squares in " + std::string(name_of(type)) + ": there are no such tables");
  }
}

/// False if the pixels of a row are not adjacent: the caller copies the image. Border `zero` if the sum is larger than
/// the image by a row and a column, `none` if it has the image's extents.
bool tables(nb::handle image, nb::handle sum, nb::handle squares, nb::handle tilted, bool volume) {
  const std::optional<ConstView> pixels = read_view(image, "src", volume);
  if (!pixels) return false;
  const View into = write_view(sum, "sum", volume);
  const std::optional<TypePair> types = pair_of(pixels->type, into.type);
  if (!types)
    throw InvalidArgument("a table of " + std::string(name_of(into.type)) + " cannot be made of " +
                          std::string(name_of(pixels->type)) + " pixels");
  PlanKey key{pixels->shape, *types};
  key.border = into.shape == pixels->shape ? Border::none : Border::zero;
  key.volume = volume && pixels->shape.batch != 1;
  SatArguments arguments{*pixels, as_type(into, types->table)};
  if (!squares.is_none()) {
    const View view = write_view(squares, "sqsum", volume);
    key.squares = squares_of(view.type);
    arguments.squares = as_type(view, type_of(key.squares));
  }
  if (!tilted.is_none()) {
    key.tilted = true;
    arguments.tilted = as_type(write_view(tilted, "tilted", volume), types->table);
  }
  const std::shared_ptr<PlannedSat> plan = kept_plan(key);
  PlannedSat::Lease(*plan).execute(arguments);
  return true;
}

}  // namespace
}  // namespace areal::python::dropin

namespace areal::python {

void bind_dropin_tables(nb::module_& m) {
  m.def("dropin_tables", &dropin::tables, nb::arg("image"), nb::arg("sum"), nb::arg("squares").none(),
        nb::arg("tilted").none(), nb::arg("volume"));
  m.def("type_pairs", [] {
    nb::list all;
    for (const TypePair types : type_pairs())
      all.append(nb::make_tuple(std::string(name_of(types.input)), std::string(name_of(types.table))));
    return all;
  });
}

}  // namespace areal::python
