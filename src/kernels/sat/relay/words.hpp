#pragma once
// The words that warps of relay publish: one or two sums of bytes and a tag of the launch that wrote them. Every launch
// writes every word, so words of the previous launch have another tag.

#include <cstdint>
#include "kernels/primitives/machine.hpp"

namespace areal::kernels {

/// The tags of a launch. Launches are counted in 32 bits. Consecutive launches have different tags, 2^32 - 1 and 0
/// included: no divisor divides 2^32 - 1.
struct RelayTags {
  std::uint32_t launch;
  AREAL_DEVICE std::uint32_t pair() const { return (launch % 14 + 1) << 28; }
  AREAL_DEVICE std::uint32_t row() const { return (launch % 65534 + 1) << 16; }
  AREAL_DEVICE std::uint32_t sum() const { return (launch % 254 + 1) << 24; }
};

/// Of two columns of a unit: 14 bits each, and 4 of the launch.
struct ColumnPair {
  std::uint32_t bits;
  static constexpr std::uint32_t most = (1u << 14) - 1;
  AREAL_DEVICE bool is_of(std::uint32_t tag) const { return (bits & 0xf0000000u) == tag; }
  AREAL_DEVICE std::uint32_t first() const { return bits & most; }
  AREAL_DEVICE std::uint32_t second() const { return bits >> 14 & most; }
};
/// Of a row of a unit: 16 bits, and 16 of the launch.
struct RowWord {
  std::uint32_t bits;
  AREAL_DEVICE bool is_of(std::uint32_t tag) const { return (bits & 0xffff0000u) == tag; }
  AREAL_DEVICE std::uint32_t value() const { return bits & 0xffffu; }
};
/// Sum of a row's columns to the left, or of a column's rows above: 24 bits, and 8 of the launch.
struct SumWord {
  std::uint32_t bits;
  AREAL_DEVICE bool is_of(std::uint32_t tag) const { return (bits & 0xff000000u) == tag; }
  AREAL_DEVICE std::uint32_t value() const { return bits & 0xffffffu; }
};
/// The longest side of an image whose row and column sums fit 24 bits. The sum left of 256 rows then fits 32 bits.
inline constexpr std::int64_t relay_longest = 65536;

}  // namespace areal::kernels
