#pragma once
// The row loops of `walk`, one set for each SIMD target. Sums are unsigned, modulo 2^32 or 2^64, so that a prefix sum
// or a column may wrap as long as each window's sum fits.

#include <areal/type.hpp>
#include <areal/view.hpp>
#include <cstdint>
#include "formulas/local_threshold.hpp"
#include "formulas/rounded_mean.hpp"
#include "formulas/window_axis.hpp"

namespace areal::cpu {

/// What is summed of each pixel. The low and the high 32 bits of a square have sums of their own where a sum of squares
/// may exceed 64 bits.
enum class Power : std::uint8_t { pixel, square, low_of_square, high_of_square };

/// Where windows begin or end along a row of prefix sums: `n` columns from `first` on, which may lie outside of the
/// image.
struct Boundary {
  formulas::WindowAxis axis;
  std::int64_t channels, first, n;
  std::uint64_t beyond;  ///< what one column beyond the edge adds
};

/// The loops of one sum. Rows have any alignment; columns, prefix sums and windows are arrays of its 4 or 8 bytes.
struct TermKernels {
  std::size_t bytes;  ///< of a sum
  /// columns[i] += times * row[i]
  void (*add)(void* columns, const char* row, std::int64_t n, std::uint64_t times);
  /// columns[i] += entering[i] - leaving[i]
  void (*step)(void* columns, const char* entering, const char* leaving, std::int64_t n);
  /// prefix[i + channels] = columns[i] + prefix[i], after `channels` zeros.
  void (*prefix)(const void* columns, void* prefix, std::int64_t n, std::int64_t channels);
  /// The prefix sums at a boundary: boundary.n * boundary.channels of them.
  void (*boundary)(const Boundary& boundary, const void* prefix, void* out);
  /// right[i] - left[i], as double, and as 64 bits (two's complement).
  void (*reals)(const void* left, const void* right, std::int64_t n, double* out);
  void (*integers)(const void* left, const void* right, std::int64_t n, std::uint64_t* out);
};
/// Null for sums that no filter needs.
const TermKernels* term_kernels(Type in, Power power, bool wide);

enum class Statistic : std::uint8_t { sum, mean, count, variance, standard_deviation, threshold };

/// How window sums become outputs.
struct Finish {
  Statistic statistic = Statistic::sum;
  Type in = Type::u8, out = Type::u8;
  Rounding rounding = Rounding::nearest;
  double ddof = 0;
  formulas::LocalThreshold local = {};
  bool decides = false;  ///< outputs are `above` where the pixel is above its threshold, else `below`
  double above = 0, below = 0;
  double min_count = 1, fill = 0;

  bool needs_squares() const {
    return statistic == Statistic::variance || statistic == Statistic::standard_deviation ||
           (statistic == Statistic::threshold && local.needs_squares());
  }
};

/// Statistics of some windows, arrays of double. Only those that the filter needs.
struct WindowTerms {
  double *count, *sum, *squares;
  double* numerator;  ///< count * squares - sum^2, exact, then rounded
  double* pixels;     ///< at the centres
};

/// Prefix sums at both ends of windows of one size, whose sums fit 31 bits; the squares' may be null.
struct InnerSums {
  const std::uint32_t *left, *right, *squares_left, *squares_right;
  double count;          ///< pixels of each window, at least min_count
  const double* pixels;  ///< at the centres
};

/// One set for each SIMD target.
struct FinishKernels {
  /// The outputs, before the last rounding.
  void (*finish)(const Finish& finish, const WindowTerms& terms, std::int64_t n, double* values);
  /// The same outputs in one pass, where `numerator` is exact in double and means are not OpenCV's. Reads and writes up
  /// to 64 bytes more.
  void (*finish_inner)(const Finish& finish, const InnerSums& sums, std::int64_t n, double* values);
  /// Bytes of bytes above or below the thresholds of niblack, sauvola or wolf; `pixels` are those at the centres.
  void (*decide_bytes)(const Finish& finish, const InnerSums& sums, const std::uint8_t* pixels, std::int64_t n,
                       std::uint8_t* out);
  /// The largest variance; 0 for none.
  double (*most_variance)(const Finish& finish, const WindowTerms& terms, std::int64_t n);
  void (*exact_numerators)(const WindowTerms& terms, std::int64_t n);
  /// Of 64-bit integers; all fit 64 bits.
  void (*numerators)(const std::uint64_t* counts, const std::uint64_t* sums, const std::uint64_t* squares,
                     std::int64_t n, double* out);
  /// Elements of that type, `step` bytes apart, as double.
  void (*reals)(const char* from, std::int64_t step, Type type, std::int64_t n, double* out);
  /// out[i] = plus[i] + the element; `out` may be `plus`.
  void (*add_reals)(const char* from, std::int64_t step, Type type, std::int64_t n, const double* plus, double* out);
  /// sums[i] / count to 32f or 64f.
  void (*means_of_reals)(const double* sums, double count, std::int64_t n, Type type, char* out);
  /// To any type of filters' outputs.
  void (*store)(const double* values, std::int64_t n, Type type, void* out);
  /// Means of 32-bit sums to 8u or 16u, of the same type of pixels.
  void (*means)(const std::uint32_t* left, const std::uint32_t* right, const formulas::RoundedMean& mean,
                std::int64_t n, Type type, char* out);
};
const FinishKernels& finish_kernels();

}  // namespace areal::cpu
