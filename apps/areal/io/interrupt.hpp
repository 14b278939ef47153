#pragma once
// Ctrl-C while frames are on their way: the first asks for no more frames, the second ends the process at once.

namespace areal::command {

/// The handler of SIGINT, SIGTERM and SIGHUP: removes unfinished output files and ends the process by the same signal,
/// unless it is the first SIGINT in an InterruptScope.
extern "C" void interrupted_by(int signal);

/// As long as it lives, the first SIGINT only sets a flag.
class InterruptScope {
 public:
  InterruptScope();
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;
  bool interrupted() const noexcept;
  /// Ends the process by SIGINT where there was one: when all has been written.
  void end_if_interrupted() const;
};

}  // namespace areal::command
