#pragma once
// Checks tensors (8u pixels, equal bins over 0 to 256, 32u counts, no border) and tables (8u pixels, 64u sums, no
// border) by counting the image's bytes without the library.

#include <areal/view.hpp>
#include <compare>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>
#include "bench/harness/bench.hpp"

namespace areal::bench {

struct TensorEntry {
  std::int64_t x, y, bin;
  std::uint32_t value;
  friend auto operator<=>(const TensorEntry&, const TensorEntry&) = default;
};

/// "" where these entries of the tensor of that image are right, else what is wrong. O(W H), and O(256 W) for each row.
std::string check_entries(const std::uint8_t* image, const Size& size, std::int64_t bins,
                          std::vector<TensorEntry> entries);

/// The expected entries of the tensor of one image. A check takes a box of the tensor: bins from `first` on and pixels
/// from (x, y) on, by default all. It returns "" or what is wrong.
class TensorCheck {
 public:
  static constexpr int rows = 64, entries_of_row = 64;

  /// Computes 4,096 seeded entries on 64 rows, among them the last row, and the last entry of every bin. Keeps a
  /// reference to the image. O(W H).
  TensorCheck(const std::uint8_t* image, const Size& size, std::int64_t bins);

  /// Checks the seeded entries and the bins' last entries that are in the box.
  std::string entries(const ConstView& tensor, std::int64_t first = 0, std::int64_t x = 0, std::int64_t y = 0) const;
  /// Checks every entry of the box, with all CPUs. O(entries). For a box that begins below the image's first row, call
  /// begin_at first.
  std::string whole(const ConstView& tensor, std::int64_t first = 0, std::int64_t x = 0, std::int64_t y = 0) const;
  /// Prepares checks of boxes that begin at these rows. O(W H), and O(256 W) per row.
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
