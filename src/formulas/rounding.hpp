#pragma once
// Reals as whole numbers, and OpenCV's fixed-point means.

#include <cstdint>
#include <limits>

namespace areal::formulas {

/// The whole number nearest to 0 <= x < 2^63, half to even.
constexpr std::uint64_t nearest(double x) noexcept {
  return static_cast<std::uint64_t>(x < 0x1p52 ? (x + 0x1p52) - 0x1p52 : x);
}

/// The whole number nearest to x, half to even, saturated to T, an integer of at most 32 bits, signed if it has as
/// many; 0 for NaN.
template <class T>
constexpr T rounded(double x) noexcept {
  constexpr double least = std::numeric_limits<T>::min(), most = std::numeric_limits<T>::max();
  const double low = least < 0 && x == x ? least : 0;
  const double held = x > least ? (x < most ? x : most) : low;
  return static_cast<T>(static_cast<std::int32_t>((held + 0x1.8p52) - 0x1.8p52));
}

/// The mean of n pixels of 8 bits as OpenCV's boxFilter rounds it, for 2 <= n <= 256: (sum + delta) factor / 2^23, at
/// most 255. Within 1 of the nearest, and neither half to even nor half up.
struct FixedPointMean {
  std::uint32_t pixels, factor, delta;

  static constexpr bool serves(std::uint64_t n) noexcept { return n >= 2 && n <= 256; }
  explicit constexpr FixedPointMean(std::uint32_t n) noexcept : pixels(n), factor((1u << 23) / n), delta(n / 2) {
    const bool below_half = 2 * ((1u << 23) % n) < n;
    below_half ? ++delta : ++factor;
  }
  constexpr std::uint8_t operator()(std::uint64_t sum) const noexcept {
    // A mean of 256 saturates to 255, so that the product fits 32 bits.
    const auto held = static_cast<std::uint32_t>(sum < largest() ? sum : largest());
    const std::uint32_t mean = (held + delta) * factor >> 23;
    return static_cast<std::uint8_t>(mean < 255 ? mean : 255);
  }
  constexpr std::uint32_t largest() const noexcept { return 256 * pixels; }
};

}  // namespace areal::formulas
