#pragma once
// The row loops of `van-herk`, one set for each SIMD target. Floats are compared as integers in the same order, in
// which a NaN comes before all others of a minimum and after all others of a maximum, and -0 before 0.

#include <areal/type.hpp>
#include <cstddef>
#include <cstdint>

namespace areal::cpu {

/// Bytes that every row has beyond its elements: loops read whole vectors. Only `prefix` is written there; outputs have
/// any alignment.
inline constexpr std::size_t extreme_padding = 256;

/// Loops over elements of one type.
struct ExtremeKernels {
  /// out[i] = the extreme of row[i], row[i + step], .., row[i + (size - 1) step], for i < n; uses up the row.
  void (*along)(void* row, std::int64_t n, std::int64_t size, std::int64_t step, void* out);
  /// out[i] = the extreme of rows[0][i], .., rows[count - 1][i]; count is 1 to 4; `out` may be the first row.
  void (*across)(const void* const* rows, int count, std::int64_t n, void* out);
  /// prefix[i] = the extreme of prefix[i] and row[i]; out[i] = the extreme of suffix[i] and prefix[i]
  void (*advance)(void* prefix, const void* row, const void* suffix, std::int64_t n, void* out);
  /// Copies pixels of any alignment as what is compared, and puts pixels in place of that.
  void (*order)(const void* pixels, std::int64_t n, void* to);
  void (*restore)(void* row, std::int64_t n);
};
const ExtremeKernels& extreme_kernels(bool least, Type type);

}  // namespace areal::cpu
