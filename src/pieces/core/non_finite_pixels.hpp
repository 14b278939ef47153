#pragma once
// Pixels that are NaN or infinite. A table adds them to everything right and below: they are taken out, and marked.

#include <areal/view.hpp>
#include <cstdint>

namespace areal::pieces {

/// Bytes of a pixel's marks: is it NaN, infinity, minus infinity?
inline constexpr std::int64_t non_finite_kinds = 3;

/// What a sum of pixels is, by how many of them have each mark.
enum class NonFiniteSum : std::uint8_t { none, nan, above, below };
template <class Count>
NonFiniteSum non_finite_sum(const Count* marks) noexcept {
  if (marks[0] > 0 || (marks[1] > 0 && marks[2] > 0)) return NonFiniteSum::nan;
  return marks[1] > 0 ? NonFiniteSum::above : marks[2] > 0 ? NonFiniteSum::below : NonFiniteSum::none;
}

/// Of rows of floats.
bool has_non_finite(const ConstView& rows) noexcept;

/// Of one row and channel of floats in host memory: marks with 1 what is not finite, and makes it 0.
void take_out_non_finite(const View& rows, std::int64_t y, std::int64_t channel, std::uint8_t* marks) noexcept;

}  // namespace areal::pieces
