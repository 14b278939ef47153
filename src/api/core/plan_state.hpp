#pragma once
// The states of Plan and Workspace.

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
  /// Initialises a new workspace, whose memory is checked.
  virtual void prepare(void* memory, Stream stream) const = 0;

  bool on_cuda() const noexcept { return execution.backend == Backend::cuda; }
  MemoryPlace memory() const noexcept {
    return on_cuda() ? MemoryPlace{MemoryPlace::cuda, execution.device} : MemoryPlace{};
  }
};

struct Workspace::State {
  std::shared_ptr<const Plan::State> plan;
  Stream stream = Stream::host();
  Memory owned;            // empty for borrowed memory
  void* memory = nullptr;  // the memory in use, owned or borrowed
  bool borrowed = false;
  bool waits = false;                     ///< an execute is complete when it returns
  std::string_view ran;                   ///< the algorithm of the last execute; empty before the first
  std::array<StagingBuffer, 12> staging;  ///< one for each argument
};

/// Throws InvalidArgument if the Execution names a stream of another backend.
void require_stream_of(const Execution& execution);

}  // namespace areal
