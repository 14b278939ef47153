#pragma once
// synthetic:WxH:SEED: an 8u image computed as it is read, whose region sums have a formula. It repeats every 251
// columns and 241 rows, so that adjacent tiles of any other size differ:
//   p(x, y) = the highest byte of mix(SEED + 251 (y mod 241) + x mod 251), mix being SplitMix64's (Steele 2014)

#include <areal/region.hpp>
#include <areal/view.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace areal::command {

class SyntheticImage {
 public:
  /// Does the input's name start with synthetic: ?
  static bool is_name(std::string_view name) { return name.starts_with("synthetic:"); }
  /// Throws InvalidArgument for a name of another form.
  explicit SyntheticImage(const std::string& name);

  const Shape& shape() const noexcept { return shape_; }
  /// Fills a block at (x, y), inside the image.
  void read(std::int64_t x, std::int64_t y, const View& into) const;
  /// The sum of a region inside the image, modulo 2^64. O(1).
  std::uint64_t sum(const Region& region) const;

 private:
  std::uint64_t sum_to(std::int64_t x, std::int64_t y) const;
  std::uint64_t period_sum(std::int64_t x, std::int64_t y) const;

  Shape shape_;
  std::vector<std::uint8_t> rows_;    // the rows of one period, each longer than the period
  std::vector<std::uint64_t> table_;  // the SAT of one period, border zero
};

}  // namespace areal::command
