#pragma once
// The rows at which regions need the sums above: a region's first row, and the one after its last.

#include <areal/region.hpp>
#include <cstdint>
#include <vector>

namespace areal::pieces {

/// Sorted once, 8 bytes a region beside the region itself.
class RegionEvents {
 public:
  /// Checked or clipped. Throws InvalidArgument, with the index, for a region that cannot be answered, and for 2^31
  /// regions and more.
  RegionEvents(Span<const Region> regions, std::int64_t width, std::int64_t height, Outside outside);

  const std::vector<Region>& regions() const noexcept { return regions_; }
  /// Of event i: the sums between the region's columns of all rows above `row` are added to its answer, or subtracted.
  struct Event {
    std::int64_t region, row;
    bool adds;
  };
  std::size_t size() const noexcept { return order_.size(); }
  Event operator[](std::size_t i) const { return of(order_[i]); }
  /// Of event i: twice its region, and 1 more where that ends.
  std::uint32_t key(std::size_t i) const { return order_[i]; }
  Event of(std::uint32_t key) const {
    const Region& region = regions_[key / 2];
    const bool ends = key % 2 == 1;
    return {static_cast<std::int64_t>(key / 2), ends ? region.y + region.height : region.y, ends};
  }

 private:
  std::vector<Region> regions_;
  std::vector<std::uint32_t> order_;  // keys, by row and column; none of empty regions or of row 0
};

}  // namespace areal::pieces
