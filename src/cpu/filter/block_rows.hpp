#pragma once
// The row loops of `blocks`, one set for each SIMD target.

#include <areal/type.hpp>
#include <cstddef>
#include <cstdint>

namespace areal::cpu {

/// What windows merge.
enum class Merge : std::uint8_t { sum, moments, minimum, maximum };

/// Where the windows of a row lie: output i is of the positions [first + i, first + i + size) of a row of whole blocks.
struct BlockWindows {
  std::int64_t positions;  ///< whole blocks
  std::int64_t first, size, outputs, block;
};
/// Arrays for a row of positions.
struct BlockScratch {
  static constexpr std::int64_t padding = 128;
  void *prefix, *suffix, *whole;   ///< `positions + padding` each
  void *total, *between, *longer;  ///< positions / block + 1 each
};

/// Loops over elements of one type: double, Moments, or the type of an extreme's pixels (float for 16f).
struct BlockKernels {
  std::size_t bytes;  ///< of an element
  /// n times the element that changes nothing.
  void (*clear)(void* to, std::int64_t n);
  /// to[i] = a[i] merged with b[i]; `to` may be either.
  void (*merge)(void* to, const void* a, const void* b, std::int64_t n);
  /// to[i] = (a[i] merged with b[i]) merged with c[i]
  void (*merge_three)(void* to, const void* a, const void* b, const void* c, std::int64_t n);
  void (*windows)(const BlockWindows& of, const void* row, const BlockScratch& scratch, void* out);
  /// out[i] = row[positions[i]], one after another: they may be the same memory
  void (*spread)(const void* row, const std::int32_t* positions, std::int64_t n, void* out);
};
const BlockKernels& block_kernels(Merge merge, Type extremes = Type::f64);

}  // namespace areal::cpu
