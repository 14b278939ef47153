#pragma once
/// \file plan.hpp Plan and Workspace: what is decided before the data is there, and the memory that an execute needs.

#include <areal/execution.hpp>
#include <cstddef>
#include <memory>
#include <string>

namespace areal {

/// What the plans of tables, tensors and scans have in common. Cheap to copy, thread-safe; may execute at once on
/// several threads or streams with a workspace each.
class Plan {
 public:
  struct State;  // of the library

  /// Bytes of workspace that an execute needs, of any alignment; 0 is possible.
  std::size_t workspace_bytes() const noexcept;
  Backend backend() const noexcept;  ///< never automatic
  /// The memory that an execute works on; Workspace says when it also takes views of host memory.
  MemoryPlace memory() const noexcept;
  const Execution& execution() const noexcept;    ///< with the backend that was chosen
  const std::string& algorithm() const noexcept;  ///< the id that `auto` chose
  const std::string& reason() const noexcept;     ///< and why

 protected:
  explicit Plan(std::shared_ptr<const State> state) noexcept : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
  friend class Workspace;
};

/// The memory that a plan's execute needs, made ready once and left ready by every execute. For one execute at a time.
class Workspace {
 public:
  /// Owned memory, where the plan runs, on the stream of the plan's Execution; where that names none, an execute has
  /// ended when it returns. An execute of a plan on CUDA also takes views of host memory: it copies them there and
  /// back, through memory that the workspace keeps, and returns when the host has the results. Throws OutOfMemory, with
  /// the bytes.
  explicit Workspace(const Plan& plan);
  /// Your memory, of `plan.workspace_bytes()` bytes where the plan runs, for executes on that stream: they allocate
  /// nothing, wait for nothing and may be captured in a CUDA graph, and take device memory alone. Queues what makes the
  /// memory ready, which must not be captured. The memory is yours until the last execute has ended.
  Workspace(const Plan& plan, void* memory, Stream stream);
  ~Workspace();
  Workspace(Workspace&&) noexcept;
  Workspace& operator=(Workspace&&) noexcept;

  Stream stream() const noexcept;
  /// Waits until all that was queued on the stream has been done.
  void wait() const;

  struct State;  // of the library
  State& state() noexcept { return *state_; }

 private:
  std::unique_ptr<State> state_;
};

}  // namespace areal
