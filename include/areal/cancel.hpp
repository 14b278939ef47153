#pragma once
/// \file cancel.hpp CancelScope: stop a call from the thread that made it.

#include <functional>
#include <memory>

namespace areal {

/// Makes the calls of its thread cancellable while it lives. Executes and queries call `go_on` about every 50 ms on
/// that thread and throw Cancelled once it returns false; shorter calls never call it. Outputs then hold unspecified
/// values; plans and workspaces stay usable. Of nested scopes the innermost is used. On cuda, executes call `go_on`
/// only while they copy views of host memory, and then wait for each piece of a copy. simt and the papers' algorithms
/// never call it. Meant for interpreters and GUIs, whose signals and buttons belong to one thread; SatOptions::progress
/// also reports the work done.
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
