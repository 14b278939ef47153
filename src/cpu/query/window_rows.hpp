#pragma once
// Rows of window sums, and statistics from them. Plain loops that the compiler vectorises for each SIMD target. Rows
// are independent, so results do not depend on the number of threads.

#include <areal/table.hpp>
#include <cstdint>
#include <span>
#include "formulas/window_axis.hpp"

namespace areal::cpu {

/// A table under sliding windows. The kernels read the plane that the view's data points to.
struct WindowedTable {
  TableView table;  ///< border `zero` or `none`
  formulas::WindowAxis columns, rows;
  formulas::CellBeyond beyond;  ///< for edge `constant`
  /// Interleaved channels that the kernels process as one plane, whose pixels have this many adjacent elements; 1: the
  /// elements of the view's plane, which may be apart.
  std::int64_t channels_together = 1;
  std::span<const formulas::Pieces> rim = {};  ///< of the columns before the windows inside, then of those behind
};

/// Sums of one row of windows, modulo 2^64 (two's complement for signed tables) or double.
union WideSum {
  std::uint64_t integer;
  double real;
};

/// Buffers for a row of elements: width + 1 and columns.outputs for a plane, times the channels processed together.
struct WindowBuffers {
  void* difference;  ///< width + 1, of 8 bytes
  WideSum* sums;     ///< columns.outputs
  double* values;    ///< columns.outputs, or a chunk of 512 if that is more
};

/// The destination of a row's elements.
struct WindowOutput {
  Type type;
  Rounding rounding;
  char* row;
  const double* divisors;  ///< pixels of each window along the row, for means; null for sums
};

/// One set for each SIMD target and table type.
struct WindowKernels {
  /// Row y of sums, in buffers of WindowBuffers' sizes.
  void (*sums)(const WindowedTable& windows, std::int64_t y, void* difference, WideSum* sums);
  /// As double, rounded once.
  void (*reals)(const WideSum* sums, std::int64_t n, double* out);
  /// |sum| of integers; returns the largest.
  std::uint64_t (*magnitudes)(const WideSum* sums, std::int64_t n, std::uint64_t* out);
  /// Row y of sums or means, stored.
  void (*store)(const WindowedTable& windows, std::int64_t y, const WindowBuffers& buffers, const WindowOutput& to);
};
const WindowKernels& window_kernels(Type table);

/// Row loops of doubles, n long.
struct ArithmeticKernels {
  /// values[i] /= pixels[i] * factor.
  void (*divide)(double* values, const double* pixels, double factor, std::int64_t n);
  /// `variance` of doubles; sums become variances.
  void (*variances)(double* sums, const double* squares, const double* pixels, double factor, std::int64_t n);
  /// `variance` for integers if factor * pixels * squares is always below 2^63.
  void (*small_variances)(const std::uint64_t* sums, const std::uint64_t* squares, const std::uint64_t* pixels,
                          std::uint64_t factor, std::int64_t n, double* out);
  void (*square_roots)(double* values, std::int64_t n);
  /// To 32f, 64f, or rounded to 8u, 8s, 16u, 16s or 32s; elements of any alignment.
  void (*store)(const double* values, std::int64_t n, Type type, void* out);
  /// Rows of n elements, one channel after another, as n pixels; at any address.
  void (*interleave)(const char* rows, std::int64_t n, std::int64_t channels, Type type, char* out);
};
const ArithmeticKernels& arithmetic_kernels();

}  // namespace areal::cpu
