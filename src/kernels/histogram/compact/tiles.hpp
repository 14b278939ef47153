#pragma once
// The compact store: the geometry, and the types that its launches share.

#include <cstddef>
#include <cstdint>
#include "formulas/compact.hpp"
#include "kernels/histogram/bin_numbers.hpp"
#include "kernels/primitives/counted_image.hpp"
#include "kernels/primitives/machine.hpp"
#include "kernels/primitives/strides.hpp"

namespace areal::kernels {

/// A tile has 128 x 128 pixels, a line of it is a row (direction 0) or a column (1). A chunk is 32 lines, or the 32
/// pixels of a line that lie in a chunk.
inline constexpr int compact_tile = 128, compact_chunks = compact_tile / warp_size, compact_squares = compact_tile / 4;

struct CompactArgs {
  formulas::Compact c;
  CountedImage image;
  const char* mask = nullptr;  ///< or null
  Strides mask_in;
  bool words = false;       ///< the image is read in words of 4 bytes
  std::uint32_t scale = 0;  ///< if not 0, a pixel's bin is pixel * scale / 65536
  char* store = nullptr;
  int groups = 1;                           ///< of at most 128 bins
  std::int64_t tiles_x = 0, tiles_y = 0;    ///< with pixels
  std::int64_t before_x = 0, before_y = 0;  ///< with strips: one more if a strip lies behind the last pixel

  // Of direction 0; those of direction 1 in []. A tile's entries are adjacent.
  std::uint8_t* counts[2] = {};   ///< [image][tile][line][K']: a line's pixels of each bin
  std::uint16_t* before[2] = {};  ///< the same counts of the whole line before the tile, modulo 2^16
  std::uint32_t* cells[2] = {};  ///< [image][tile][chunk or total][K']: a chunk's pixels; after `walk`, before the tile

  /// Directions differ in the chunks that they keep: the columns' total is the count of the whole tile.
  AREAL_BOTH static constexpr int entries(int direction) { return compact_chunks + direction; }
  AREAL_BOTH std::int64_t tile(std::int64_t image_, std::int64_t y, std::int64_t x) const {
    return (image_ * tiles_y + y) * tiles_x + x;
  }
  /// Of the arrays `before` and `cells`.
  AREAL_BOTH std::int64_t tile_before(int direction, std::int64_t image_, std::int64_t y, std::int64_t x) const {
    return direction == 0 ? (image_ * tiles_y + y) * before_x + x : (image_ * before_y + y) * tiles_x + x;
  }
};

/// How many bins a block counts: 2 to the power `bits`, 5 to 7.
template <int bits_>
struct CompactBins {
  static constexpr int bits = bits_;
  static constexpr int bins = 1 << bits;
  static constexpr int pairs = bits == 7 ? 2 : 1;  ///< neighbouring bins of a lane
  static constexpr int lines = bits == 5 ? 2 : 1;  ///< that a warp counts at once
  static constexpr int lanes = warp_size / lines;  ///< of a line
  static constexpr int step = 2 * lanes;           ///< bins from one of a lane's pairs to its next
};

/// The place of a block.
struct CompactSpot {
  int group;
  std::int64_t x, y, image;  ///< in tiles
};
template <class M>
AREAL_DEVICE CompactSpot compact_spot(const M& m, int groups, std::int64_t tiles_x, std::int64_t tiles_y) {
  auto at = static_cast<std::uint32_t>(m.block());  // a grid has fewer blocks than 2^31
  CompactSpot spot;
  spot.group = static_cast<int>(at % static_cast<std::uint32_t>(groups)), at /= static_cast<std::uint32_t>(groups);
  spot.x = at % static_cast<std::uint32_t>(tiles_x), at /= static_cast<std::uint32_t>(tiles_x);
  spot.y = at % static_cast<std::uint32_t>(tiles_y), spot.image = at / static_cast<std::uint32_t>(tiles_y);
  return spot;
}

/// The numbers of a square's pixels within a group of 128 bins; above 127: in none of its bins.
AREAL_DEVICE Square numbers_of_bytes(Square labels, int group, bool has_none) {
  if (group == 0) return labels;
  AREAL_UNROLL
  for (int i = 0; i < 4; ++i) {
    const std::uint32_t word = labels.at[i] ^ 0x80808080u;
    // 255 is the label of no pixel's bin; 127 is its number.
    labels.at[i] = has_none ? word | (((word & 0x7f7f7f7fu) + 0x01010101u) & 0x80808080u) : word;
  }
  return labels;
}
AREAL_DEVICE std::uint32_t number_of(std::uint32_t label, int group) {
  const std::uint32_t number = label - (static_cast<std::uint32_t>(group) << 7);
  return number < 128 ? number : 255u;
}

/// Pixels beside the image lie in no bin.
template <class Args>
AREAL_DEVICE Square inside_image(const Args& a, Square numbers, std::int64_t y, std::int64_t x) {
  if (y + 4 <= a.c.height && x + 4 <= a.c.width) return numbers;
  AREAL_UNROLL
  for (int i = 0; i < 4; ++i) AREAL_UNROLL
  for (int v = 0; v < 4; ++v)
    if (y + i >= a.c.height || x + v >= a.c.width) numbers.at[i] |= 0xffu << (8 * v);
  return numbers;
}

/// The numbers of a square of the store's labels, at a row and column that are multiples of 4.
template <class M>
AREAL_DEVICE Square stored_numbers(const M& m, const CompactArgs& a, int group, std::int64_t image, std::int64_t y,
                                   std::int64_t x) {
  Square none{{~0u, ~0u, ~0u, ~0u}};
  if (y >= a.c.height || x >= a.c.width) return none;
  const char* const from = a.store + a.c.labels_at() + a.c.label(image, y, x) * a.c.label_bytes;
  if (a.c.label_bytes == 1)
    return inside_image(a, numbers_of_bytes(m.load(reinterpret_cast<const Square*>(from)), group, a.c.bins < 256), y,
                        x);
  Square numbers;
  AREAL_UNROLL
  for (int half = 0; half < 2; ++half) {
    const Square two = m.load(reinterpret_cast<const Square*>(from) + half);  // rows of four labels
    AREAL_UNROLL
    for (int i = 0; i < 2; ++i) {
      const std::uint32_t low = two.at[2 * i], high = two.at[2 * i + 1];
      numbers.at[2 * half + i] = number_of(low & 0xffffu, group) | number_of(low >> 16, group) << 8 |
                                 number_of(high & 0xffffu, group) << 16 | number_of(high >> 16, group) << 24;
    }
  }
  return inside_image(a, numbers, y, x);
}

}  // namespace areal::kernels
