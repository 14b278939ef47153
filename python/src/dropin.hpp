#pragma once
// What areal.skimage and areal.cv2 have in common: arrays in C order as views, and plans that are kept.

#include <areal/sat.hpp>
#include <memory>
#include <optional>
#include "arrays.hpp"
#include "sat_plans.hpp"

namespace areal::python::dropin {

/// Rows of adjacent pixels at any pitch: H x W, H x W x C interleaved, or, of a volume, D x H x W. None for an array
/// that lies otherwise. Throws InvalidArgument for other dimensions and for a dtype that areal has no type for.
std::optional<ConstView> read_view(nb::handle array, const char* name, bool volume);
/// The same of an array that is written; throws InvalidArgument where it lies otherwise or is read-only.
View write_view(nb::handle array, const char* name, bool volume);

/// The type pair of a table whose bits are those of `table`: integers of the other signedness will do, as tables wrap.
/// None where areal has none.
std::optional<TypePair> pair_of(Type input, Type table);

/// The element type of such a table of squares.
Type type_of(Squares squares);

/// What tells one plan from another.
struct PlanKey {
  Shape image;
  TypePair types;
  Border border = Border::zero;
  Squares squares = Squares::no;
  bool tilted = false, volume = false;
  friend bool operator==(const PlanKey&, const PlanKey&) = default;
};

/// One of the last 64 plans on the CPU, or a new one. With the GIL.
std::shared_ptr<PlannedSat> kept_plan(const PlanKey& key);

/// The CPU, all threads: what the drop-ins run on, whatever else there is, so that results have the same bits.
Execution execution();

}  // namespace areal::python::dropin
