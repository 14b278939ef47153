#pragma once
// Shared by areal.skimage and areal.cv2: arrays in C order as views, and a cache of plans.

#include <areal/sat.hpp>
#include <memory>
#include <optional>
#include "arrays.hpp"
#include "sat_plans.hpp"

namespace areal::python::dropin {

/// A view of rows of adjacent pixels at any pitch: H x W, H x W x C interleaved, or D x H x W for a volume. None for
/// another memory layout. Throws InvalidArgument for other dimensions and for a dtype that areal does not have.
std::optional<ConstView> read_view(nb::handle array, const char* name, bool volume);
/// The same for a writable array; throws InvalidArgument for another memory layout and for a read-only array.
View write_view(nb::handle array, const char* name, bool volume);

/// A type pair whose tables have the bits of `table`, perhaps of the other signedness, as tables wrap. None if areal
/// has none.
std::optional<TypePair> pair_of(Type input, Type table);

/// The type of a table of squares with those bits.
Type type_of(Squares squares);

/// The key of a plan.
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

/// The CPU with all threads: the drop-ins always run there, so that results have the same bits on every machine.
Execution execution();

}  // namespace areal::python::dropin
