#pragma once
// Serial (Chen 2018, Algorithm 1). A running sum along each row, added to the table's row above.
// Reads 2, writes 1 per element. No workspace.

#include <areal/view.hpp>
#include "cpu/sat/cell.hpp"

namespace areal::cpu {

/// The inclusive table of one plane; `out` has the image's size.
template <class In, class T>
void serial(const ConstView& in, const View& out) {
  const Shape& size = in.shape;
  if (size.empty()) return;
  store<T>(out.row(0), 0, pixel<In, T>(in.row(0), 0));
  for (std::int64_t x = 1; x < size.width; ++x)
    store<T>(out.row(0), x, static_cast<T>(pixel<In, T>(in.row(0), x) + load<T>(out.row(0), x - 1)));
  for (std::int64_t y = 1; y < size.height; ++y) {
    const void* const above = out.row(y - 1);
    T sum = 0;
    for (std::int64_t x = 0; x < size.width; ++x) {
      sum = static_cast<T>(sum + pixel<In, T>(in.row(y), x));
      store<T>(out.row(y), x, static_cast<T>(load<T>(above, x) + sum));
    }
  }
}

}  // namespace areal::cpu
