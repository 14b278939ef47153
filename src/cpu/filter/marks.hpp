#pragma once
// Pixels that a mask or NaN leaves out of windows, one set of loops for each SIMD target.

#include <cstddef>
#include <cstdint>

namespace areal::cpu {

struct MarkKernels {
  /// marks[i] = whether mask[i] is not 0
  void (*of_mask)(const char* mask, std::int64_t n, char* marks);
  /// marks[i] = whether marks[i] is 1 and pixels[i] is not NaN
  void (*without_nan)(const double* pixels, std::int64_t n, char* marks);
  /// to[i] = from[i] where marks[i] is 1, else `other`, for elements of 1, 2, 4 or 8 bytes; `to` may be `from`.
  void (*keep)(const void* from, const char* marks, std::int64_t n, std::size_t size, const void* other, void* to);
};
const MarkKernels& mark_kernels();

}  // namespace areal::cpu
