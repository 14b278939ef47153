#pragma once
// A spread table's strips, and one run over all of them: a thread a strip computes on the CPU, or queues on CUDA.

#include <areal/spread.hpp>
#include <functional>
#include <memory>
#include <vector>
#include "cluster/spread_lane.hpp"

namespace areal::cluster {

/// What a test plants in a run.
struct SpreadHooks {
  std::function<void(std::size_t part, std::size_t band)> before = {}, after = {};  ///< of each piece, by its thread
  bool in_order = true;  ///< false: strips do not wait for the row above
};

struct SpreadArguments {
  Span<const ConstView> pixels;
  Span<const View> tables;
  Span<const Stream> streams;
};

}  // namespace areal::cluster

namespace areal {

struct SpreadSat::State {
  cluster::SpreadWork work;
  std::vector<std::unique_ptr<cluster::SpreadLane>> lanes;

  ~State();
  void check(const cluster::SpreadArguments& arguments) const;
  void execute(const cluster::SpreadArguments& arguments, const cluster::SpreadHooks& hooks = {});
};

/// Checks, and allocates what an execute needs.
std::unique_ptr<SpreadSat::State> spread_sat(const Shape& image, Type type, const SatOptions& options,
                                             const SpreadOptions& spread);

}  // namespace areal
