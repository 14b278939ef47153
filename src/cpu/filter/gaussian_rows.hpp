#pragma once
// The row loops of Gaussians, one set for each SIMD target.

#include <cstdint>

namespace areal::cpu {

struct GaussianKernels {
  /// Elements [begin, end) of out = rows[reach] weights[0] + the sum of (rows[reach - k] + rows[reach + k]) weights[k],
  /// from the largest k down to 1. Elements of rows may be of the same memory, not of out's.
  void (*convolve)(const double* const* rows, const double* weights, std::int64_t reach, std::int64_t begin,
                   std::int64_t end, double* out);
  /// out = inner sums + outer (left + right); `out` may be `sums`.
  void (*extend)(const double* sums, const double* left, const double* right, double inner, double outer,
                 std::int64_t n, double* out);
  /// values[i] *= by[i] * factor
  void (*scale)(double* values, const double* by, double factor, std::int64_t n);
};
const GaussianKernels& gaussian_kernels();

}  // namespace areal::cpu
