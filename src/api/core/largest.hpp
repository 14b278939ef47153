#pragma once
// The largest extent that fits, by bisection.

#include <cstdint>

namespace areal {

/// The largest value of [1, most] that fits, or 0. Requires that everything smaller than a fitting value fits.
template <class Fits>
std::int64_t largest(std::int64_t most, const Fits& fits) {
  std::int64_t none = 0, beyond = most + 1;
  while (beyond - none > 1) {
    const std::int64_t middle = none + (beyond - none) / 2;
    (fits(middle) ? none : beyond) = middle;
  }
  return none;
}

}  // namespace areal
