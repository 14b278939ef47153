#pragma once
// The states of SatPlan and SatTable.

#include <areal/research/sat.hpp>
#include <areal/sat.hpp>
#include <memory>
#include <optional>
#include <string>
#include "api/core/choice.hpp"
#include "api/core/owned_view.hpp"
#include "api/core/plan_state.hpp"
#include "cpu/sat/tiles.hpp"
#include "kernels/sat/request.hpp"

namespace areal {

struct SatPlan::State : Plan::State {
  Shape image;
  TypePair types;
  std::optional<Type> squares;
  SatOptions options;
  void (*plain)(const ConstView& in, const View& out) = nullptr;  // a paper's, on the CPU, or
  std::optional<cpu::Tiles> tiles;                                // areal's, on the CPU, or
  std::optional<Choice<kernels::Sat>> device;                     // on cuda or simt
  LaunchReport on_launch;                                         // may be empty

  Shape table_shape() const;
  Shape tilted_shape() const;
  Shape count_shape() const;
  bool counts() const { return options.mask || options.ignore_nan; }
  void prepare(void* memory, Stream stream) const override;
  /// Runs on views of memory where the plan runs.
  std::string_view run(const SatArguments& arguments, void* memory, Stream stream) const;  ///< returns the algorithm
};

/// The plan; chooses the backend for Backend::automatic.
std::shared_ptr<SatPlan::State> plan_sat(const Shape& image, Type input, const SatOptions& options,
                                         const Execution& execution, const research::SatParameters& parameters = {});

struct SatTable::State {
  Shape image;
  TypePair types;
  Border border = Border::zero;
  bool volume = false, reverse = false;
  MemoryPlace memory;
  OwnedView sum, squares, tilted, count;
};

}  // namespace areal
