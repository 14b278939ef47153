// Loaded before the C library (LD_PRELOAD): the monotonic clock of the process and its timers run AREAL_CLOCK times as
// fast, so that tests of time limits are short.
#include <dlfcn.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <initializer_list>

namespace {

constexpr std::int64_t second = 1'000'000'000;

std::int64_t nanoseconds(const timespec& time) { return time.tv_sec * second + time.tv_nsec; }
timespec as_timespec(std::int64_t time) { return {time / second, time % second}; }

std::int64_t factor() {
  static const char* const given = std::getenv("AREAL_CLOCK");
  static const std::int64_t found = given == nullptr ? 1 : std::strtol(given, nullptr, 10);
  return found;
}

}  // namespace

extern "C" {

int clock_gettime(clockid_t clock, timespec* time) noexcept {
  const auto result = static_cast<int>(::syscall(SYS_clock_gettime, clock, time));
  if (result != 0 || clock != CLOCK_MONOTONIC) return result;
  static const std::int64_t start = nanoseconds(*time);
  *time = as_timespec(start + (nanoseconds(*time) - start) * factor());
  return 0;
}

/// Shortens waits of some length; passes absolute times on unchanged.
int timerfd_settime(int timer, int flags, const itimerspec* set, itimerspec* old) noexcept {
  static auto* const real = reinterpret_cast<decltype(&::timerfd_settime)>(::dlsym(RTLD_NEXT, "timerfd_settime"));
  itimerspec sooner = *set;
  if (flags == 0)
    for (timespec* const time : {&sooner.it_value, &sooner.it_interval})
      if (const std::int64_t wait = nanoseconds(*time); wait > 0) *time = as_timespec((wait + factor() - 1) / factor());
  return real(timer, flags, &sooner, old);
}
}
