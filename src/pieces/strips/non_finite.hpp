#pragma once
// NaN and infinities among the pixels of region sums. In a table they would spread to every region right and below:
// they are summed as 0, and counted beside the sums, which says what each region holds.

#include <areal/strips.hpp>
#include <cstdint>
#include <memory>
#include <vector>

namespace areal::pieces {

class NonFinite {
 public:
  /// Of images of floats; regions that lie inside.
  NonFinite(const Shape& image, std::vector<Region> regions);

  void restart();
  /// Rows [y, y + height) of the image, from the top down, before they are summed.
  void take(std::int64_t y, const View& rows);
  /// After the last row.
  void finish();

  /// What the sum of a region is, its finite pixels having this sum: NaN if it holds NaN or infinities of both signs.
  double sum(std::size_t answer, double finite) const noexcept;
  double squares(std::size_t answer, double finite) const noexcept;
  /// Does the region hold NaN or an infinity?
  bool in(std::size_t answer) const noexcept;

 private:
  void begin(std::int64_t rows_before);
  const std::uint64_t* counts(std::size_t answer) const noexcept;  // of each mark

  Shape image_;
  std::vector<Region> regions_;
  std::vector<StripSums> planes_;  // of each channel, from the first strip on that holds any
  std::vector<std::vector<std::uint64_t>> counts_;
  std::vector<std::uint8_t> marks_;
};

}  // namespace areal::pieces
