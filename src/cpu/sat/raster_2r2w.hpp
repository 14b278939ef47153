#pragma once
// 2R2W(CPU) (Kasagi 2014, VIII). Column-wise prefix sums in raster order, then row-wise ones in raster order, in the
// table. Reads 4, writes 2 per element (two of the reads are of the entry just written). No workspace.

#include <areal/view.hpp>
#include "cpu/sat/cell.hpp"

namespace areal::cpu {

/// The inclusive table of one plane; `out` has the image's size.
template <class In, class T>
void raster_2r2w(const ConstView& in, const View& out) {
  const Shape& size = in.shape;
  if (size.empty()) return;
  for (std::int64_t x = 0; x < size.width; ++x) store<T>(out.row(0), x, pixel<In, T>(in.row(0), x));
  for (std::int64_t y = 1; y < size.height; ++y)
    for (std::int64_t x = 0; x < size.width; ++x)
      store<T>(out.row(y), x, static_cast<T>(pixel<In, T>(in.row(y), x) + load<T>(out.row(y - 1), x)));
  for (std::int64_t y = 0; y < size.height; ++y)
    for (std::int64_t x = 1; x < size.width; ++x)
      store<T>(out.row(y), x, static_cast<T>(load<T>(out.row(y), x) + load<T>(out.row(y), x - 1)));
}

}  // namespace areal::cpu
