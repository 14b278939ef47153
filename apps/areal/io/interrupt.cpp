#include "io/interrupt.hpp"

#include <unistd.h>
#include <atomic>
#include <csignal>
#include "media/media.hpp"

namespace areal::command {
namespace {

std::atomic<int> waits_for_frames{0}, was_interrupted{0};
static_assert(std::atomic<int>::is_always_lock_free);  // a signal handler must not lock

void end_by(int signal) {
  media::remove_unfinished_outputs();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
  ::_exit(128 + signal);  // process 1 of a container survives its own signals
}

}  // namespace

extern "C" void interrupted_by(int signal) {
  if (signal == SIGINT && waits_for_frames != 0 && was_interrupted == 0) {
    was_interrupted = 1;
    return;
  }
  end_by(signal);
}

InterruptScope::InterruptScope() {
  was_interrupted = 0;
  waits_for_frames = 1;
}
InterruptScope::~InterruptScope() { waits_for_frames = 0; }
bool InterruptScope::interrupted() const noexcept { return was_interrupted != 0; }
void InterruptScope::end_if_interrupted() const {
  if (interrupted()) end_by(SIGINT);
}

}  // namespace areal::command
