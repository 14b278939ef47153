#pragma once
// Sums, squares and extremes of any rectangle of one channel. A cell of 32 x 32 pixels keeps them, so that a rectangle
// reads its whole cells, and pixels at its edges alone. NaN and rounding stay in their cell, where a table would spread
// them to the right and downwards.

#include <areal/region.hpp>
#include <areal/view.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>

namespace areal::view {

using Number = std::variant<std::int64_t, std::uint64_t, double>;

struct Moments {
  std::int64_t pixels = 0, nans = 0;
  std::string sum = "0";             // of integers exact; of floats the shortest text that reads back the same
  double mean = 0, deviation = 0;    // of the population; NaN for an empty region, or one that holds NaN
  Number least, most;                // NaN likewise
  std::int64_t under = 0, over = 0;  // pixels below and above the range
};

/// 128-bit integers as decimal digits.
std::string digits_of(__int128 value);

class Cells {
 public:
  static constexpr std::int64_t side = 32;

  /// One channel in host memory, which must stay valid, of fewer than 2^31 pixels. `range`: see Moments::under.
  Cells(const ConstView& channel, std::pair<double, double> range);
  ~Cells();
  Cells(Cells&&) noexcept;
  Cells& operator=(Cells&&) noexcept;

  /// Of a region inside the image. O(w h / 1024 + 32 (w + h)) after `fill`, O(w h) before. For any thread.
  Moments of(const Region& region) const;
  /// Makes the cells, once, while other threads call `of`. O(H W).
  void fill();

  struct Base;

 private:
  std::unique_ptr<Base> cells_;
};

}  // namespace areal::view
