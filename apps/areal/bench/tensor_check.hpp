#pragma once
// Is a tensor right? Counted from the image's bytes, without the library: 8u pixels in equal bins over 0 to 256, 32u
// counts, no border.

#include <areal/view.hpp>
#include <cstdint>
#include <string>
#include <vector>
#include "bench.hpp"

namespace areal::bench {

/// What entries of the tensor of one image must be. O(W H) once.
class TensorCheck {
 public:
  static constexpr int rows = 64, entries_of_row = 64;

  /// 4,096 seeded entries on 64 rows, the last of them the image's, and all bins' last entries. The image must stay.
  TensorCheck(const std::uint8_t* image, const Size& size, std::int64_t bins);

  /// The bins [first, first + tensor.shape.channels): their last entries, and the seeded entries among them. "" where
  /// they are right, else what is wrong.
  std::string entries(const ConstView& tensor, std::int64_t first = 0) const;
  /// The same bins' last entries alone.
  std::string last_entries(const ConstView& tensor, std::int64_t first = 0) const;
  /// Every entry of these bins. O(bins W H) on all CPUs.
  std::string whole(const ConstView& tensor, std::int64_t first = 0) const;

 private:
  struct Entry {
    std::int64_t x, y, bin;
    std::uint32_t value;
  };
  const std::uint8_t* image_;
  Size size_;
  std::int64_t bins_;
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> last_;  // by bin
};

/// Counts of a region of that image by bin. O(its pixels).
std::vector<std::uint64_t> counts_of(const std::uint8_t* image, const Size& size, std::int64_t bins,
                                     const Region& region);

}  // namespace areal::bench
