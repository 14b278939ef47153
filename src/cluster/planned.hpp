#pragma once
// A plan with its workspace in memory of a lane, made once and executed for many images.

#include <algorithm>
#include <areal/plan.hpp>
#include <cstddef>
#include <utility>
#include "cluster/lane_memory.hpp"

namespace areal::cluster {

template <class P>
class Planned {
 public:
  /// The plan's device is current.
  Planned(P of, Stream stream)
      : plan(std::move(of)),
        memory_(std::max<std::size_t>(1, plan.workspace_bytes()), plan.memory()),
        workspace(plan, Span<std::byte>(static_cast<std::byte*>(memory_.data()), memory_.bytes(), plan.memory()),
                  stream) {}

  P plan;

 private:
  LaneMemory memory_;

 public:
  Workspace workspace;
};

}  // namespace areal::cluster
