#pragma once
// What areal.skimage and areal.cv2 have in common: arrays in C order as views, and plans that are kept.

#include <areal/sat.hpp>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>
#include "arrays.hpp"

namespace areal::python::dropin {

/// Rows of adjacent pixels at any pitch: H x W, H x W x C interleaved, or, of a volume, D x H x W. None for an array
/// that lies otherwise. Throws InvalidArgument for other dimensions and for a dtype that areal has no type for.
std::optional<ConstView> read_view(const AnyArray& array, bool volume);
/// The same of an array that is written.
std::optional<View> write_view(const nb::ndarray<>& array, bool volume);

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

/// A plan on the CPU, with a workspace for each thread that is in `execute`.
class KeptPlan {
 public:
  explicit KeptPlan(const PlanKey& key);
  void execute(const SatArguments& arguments);

 private:
  SatPlan plan_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Workspace>> idle_;
};

/// One of the last 64 plans, or a new one.
std::shared_ptr<KeptPlan> kept_plan(const PlanKey& key);

/// The CPU, all threads: what the drop-ins run on, whatever else there is, so that results have the same bits.
Execution execution();

}  // namespace areal::python::dropin
