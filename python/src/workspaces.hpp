#pragma once
// CUDA workspaces of one plan, one for each concurrent thread and stream.

#include <areal/device.hpp>
#include <areal/plan.hpp>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>
#include "python_array.hpp"

namespace areal::python {

/// The memory is the framework's; a workspace belongs to a stream. During the capture of a graph, each execute gets its
/// own memory and returns it to the framework at once, whose graphs keep memory allocated during their capture.
class Workspaces {
 public:
  struct Ready {
    NewArray memory;
    Workspace workspace;
  };

  /// A workspace for an execute that begins now. Call with the GIL.
  Ready get(const Plan& plan, const CallArrays& arrays) {
    const Stream stream = arrays.place().stream;
    const bool captured = is_capturing(stream);
    if (!captured) {
      const std::lock_guard lock(mutex_);
      for (std::size_t i = free_.size(); i-- > 0;)
        if (free_[i].workspace.stream() == stream) {
          Ready found = std::move(free_[i]);
          free_.erase(free_.begin() + static_cast<std::ptrdiff_t>(i));
          return found;
        }
    }
    const auto bytes = static_cast<std::int64_t>(plan.workspace_bytes());
    NewArray memory = bytes > 0 ? arrays.empty(Type::u8, {bytes}) : NewArray();
    const Span<std::byte> there(static_cast<std::byte*>(memory.data()), static_cast<std::size_t>(bytes), plan.memory());
    return {std::move(memory), captured ? Workspace::in_graph(plan, there, stream) : Workspace(plan, there, stream)};
  }
  /// Returns the workspace after a successful execute. Call with the GIL, as it may free the framework's memory.
  void put(Ready ready) {
    if (is_capturing(ready.workspace.stream())) return;
    const std::lock_guard lock(mutex_);
    if (free_.size() >= most) free_.erase(free_.begin());
    free_.push_back(std::move(ready));
  }

 private:
  static constexpr std::size_t most = 16;
  std::mutex mutex_;
  std::vector<Ready> free_;
};

}  // namespace areal::python
