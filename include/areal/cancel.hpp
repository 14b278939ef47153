#pragma once
/// \file cancel.hpp How a thread stops the work that it has called for.

#include <functional>
#include <memory>

namespace areal {

/// While one lives, what its thread calls for can be stopped: plans' executes and queries ask `go_on` about every 50
/// ms, on that thread, and throw Cancelled once it returned false. Outputs then hold unspecified values; plans and
/// workspaces can be used again. Calls that take less time never ask. The innermost of a thread's scopes counts. On
/// cuda executes ask while they copy views of host memory, and wait for each piece of a copy. On simt, and by the
/// papers' algorithms, nothing is asked. For interpreters and windows, whose signals and buttons belong to one thread;
/// SatOptions::progress tells more.
class CancelScope {
 public:
  explicit CancelScope(std::function<bool()> go_on);
  ~CancelScope();
  CancelScope(const CancelScope&) = delete;
  CancelScope& operator=(const CancelScope&) = delete;

  struct State;  // of the library

 private:
  std::unique_ptr<State> state_;
};

}  // namespace areal
