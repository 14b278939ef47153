#pragma once
// Earth mover's distances of adjacent windows, from a tensor in host memory.

#include <areal/region.hpp>
#include <areal/table.hpp>
#include <cstdint>
#include <vector>

namespace areal::video {

/// Buffers for the histograms of a row of windows. Each further window is one more column of each bin, so loops run
/// along the tensor's rows.
class EmdRow {
 public:
  /// After this, no call allocates.
  void resize(std::int64_t bins, std::int64_t most_windows);

  /// The cumulative shares of the region's histogram, one a bin; zeros if it is empty.
  void shares(const TensorView& tensor, const Region& region, double* out);
  /// The distances, in bins, of `n` windows to such shares. The first window is the region, each further one lies a
  /// pixel to the right of the one before. As Distance::emd: two empty histograms have distance 0; one empty one has
  /// the largest, bins - 1.
  void distances(const TensorView& tensor, const Region& first, std::int64_t n, const double* shares, double* out);

 private:
  void count(const TensorView& tensor, const Region& first, std::int64_t n);
  double* row(std::int64_t bin) noexcept { return cumulative_.data() + bin * most_; }

  std::int64_t bins_ = 0, most_ = 0;
  std::vector<double> cumulative_;  // bins + 1 rows: counts below each bin; the first is zeros
  std::vector<double> inverse_;
};

}  // namespace areal::video
