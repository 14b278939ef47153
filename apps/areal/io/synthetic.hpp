#pragma once
// synthetic:WxH:SEED: an image of 8u that is made where it is read, and whose sums have a formula. Rows of 251 and
// columns of 241 pixels repeat, so that no tile of another size is like its neighbour:
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
  /// Does the name of an input ask for one?
  static bool is_name(std::string_view name) { return name.starts_with("synthetic:"); }
  /// Throws InvalidArgument for another name.
  explicit SyntheticImage(const std::string& name);

  const Shape& shape() const noexcept { return shape_; }
  /// Pixels from (x, y) on, inside the image.
  void read(std::int64_t x, std::int64_t y, const View& into) const;
  /// The sum of a region inside the image, modulo 2^64. O(1).
  std::uint64_t sum(const Region& region) const;

 private:
  std::uint64_t sum_to(std::int64_t x, std::int64_t y) const;
  std::uint64_t period_sum(std::int64_t x, std::int64_t y) const;

  Shape shape_;
  std::vector<std::uint8_t> rows_;    // of one period, each longer than it
  std::vector<std::uint64_t> table_;  // of one period, border zero
};

}  // namespace areal::command
