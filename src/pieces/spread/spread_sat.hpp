#pragma once
// A spread table's strips, and one run over all of them: a thread a strip computes on the CPU, or queues on CUDA.

#include <areal/spread.hpp>
#include <functional>
#include <memory>
#include <vector>
#include "pieces/spread/lane.hpp"

namespace areal::pieces {

/// What a test plants in a run.
struct SpreadHooks {
  std::function<void(std::size_t part, std::size_t band)> before = {}, after = {};  ///< of each piece, by its thread
  bool in_order = true;  ///< false: strips do not wait for the row above
};

}  // namespace areal::pieces

namespace areal {

struct SpreadSat::State {
  pieces::SpreadWork work;
  std::vector<std::unique_ptr<pieces::SpreadLane>> lanes = {};

  ~State();
  /// What the options name, checked.
  std::vector<pieces::Views> checked(Span<const SatArguments> strips, Span<const Stream> streams) const;
  void execute(Span<const SatArguments> strips, Span<const Stream> streams, const pieces::SpreadHooks& hooks = {});
};

/// Checks, and allocates what an execute needs.
std::unique_ptr<SpreadSat::State> spread_sat(const Shape& image, Type type, const SatOptions& options,
                                             const SpreadOptions& spread);

}  // namespace areal
