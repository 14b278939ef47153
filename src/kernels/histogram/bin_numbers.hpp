#pragma once
// Pixels as bin numbers of 8 bits, as the algorithms of ours keep them in the workspace.

#include <cstdint>
#include "kernels/primitives/machine.hpp"

namespace areal::kernels {

/// The numbers of 4 x 4 pixels: a word a row, a byte a pixel.
using Square = Vec<std::uint32_t, 4>;

/// A pixel of no bin of a group.
inline constexpr std::uint32_t no_number = 127;

/// A byte 1 for each number that is the key's, else 0; the key is a number four times. Numbers are below 128: more
/// would take more instructions.
AREAL_DEVICE std::uint32_t equal_numbers(std::uint32_t numbers, std::uint32_t key) {
  return (0x80808080u - (numbers ^ key)) >> 7 & 0x01010101u;
}

}  // namespace areal::kernels
