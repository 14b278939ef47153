#pragma once
// One tile of the fused integral histogram: from known bins to finished rows of the tensor.

#include <areal/type.hpp>
#include <cstdint>

namespace areal::cpu {

inline constexpr int tile_width = 512;  // pixels: a row of 64-bit sums is 4 KiB, and stays in L1
/// Bytes between rows of a tile's bins, elements between rows of its weights: whole vectors of any target.
constexpr int tile_stride(int width) { return (width + 63) / 64 * 64; }

struct HistogramTile {
  Type counter = Type::u32;             ///< 32u and 64u count; 32f and 64f add weights
  int width = 0, height = 0, bins = 0;  ///< pixels; bins of this group
  const std::uint8_t* rel = nullptr;    ///< bin of each pixel, 255 for none, padding up to tile_stride(width) included
  std::int64_t rel_pitch = 0;           ///< bytes between its rows, which are 64-byte aligned
  int first_bin = 0;                    ///< the group's first bin in `rel`; first_bin + bins <= 255
  const void* weights = nullptr;        ///< of the counter's type, rows of tile_stride(width), 64-byte aligned
  bool stream = false;                  ///< store past the caches

  char* out = nullptr;  ///< address of this tile's first pixel in its first bin of the tensor
  std::int64_t row_pitch = 0, plane_pitch = 0;
  bool zero_row = false;     ///< also write the row of zeros above
  bool zero_column = false;  ///< also write the column of zeros to the left

  // Carries: the values from the tile above and the tile to the left, replaced by those for the next tiles. Elements of
  // the counter's type; null if there is no such neighbour. Pitches from bin to bin, in elements.
  void* above = nullptr;  ///< last row of each bin
  void* left = nullptr;   ///< row sums of each bin up to this tile
  std::int64_t above_pitch = 0, left_pitch = 0;
  bool read_above = false, write_above = false, read_left = false, write_left = false;

  // The carry of a piece of a larger tensor, at any alignment; null for zeros. Pitches in bytes.
  const char* outer_above = nullptr;   ///< entry above the piece in the tile's first column
  const char* outer_corner = nullptr;  ///< entry above and left of the whole piece
  const char* outer_left = nullptr;    ///< entry left of the piece in the tile's first row
  std::int64_t outer_above_plane = 0, outer_left_row = 0, outer_left_plane = 0;
};

/// Computes the tile, writes every element once, and orders its stores before all later ones.
void run_tile(const HistogramTile& tile);

}  // namespace areal::cpu
