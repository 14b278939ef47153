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
    case Type::f64:
      return Squares::f64;
    default:
      throw InvalidArgument("squares in " + std::string(name_of(type)) + ": there are no such tables");
  }
}

/// False where the image does not lie in rows of adjacent pixels: the caller copies it. Border `zero` where the sum is
/// larger by a row and a column, `none` where it has the image's extents.
bool tables(const AnyArray& image, const nb::ndarray<>& sum, const std::optional<nb::ndarray<>>& squares,
            const std::optional<nb::ndarray<>>& tilted, bool volume) {
  const std::optional<ConstView> pixels = read_view(image, volume);
  if (!pixels) return false;
  const std::optional<View> into = write_view(sum, volume);
  if (!into) throw InvalidArgument("sum: its elements do not lie in rows of neighbours");
  const std::optional<TypePair> types = pair_of(pixels->type, into->type);
  if (!types)
    throw InvalidArgument("a table of " + std::string(name_of(into->type)) + " cannot be made of " +
                          std::string(name_of(pixels->type)) + " pixels");
  PlanKey key{pixels->shape, *types};
  key.border = into->shape == pixels->shape ? Border::none : Border::zero;
  key.volume = volume && image.ndim() == 3;
  SatArguments arguments{*pixels, as_type(*into, types->table)};
  if (squares) {
    const std::optional<View> view = write_view(*squares, volume);
    if (!view) throw InvalidArgument("sqsum: its elements do not lie in rows of neighbours");
    key.squares = squares_of(view->type);
    arguments.squares = as_type(*view, type_of(key.squares));
  }
  if (tilted) {
    const std::optional<View> view = write_view(*tilted, volume);
    if (!view) throw InvalidArgument("tilted: its elements do not lie in rows of neighbours");
    key.tilted = true;
    arguments.tilted = as_type(*view, types->table);
  }
  const nb::gil_scoped_release released;
  kept_plan(key)->execute(arguments);
  return true;
}

}  // namespace
}  // namespace areal::python::dropin

namespace areal::python {

void bind_dropin_tables(nb::module_& m) {
  m.def("dropin_tables", &dropin::tables, nb::arg("image"), nb::arg("sum").noconvert(),
        nb::arg("squares").none().noconvert(), nb::arg("tilted").none().noconvert(), nb::arg("volume"));
  m.def("type_pairs", [] {
    nb::list all;
    for (const TypePair types : type_pairs())
      all.append(nb::make_tuple(std::string(name_of(types.input)), std::string(name_of(types.table))));
    return all;
  });
}

}  // namespace areal::python
