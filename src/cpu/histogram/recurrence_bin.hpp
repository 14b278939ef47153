#pragma once
// The two loops of Poostchi 2017, Algorithm 1, for any counter: one bin of one image into a planar tensor of any
// alignment.

#include <algorithm>
#include <areal/border.hpp>
#include <areal/view.hpp>
#include <cstdint>
#include <cstring>
#include "cpu/histogram/pixel_bins.hpp"

namespace areal::cpu {

/// Elements of a row of the tensor.
template <class Count>
struct CountRow {
  char* p = nullptr;
  Count operator[](std::int64_t i) const {
    Count value;
    std::memcpy(&value, p + i * static_cast<std::int64_t>(sizeof value), sizeof value);
    return value;
  }
  void set(std::int64_t i, Count value) const {
    std::memcpy(p + i * static_cast<std::int64_t>(sizeof value), &value, sizeof value);
  }
  void set_to_zero(std::int64_t n) const {
    if (n > 0) std::memset(p, 0, static_cast<std::size_t>(n) * sizeof(Count));  // an empty tensor may have no address
  }
};

template <class Count>
void initialise_bin(const View& tensor, std::int64_t k) {
  for (std::int64_t y = 0; y < tensor.shape.height; ++y)
    CountRow<Count>{static_cast<char*>(tensor.row(y, k))}.set_to_zero(tensor.shape.width);
}

/// The recurrence as printed: every neighbour is read from H. bins_of(y, x, count, out) finds the bins of a run of
/// pixels.
template <class Count, class BinsOf>
void recur_bin(const BinsOf& bins_of, const Shape& image, const View& tensor, Border border, std::int64_t k) {
  // H of a pixel lies `shift` rows and columns further; entries outside the tensor are skipped.
  const std::int64_t shift = border == Border::none ? 0 : 1;
  const std::int64_t height = std::min(image.height, tensor.shape.height - shift);
  const std::int64_t width = std::min(image.width, tensor.shape.width - shift);
  std::int32_t bins[longest_run];
  for (std::int64_t y = 0; y < height; ++y) {
    const CountRow<Count> row{static_cast<char*>(tensor.row(y + shift, k)) +
                              shift * static_cast<std::int64_t>(sizeof(Count))};
    const bool has_above = y + shift > 0;
    const CountRow<Count> above{has_above ? row.p - tensor.row_pitch : nullptr};
    for (std::int64_t x = 0; x < width; x += longest_run) {
      const std::int64_t count = std::min<std::int64_t>(longest_run, width - x);
      bins_of(y, x, static_cast<int>(count), bins);
      const auto q = [&](std::int64_t i) { return static_cast<Count>(bins[i - x] == k); };
      std::int64_t i = x;
      if (i + shift == 0) {  // outside the tensor, H is 0
        row.set(i, static_cast<Count>((has_above ? above[i] : Count{0}) + q(i)));
        ++i;
      }
      if (has_above)
        for (; i < x + count; ++i) row.set(i, above[i] + row[i - 1] - above[i - 1] + q(i));
      else
        for (; i < x + count; ++i) row.set(i, row[i - 1] + q(i));
    }
  }
}

/// Both loops, the second after the first is done with all bins. each_bin(body) calls body(k) for all of them.
template <class Count, class BinsOf, class EachBin>
void recur(const BinsOf& bins_of, const Shape& image, const View& tensor, Border border, const EachBin& each_bin) {
  each_bin([&](std::int64_t k) { initialise_bin<Count>(tensor, k); });
  each_bin([&](std::int64_t k) { recur_bin<Count>(bins_of, image, tensor, border, k); });
}

}  // namespace areal::cpu
