#pragma once
/// \file plan.hpp Plan and Workspace: choices made before the data is there, and the memory of an execute.

#include <areal/execution.hpp>
#include <areal/span.hpp>
#include <cstddef>
#include <memory>
#include <string>

namespace areal {

/// What the plans of tables, tensors and scans have in common. Cheap to copy; copies are one plan, and share its
/// workspaces. Thread-safe: several threads or streams may execute it at once, each with its own workspace.
class Plan {
 public:
  struct State;  // of the library

  Plan(const Plan&) = default;  // no moves: a moved-from plan is still that plan
  Plan& operator=(const Plan&) = default;

  /// Bytes of workspace that an execute needs, of any alignment; may be 0. O(1).
  std::size_t workspace_bytes() const noexcept;
  Backend backend() const noexcept;  ///< never automatic
  /// The memory that an execute works on; Workspace says when it also accepts views of host memory.
  MemoryPlace memory() const noexcept;
  const Execution& execution() const noexcept;  ///< with the chosen backend
  /// The algorithm for contiguous images and for tables or tensors from `allocate`: the one requested, or `auto`'s
  /// choice. A requested algorithm runs or is refused. `auto` falls back to another one for views that this one does
  /// not support, such as other pitches and carries, and if the device refuses its launch; Workspace::algorithm names
  /// it.
  const std::string& algorithm() const noexcept;
  const std::string& reason() const noexcept;  ///< why this algorithm, and for Backend::automatic why this backend

 protected:
  explicit Plan(std::shared_ptr<const State> state) noexcept : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
  friend class Workspace;
};

/// The memory of a plan's execute, initialised once and left ready by every execute. It belongs to its plan and the
/// plan's copies; an execute with another plan's workspace throws InvalidArgument. For one execute at a time.
class Workspace {
 public:
  /// Owned memory, where the plan runs, on the stream of the plan's Execution. Without a stream an execute is complete
  /// when it returns; on CUDA it runs on the legacy default stream, after work in blocking streams. On CUDA an execute
  /// also accepts views of host memory: it copies them through device memory, which the first such execute allocates
  /// and the workspace keeps, and returns when the host has the results; such an execute cannot be captured.
  /// Throws OutOfMemory, with the bytes; DeviceError.
  explicit Workspace(const Plan& plan);
  /// Memory that you supply, at least `plan.workspace_bytes()` bytes in `plan.memory()`, of any alignment, for executes
  /// on that stream: they do not allocate or wait, and may be captured in a CUDA graph. On CUDA they accept device
  /// memory only. Queues the initialisation, which must not be captured. The memory is yours again when the last
  /// execute is complete. Plans on the CPU and on simt need Stream::host().
  /// Throws InvalidArgument for memory that is too small, null or elsewhere, and for a stream of the other kind.
  Workspace(const Plan& plan, Span<std::byte> memory, Stream stream);
  /// The same for executes captured in a CUDA graph, if the initialisation may be captured too: every replay then
  /// begins with it. The memory belongs to the graph as long as that is replayed.
  static Workspace in_graph(const Plan& plan, Span<std::byte> memory, Stream stream);
  ~Workspace();
  Workspace(Workspace&&) noexcept;
  Workspace& operator=(Workspace&&) noexcept;

  Stream stream() const noexcept;  ///< Stream::host() if moved from
  /// The id of the algorithm that the last execute launched; the plan's before the first.
  std::string algorithm() const;
  /// Waits for all work queued on the stream. Throws DeviceError if that work failed.
  void wait() const;

  struct State;  // of the library
  State* state() const noexcept { return state_.get(); }

 private:
  Workspace(const Plan& plan, Span<std::byte> memory, Stream stream, bool may_capture);
  std::unique_ptr<State> state_;
};

}  // namespace areal
