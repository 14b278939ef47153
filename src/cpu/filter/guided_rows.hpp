#pragma once
// The row loops of guided filters, one set for each SIMD target.

#include <cstddef>
#include <cstdint>

namespace areal::cpu {

/// Sums of n windows. With one channel only the first of each array is used.
struct GuidedSums {
  const double* p;
  const double *guide[3], *cross[3];  ///< I, I p
  const double* squares[6];           ///< I0 I0, I0 I1, I0 I2, I1 I1, I1 I2, I2 I2
  const double *count, *share;        ///< pixels of each window, and 1 / that
  double eps;
};

/// The same of prefix sums of columns: a window's is that of `size` columns on, less that of its first column.
struct GuidedPrefixSums {
  const std::uint32_t* p;
  const std::uint32_t *guide[3], *cross[3];
  const std::uint32_t* squares[6];
  std::int64_t size;
  const double *count, *share;
  double eps;
};

struct GuidedKernels {
  /// to[i] *= by[i]
  void (*multiply)(double* to, const double* by, std::int64_t n);
  /// to[i] *= to[i]
  void (*square)(double* to, std::int64_t n);
  /// a of each channel, then b.
  void (*coefficients)(std::int64_t channels, const GuidedSums& sums, std::int64_t n, double* const* out);
  void (*coefficients_of_bytes)(std::int64_t channels, const GuidedPrefixSums& sums, std::int64_t n,
                                double* const* out);
  /// columns[i] += entering[i] - leaving[i]
  void (*step)(std::uint32_t* columns, const std::uint8_t* entering, const std::uint8_t* leaving, std::int64_t n);
  /// The same of products of two rows each.
  void (*step_products)(std::uint32_t* columns, const std::uint8_t* entering, const std::uint8_t* entering_by,
                        const std::uint8_t* leaving, const std::uint8_t* leaving_by, std::int64_t n);
  /// values[i] = (sum over channels of a I + b) * share[i], of sums of a and b.
  void (*outputs)(std::int64_t channels, const double* const* sums, const double* const* guide, const double* share,
                  std::int64_t n, double* values);
};
const GuidedKernels& guided_kernels();

}  // namespace areal::cpu
