#pragma once
// 4R1W(CPU) (Kasagi 2014, VIII): formula (1), b[i][j] = a[i][j] + b[i][j-1] + b[i-1][j] - b[i-1][j-1], in raster order.
// Reads 4, writes 1 per element. No workspace.

#include <areal/view.hpp>
#include "cpu/sat/cell.hpp"

namespace areal::cpu {

/// The inclusive table of one plane; `out` has the image's size. For floats the subtraction rounds once more than other
/// algorithms do, and an infinity becomes NaN to the right and below.
template <class In, class T>
void raster_4r1w(const ConstView& in, const View& out) {
  const Shape& size = in.shape;
  for (std::int64_t y = 0; y < size.height; ++y)
    for (std::int64_t x = 0; x < size.width; ++x) {
      const T left = x > 0 ? load<T>(out.row(y), x - 1) : T{0};
      const T above = y > 0 ? load<T>(out.row(y - 1), x) : T{0};
      const T diagonal = x > 0 && y > 0 ? load<T>(out.row(y - 1), x - 1) : T{0};
      store<T>(out.row(y), x, static_cast<T>(pixel<In, T>(in.row(y), x) + left + above - diagonal));
    }
}

}  // namespace areal::cpu
