#pragma once
// A histogram's plan with its workspace in memory of a lane, made once and executed for many images.

#include <algorithm>
#include <areal/histogram.hpp>
#include <cstddef>
#include <utility>
#include "cluster/lane_memory.hpp"

namespace areal::cluster {

class PlannedHistogram {
 public:
  /// The plan's device is current.
  PlannedHistogram(HistogramPlan of, Stream stream)
      : plan(std::move(of)),
        memory_(std::max<std::size_t>(1, plan.workspace_bytes()), plan.memory()),
        workspace(plan, Span<std::byte>(static_cast<std::byte*>(memory_.data()), memory_.bytes(), plan.memory()),
                  stream) {}

  HistogramPlan plan;

 private:
  LaneMemory memory_;

 public:
  Workspace workspace;
};

}  // namespace areal::cluster
