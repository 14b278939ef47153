#pragma once
/// \file plan.hpp Plan and Workspace: what is decided before the data is there, and the memory that an execute needs.

#include <areal/execution.hpp>
#include <areal/span.hpp>
#include <cstddef>
#include <memory>
#include <string>

namespace areal {

/// What the plans of tables, tensors and scans have in common. Cheap to copy; copies are one plan, and share its
/// workspaces. Thread-safe: may execute at once on several threads or streams with a workspace each.
class Plan {
 public:
  struct State;  // of the library

  Plan(const Plan&) = default;  // and no moves: a plan that was moved from is still that plan
  Plan& operator=(const Plan&) = default;

  /// Bytes of workspace that an execute needs, of any alignment; 0 is possible. O(1).
  std::size_t workspace_bytes() const noexcept;
  Backend backend() const noexcept;  ///< never automatic
  /// The memory that an execute works on; Workspace says when it also takes views of host memory.
  MemoryPlace memory() const noexcept;
  const Execution& execution() const noexcept;  ///< with the backend that was chosen
  /// The algorithm that runs on contiguous images and on tables or tensors as `allocate` makes them: the one that was
  /// named, or the one that `auto` chose. A named algorithm runs or is refused. `auto` runs another one for views that
  /// this one does not take, such as other pitches and carries, and where the device refuses its launch:
  /// Workspace::algorithm names it.
  const std::string& algorithm() const noexcept;
  const std::string& reason() const noexcept;  ///< why this algorithm; of Backend::automatic, also why this backend

 protected:
  explicit Plan(std::shared_ptr<const State> state) noexcept : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
  friend class Workspace;
};

/// The memory that a plan's execute needs, made ready once and left ready by every execute. It belongs to its plan and
/// the plan's copies; an execute with the workspace of another plan throws InvalidArgument. For one execute at a time.
class Workspace {
 public:
  /// Owned memory, where the plan runs, on the stream of the plan's Execution. Where that names none, an execute has
  /// ended when it returns; on CUDA it runs on the legacy default stream, after whatever blocking streams have queued.
  /// An execute of a plan on CUDA also takes views of host memory: it copies them there and back, through device memory
  /// that the first such execute allocates and the workspace keeps, and returns when the host has the results. It must
  /// not be captured then. Throws OutOfMemory, with the bytes; DeviceError.
  explicit Workspace(const Plan& plan);
  /// Your memory, at least `plan.workspace_bytes()` bytes in `plan.memory()`, of any alignment, for executes on that
  /// stream: they allocate nothing, wait for nothing and may be captured in a CUDA graph. On CUDA they take device
  /// memory alone. Queues what makes the memory ready, which must not be captured. The memory is yours again when the
  /// last execute has ended. Plans on the CPU and on simt take Stream::host().
  /// Throws InvalidArgument for memory that is too small, null or elsewhere, and for a stream of the other kind.
  Workspace(const Plan& plan, Span<std::byte> memory, Stream stream);
  /// The same for executes that are captured in a CUDA graph, where what makes the memory ready may be captured, too:
  /// every replay then begins by making it ready. The memory is the graph's for as long as that is replayed.
  static Workspace in_graph(const Plan& plan, Span<std::byte> memory, Stream stream);
  ~Workspace();
  Workspace(Workspace&&) noexcept;
  Workspace& operator=(Workspace&&) noexcept;

  Stream stream() const noexcept;  ///< Stream::host() for one that was moved from
  /// The id of the algorithm that the last execute launched; the plan's before the first.
  std::string algorithm() const;
  /// Waits until all that was queued on the stream has been done. Throws DeviceError for what went wrong there.
  void wait() const;

  struct State;  // of the library
  State* state() const noexcept { return state_.get(); }

 private:
  Workspace(const Plan& plan, Span<std::byte> memory, Stream stream, bool may_capture);
  std::unique_ptr<State> state_;
};

}  // namespace areal
