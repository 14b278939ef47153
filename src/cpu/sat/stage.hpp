#pragma once
// Operations on a row before and after the scan: separating and joining channels, masks, counts, depth.

#include <areal/type.hpp>
#include <cstdint>

namespace areal::cpu {

/// Rows of n pixels, any alignment. All loops are compiled for every SIMD target.
struct Stage {
  /// Separates pixels of `channels` interleaved elements of `size` bytes into one row for each channel, and back.
  void (*take_apart)(const void* pixels, void* const* rows, std::int64_t n, int channels, std::size_t size);
  void (*put_together)(const void* const* rows, void* pixels, std::int64_t n, int channels, std::size_t size);
  /// valid[x] = mask[x] != 0
  void (*valid_of_mask)(const void* mask, std::uint8_t* valid, std::int64_t n);
  /// valid[x] = 0 where row[x] is NaN (16f, 32f, 64f; others have none)
  void (*drop_nan)(const void* row, Type type, std::uint8_t* valid, std::int64_t n);
  /// to[x] = valid[x] ? from[x] : 0, elements of `size` bytes
  void (*keep_valid)(const void* from, const std::uint8_t* valid, void* to, std::int64_t n, std::size_t size);
  /// to[x] = from[x] + other[x] in the table's type
  void (*add)(const void* from, const void* other, void* to, std::int64_t n, Type table);
};

/// The loops of this CPU's best target.
Stage stage();

}  // namespace areal::cpu
