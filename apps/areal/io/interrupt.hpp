#pragma once
// Ctrl-C during a sequence: the first stops reading frames, the second ends the process at once.

namespace areal::command {

/// The handler of SIGINT, SIGTERM and SIGHUP: removes unfinished output files and ends the process by the same signal,
/// unless it is the first SIGINT in an InterruptScope.
extern "C" void interrupted_by(int signal);

/// During its lifetime, the first SIGINT only sets a flag.
class InterruptScope {
 public:
  InterruptScope();
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;
  bool interrupted() const noexcept;
  /// Ends the process by SIGINT if one came. Call it after all output is written.
  void end_if_interrupted() const;
};

}  // namespace areal::command
