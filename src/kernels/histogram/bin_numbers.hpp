#pragma once
// Pixels as bin numbers of 8 bits, the form in which areal's own algorithms keep them in the workspace.

#include <cstdint>
#include "kernels/primitives/machine.hpp"

namespace areal::kernels {

/// The numbers of 4 x 4 pixels: a word a row, a byte a pixel.
using Square = Vec<std::uint32_t, 4>;

/// The number of a pixel outside a group's bins.
inline constexpr std::uint32_t no_number = 127;

/// Sets each byte to 1 if its number equals the key's, else to 0. The key is four times a number. Numbers are below
/// 128: more would need more instructions.
AREAL_DEVICE std::uint32_t equal_numbers(std::uint32_t numbers, std::uint32_t key) {
  return (0x80808080u - (numbers ^ key)) >> 7 & 0x01010101u;
}

}  // namespace areal::kernels
