#pragma once
// An image whose table has a formula: pixel (x, y) is row[y] * column[x], so an entry is the product of two sums. Made
// of few kinds of rows, so that a device makes it by copies. Floats and signed pixels are 1 or -1: every sum of any of
// their rectangles up to 65536 x 65536 is a small integer, which no order of additions rounds.

#include <areal/array.hpp>
#include <areal/type_pair.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace areal::bench {

class ProductImage {
 public:
  ProductImage(std::int64_t width, std::int64_t height, Type type, std::uint64_t seed);

  std::int64_t width() const noexcept { return static_cast<std::int64_t>(columns_.size()); }
  Type type() const noexcept { return kinds_.type(); }
  /// All kinds of rows, and that of row y.
  const Array& kinds() const noexcept { return kinds_; }
  std::int64_t kind_of(std::int64_t y) const { return kind_[static_cast<std::size_t>(y)]; }
  /// Checks rows of the table, from row y on, in host memory, border none; "" if they are right.
  std::string wrong_sums(const ConstView& rows, std::int64_t y) const;

 private:
  std::vector<std::int64_t> columns_, kind_;          // factors; kinds
  std::vector<std::int64_t> column_sums_, row_sums_;  // down to and with each
  Array kinds_;
};

}  // namespace areal::bench
