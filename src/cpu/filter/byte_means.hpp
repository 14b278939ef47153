#pragma once
// `walk` for means of bytes over windows of at most 257 by 257 pixels, whose columns' sums fit 16 bits. Panels of
// columns stay in the L1 cache. If windows' sums fit 16 bits, too, a window of a row is a few sums of 1, 2, 4, ..
// columns, each made of two of the ones before; else it is the difference of two prefix sums.

#include <areal/view.hpp>
#include <array>
#include <cstddef>
#include <cstdint>
#include "cpu/filter/request.hpp"

namespace areal::cpu {

/// The mean of n pixels, half to even, by a 16-bit multiplication: floor((sum + n / 2) factor / 2^(16 + shift)). Exact
/// where is_exact.
struct ShortMean {
  std::uint32_t pixels = 0, half = 0, factor = 0;
  int shift = 0;
  bool is_exact = false;

  ShortMean() = default;
  /// 2 <= n <= 257
  explicit constexpr ShortMean(std::uint32_t n) : pixels(n), half(n / 2) {
    while ((std::uint32_t{2} << shift) < n) ++shift;  // 2^shift < n <= 2^(shift + 1), so that the factor has 16 bits
    const std::uint32_t power = std::uint32_t{1} << (16 + shift);
    factor = (power + n - 1) / n;
    const std::uint64_t excess = std::uint64_t{factor} * n - power, largest = 255 * n + half;
    is_exact = largest < 65536 && factor < 65536 && excess * largest < power;
  }
};

class ByteMeans {
 public:
  static bool serves(const FilterRequest& request);
  /// Bytes of memory that a strip needs, aligned to 64, for rows of that many interleaved channels.
  static std::size_t scratch_bytes(const FilterRequest& request, std::int64_t channels);

  explicit ByteMeans(const FilterRequest& request) : request_(request) {}
  /// Rows [begin, end) of the output of one plane, or of `channels` interleaved ones, in views of these rows. Rows are
  /// contiguous.
  void strip(const ConstView& image, const View& out, const FilterRows& held, std::int64_t channels, std::int64_t begin,
             std::int64_t end, void* scratch) const;

 private:
  const FilterRequest& request_;
};

}  // namespace areal::cpu
