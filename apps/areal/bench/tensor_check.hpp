#pragma once
// Is a tensor right? Counted from the image's bytes, without the library: 8u pixels in equal bins over 0 to 256, 32u
// counts, no border. Of a table, too: 8u pixels, 64u sums, no border.

#include <areal/view.hpp>
#include <compare>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>
#include "bench.hpp"

namespace areal::bench {

struct TensorEntry {
  std::int64_t x, y, bin;
  std::uint32_t value;
  friend auto operator<=>(const TensorEntry&, const TensorEntry&) = default;
};

/// "" where these entries of the tensor of that image are right, else what is wrong. O(W H), and O(256 W) for each row.
std::string check_entries(const std::uint8_t* image, const Size& size, std::int64_t bins,
                          std::vector<TensorEntry> entries);

/// What entries of the tensor of one image must be. Tensors are boxes of it: bins from `first` on, and pixels from
/// (x, y) on, by default all. Each check gives "" where what it looks at is right, else what is wrong.
class TensorCheck {
 public:
  static constexpr int rows = 64, entries_of_row = 64;

  /// 4,096 seeded entries on 64 rows, the last of them the image's, and all bins' last entries. The image must stay.
  /// O(W H).
  TensorCheck(const std::uint8_t* image, const Size& size, std::int64_t bins);

  /// The seeded entries and the bins' last entries, those of them in the box.
  std::string entries(const ConstView& tensor, std::int64_t first = 0, std::int64_t x = 0, std::int64_t y = 0) const;
  /// Every entry of the box. O(its entries) on all CPUs. A box that begins
  /// below the image's first row must be announced.
  std::string whole(const ConstView& tensor, std::int64_t first = 0, std::int64_t x = 0, std::int64_t y = 0) const;
  /// Boxes will begin at these rows. O(W H), and O(256 W) for each.
  void begin_at(const std::set<std::int64_t>& rows);

 private:
  const std::uint8_t* image_;
  Size size_;
  std::int64_t bins_;
  std::vector<TensorEntry> entries_;
  std::map<std::int64_t, std::vector<std::uint32_t>> above_;  // by the row below: bins x W
};

struct TableEntry {
  std::int64_t x, y;
  std::uint64_t value;
};
/// As check_entries, of the table of that image. O(W H), and O(W) for each entry.
std::string check_sums(const std::uint8_t* image, const Size& size, std::vector<TableEntry> entries);

/// Counts of a region of that image by bin. O(its pixels).
std::vector<std::uint64_t> counts_of(const std::uint8_t* image, const Size& size, std::int64_t bins,
                                     const Region& region);

}  // namespace areal::bench
