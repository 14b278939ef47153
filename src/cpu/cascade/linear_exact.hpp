#pragma once
// OpenCV's INTER_LINEAR_EXACT for bytes of one channel: linear interpolation in fixed point.

#include <areal/view.hpp>
#include <cstdint>
#include <vector>

namespace areal::cpu {

/// Pixel i of one axis is (256 - w) * from[at[i]] + w * from[next[i]], with the weight w in 256ths.
struct LinearAxis {
  LinearAxis(std::int64_t from, std::int64_t to);
  std::vector<std::int32_t> at, next, weight;
};

/// Rows of the resized image, one after another or from any row on.
class LinearRows {
 public:
  LinearRows(const ConstView& image, const LinearAxis& columns, const LinearAxis& rows);
  /// Row y of the resized image: (sum + 2^15) >> 16 of the two rows' weighted columns.
  void read(std::int64_t y, std::uint8_t* out);

 private:
  const std::uint16_t* across(std::int32_t row);
  ConstView image_;
  const LinearAxis &columns_, &rows_;
  std::vector<std::uint16_t> kept_[2];
  std::int32_t kept_row_[2] = {-1, -1};
};

}  // namespace areal::cpu
