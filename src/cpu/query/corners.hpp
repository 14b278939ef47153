#pragma once
// The four elements of a table from which a region's sum is computed. Global offsets are 64-bit.

#include <areal/region.hpp>

namespace areal::cpu {

/// The address of sums left of and above the image, for any table type.
inline constexpr char zeros[8] = {};

/// Addresses, of any alignment: sum = bottom_right - bottom_left - top_right + top_left.
struct Corners {
  const char* top_left = zeros;
  const char* top_right = zeros;
  const char* bottom_left = zeros;
  const char* bottom_right = zeros;
};

/// The address of a table's element (x, y), the sum of rows < y and columns < x.
class Corner {
 public:
  Corner(const ConstView& view, Border border)
      : data_(static_cast<const char*>(view.data)),
        row_pitch_(view.row_pitch),
        column_pitch_(view.column_pitch()),
        shift_(border == Border::none ? 1 : 0) {}

  const char* at(std::int64_t x, std::int64_t y) const noexcept {
    return x < shift_ || y < shift_ ? zeros : data_ + (y - shift_) * row_pitch_ + (x - shift_) * column_pitch_;
  }
  /// For a region that lies inside and, in an exclusive table, touches neither the last row nor the last column.
  Corners of(const Region& region) const noexcept {
    if (region.width == 0 || region.height == 0) return {};
    if (region.x >= shift_ && region.y >= shift_) [[likely]] {
      const char* top = data_ + (region.y - shift_) * row_pitch_ + (region.x - shift_) * column_pitch_;
      const char* bottom = top + region.height * row_pitch_;
      const std::int64_t right = region.width * column_pitch_;
      return {top, top + right, bottom, bottom + right};
    }
    const std::int64_t right = region.x + region.width, bottom = region.y + region.height;
    return {at(region.x, region.y), at(right, region.y), at(region.x, bottom), at(right, bottom)};
  }

 private:
  const char* data_;
  std::int64_t row_pitch_, column_pitch_, shift_;
};

}  // namespace areal::cpu
