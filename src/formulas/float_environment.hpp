#pragma once
// Floating-point arithmetic as the language defines it, whatever the caller's thread was set to: XLA's threads flush
// denormal numbers to zero, and torch.set_flush_denormal makes others do so.

#if defined(__SSE2__)
#include <xmmintrin.h>
#else
#include <cfenv>
#endif

namespace areal {

/// While it lives, the thread rounds to nearest and keeps denormal numbers; then it is as before. Masks of exceptions
/// stay.
class FloatEnvironment {
 public:
  FloatEnvironment(const FloatEnvironment&) = delete;
  FloatEnvironment& operator=(const FloatEnvironment&) = delete;

#if defined(__SSE2__)
  FloatEnvironment() : before_(_mm_getcsr()) {
    if ((before_ & modes) != 0) _mm_setcsr(before_ & ~modes);
  }
  ~FloatEnvironment() {
    if ((before_ & modes) != 0) _mm_setcsr(before_);
  }

 private:
  static constexpr unsigned modes = 0xE040;  // MXCSR: flush to zero, rounding, denormals are zero
  unsigned before_;
#else
  FloatEnvironment() {
    std::fegetenv(&before_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~FloatEnvironment() { std::fesetenv(&before_); }

 private:
  std::fenv_t before_;
#endif
};

}  // namespace areal
