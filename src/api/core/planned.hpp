#pragma once
// A plan with its own workspace, made once and executed for many images.

#include <areal/plan.hpp>
#include <cstddef>
#include <utility>
#include "api/core/memory.hpp"

namespace areal {

template <class P>
class Planned {
 public:
  /// Throws OutOfMemory with the workspace's bytes.
  Planned(P of, Stream stream)
      : plan(std::move(of)),
        memory_(plan.workspace_bytes(), plan.memory()),
        workspace(plan, Span<std::byte>(static_cast<std::byte*>(memory_.data()), memory_.bytes(), plan.memory()),
                  stream) {}

  P plan;

 private:
  Memory memory_;

 public:
  Workspace workspace;
};

}  // namespace areal
