#pragma once
// The possible numbers of threads in a block of cw-tis and wf-tis for a tile (Poostchi 2017, 4.2.1 and Figures 9 and
// 10, which vary them for a fixed tile). Each combination is a separate kernel, so there are only the useful ones: from
// 128 (four warps, two of which sum a tile of 64) to 1024 (the most that a block can have). A tile of 16 has 256
// elements, so more threads would have nothing to move; there blocks have at least 64, two warps.

#include <array>
#include <span>

namespace areal::formulas {

inline constexpr std::array all_tile_threads{64, 128, 256, 512, 1024};

/// Ascending; empty if no tile has that side.
constexpr std::span<const int> tile_threads(int side) {
  const std::span<const int> all(all_tile_threads);
  return side == 16 ? all.first(3) : side == 32 || side == 64 ? all.subspan(1) : all.first(0);
}

/// 512, the fastest in the paper, or as many as the tile has elements.
constexpr int default_tile_threads(int side) { return side == 16 ? 256 : 512; }

}  // namespace areal::formulas
