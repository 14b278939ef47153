#pragma once
// count-then-write: the types that its two launches share.

#include <cstdint>
#include "kernels/histogram/bin_numbers.hpp"
#include "kernels/histogram/request.hpp"
#include "kernels/primitives/machine.hpp"
#include "kernels/primitives/strides.hpp"

namespace areal::kernels {

/// A segment is 128 columns, 4 a lane; a tile is a segment of a band; a chunk is the segments that a block writes.
inline constexpr int segment_width = 4 * warp_size, most_segments = 16, most_band_rows = 128;

struct CountThenWriteArgs {
  const char* image;
  char* tensor;
  Strides in, out;
  ChannelRule rule;
  std::int64_t width, height, images;
  int bins, group, groups;  ///< bins of a group, each with its own numbers
  int segments, chunk, chunks;
  int bands, rows;         ///< of a band: a multiple of 8
  Square* numbers;         ///< [image][group][band][4 rows][segment][lane]
  std::uint32_t* columns;  ///< [image][band][bin][segment][lane] counts of the bin in the lane's 4 columns, a byte each
  std::uint32_t* sides;    ///< the same of rows lane, lane + 32, .., if there are several chunks
  std::uint32_t* totals;   ///< [image][band][bin][segment] counts of the bin, if there are several chunks

  AREAL_DEVICE Square* numbers_of(std::int64_t image_, int group_, int band) const {
    return numbers + ((image_ * groups + group_) * bands + band) * (rows / 4) * segments * warp_size;
  }
  /// Of a tile's bin, in segments.
  AREAL_DEVICE std::int64_t tile(std::int64_t image_, int band, int bin, int segment) const {
    return ((image_ * bands + band) * bins + bin) * segments + segment;
  }
  AREAL_DEVICE int rows_of(int band) const {
    const std::int64_t left = height - static_cast<std::int64_t>(band) * rows;
    return static_cast<int>(left < rows ? left : rows);
  }
};

/// The columns' 16-bit sums of words of 4 bytes: of bytes 0 and 2, and of bytes 1 and 3.
struct ByteSums {
  std::uint32_t even = 0, odd = 0;
  AREAL_DEVICE void add(std::uint32_t word) { even += word & 0xff00ffu, odd += word >> 8 & 0xff00ffu; }
  AREAL_DEVICE std::uint32_t of(int byte) const { return (byte & 1 ? odd : even) >> (byte & 2 ? 16 : 0) & 0xffffu; }
};

}  // namespace areal::kernels
