#pragma once
// Exact means of integers, half to even, by a multiplication.

#include <bit>
#include <cstdint>

namespace areal::formulas {

/// sum / n to the nearest whole number, half to even, for sum + n / 2 < 2^31: windows of up to 2^23 - 1 pixels of 8
/// bits or 2^15 - 1 of 16 bits. The quotient is floor((sum + n / 2) factor / 2^(31 + l)) with l = ceil(log2(n)) and
/// factor = floor(2^(31 + l) / n) + 1, which is exact for dividends of 31 bits (Granlund and Montgomery 1994); ties are
/// corrected afterwards.
struct RoundedMean {
  std::uint32_t pixels = 1, factor = 0;
  int shift = -1;  ///< of the upper word; -1 if n is 1

  static constexpr bool serves(std::uint64_t n, std::uint64_t most_of_a_pixel) noexcept {
    return n < (std::uint64_t{1} << 31) && most_of_a_pixel * n + n / 2 < (std::uint64_t{1} << 31);
  }
  constexpr RoundedMean() noexcept = default;
  explicit constexpr RoundedMean(std::uint32_t n) noexcept : pixels(n) {
    const int l = std::bit_width(n - 1);  // ceil(log2(n))
    shift = l - 1;
    factor = l == 0 ? 0 : static_cast<std::uint32_t>((std::uint64_t{1} << (31 + l)) / n + 1);
  }
  constexpr bool has_ties() const noexcept { return pixels % 2 == 0; }
  constexpr std::uint32_t half() const noexcept { return pixels / 2; }
  /// Half up: what operator() gives for odd n.
  constexpr std::uint32_t up(std::uint32_t sum) const noexcept {
    if (shift < 0) return sum;
    return static_cast<std::uint32_t>(std::uint64_t{sum + half()} * factor >> 32) >> shift;
  }
  constexpr std::uint32_t operator()(std::uint32_t sum) const noexcept {
    const std::uint32_t mean = up(sum);
    const bool tie = has_ties() && mean * pixels == sum + half();
    return mean - (tie ? mean & 1 : 0);
  }
};

}  // namespace areal::formulas
