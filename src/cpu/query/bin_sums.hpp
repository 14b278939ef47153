#pragma once
// Histograms of regions and of sliding windows from a planar tensor.

#include <areal/histogram_measures.hpp>
#include <areal/type.hpp>
#include <cstdint>
#include "cpu/query/corners.hpp"

namespace areal::cpu {

/// The histogram, `bins` long, of the region with these corners in the first bin's plane.
template <class Out>
using BinSums = void (*)(const Corners& corners, std::int64_t plane_pitch, std::int64_t bins, Out* out);

/// The loop for a tensor type; nullptr if its counts are not of kind Out. uint64_t reads 16u, 32u and 64u, double all.
template <class Out>
BinSums<Out> bin_sums(Type tensor);
extern template BinSums<std::uint64_t> bin_sums<std::uint64_t>(Type);
extern template BinSums<double> bin_sums<double>(Type);

/// Row loops over adjacent windows. Everything is n long; elements are independent.
struct BinRowKernels {
  /// counts[x] of one bin, for windows of `width` columns from column x on, between two rows of its plane. `top` may be
  /// null (zeros). Negative counts, from rounding, read as 0.
  void (*counts)(Type type, const void* top, const void* bottom, std::int64_t width, std::int64_t n, double* counts);
  void (*add)(const double* counts, std::int64_t n, double* total);
  /// Adds one bin's term to sum[x], where p = counts[x] / total[x]; `cumulative` is the sum over the bins so far.
  void (*accumulate)(Distance measure, const double* counts, const double* total, double target, std::int64_t n,
                     double* cumulative, double* sum);
  /// Turns the sums into distances; `empty` if the total is 0.
  void (*finish)(Distance measure, const double* total, double empty, std::int64_t n, double* sum);
};
const BinRowKernels& bin_row_kernels();

}  // namespace areal::cpu
