#pragma once
// What is behind Plan and Workspace.

#include <areal/plan.hpp>
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include "api/core/memory.hpp"
#include "api/core/staging_buffer.hpp"

namespace areal {

struct Plan::State {
  Execution execution;  // its backend is never automatic
  std::string algorithm, reason;
  std::size_t workspace_bytes = 0;

  virtual ~State() = default;
  /// Makes a new workspace ready. The memory is checked.
  virtual void prepare(void* memory, Stream stream) const = 0;

  bool on_cuda() const noexcept { return execution.backend == Backend::cuda; }
  MemoryPlace memory() const noexcept {
    return on_cuda() ? MemoryPlace{MemoryPlace::cuda, execution.device} : MemoryPlace{};
  }
};

struct Workspace::State {
  std::shared_ptr<const Plan::State> plan;
  Stream stream = Stream::host();
  Memory owned;            // of one that borrows none
  void* memory = nullptr;  // where the plan works
  bool borrowed = false;
  bool waits = false;                     ///< an execute has ended when it returns
  std::string_view ran;                   ///< the algorithm of the last execute; empty before the first
  std::array<StagingBuffer, 12> staging;  ///< one an argument
};

/// Throws InvalidArgument unless that stream can be one of the backend's; an Execution's may be none.
void require_stream_of(const Execution& execution);

}  // namespace areal
