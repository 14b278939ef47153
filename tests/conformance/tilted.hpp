#pragma once
// The oracle of the 45 degree table.

#include <algorithm>
#include "conformance/oracle.hpp"

namespace areal::conformance {

/// OpenCV's tilted table, from its definition: T(X, Y) sums the pixels with y < Y and |x - X + 1| <= Y - y - 1. Each
/// row's part is a difference of that row's prefix sums; with NaN or infinity it is summed pixel by pixel.
///
/// Error bound for floats: 5 * (Y^2 + 1) * eps * A. The usual recurrence, T(X, Y) = T(X-1, Y-1) + T(X+1, Y-1) -
/// T(X, Y-2) + two pixels, makes local errors of at most 8 u A (four additions of intermediates up to 3 A) and passes
/// each on with weight one to the entries below within its cone, Y^2 at most: 8 u = 4 eps; a quarter is left for second
/// order. Exact where no order of summation can round.
inline Expected tilted_of(const Terms& terms, Type type) {
  Expected table;
  const Shape& s = terms.shape;
  table.type = type;
  table.shape = table_shape_of(s, Border::zero);
  const std::int64_t w = s.width, h = s.height;
  const bool real = is_float(type);
  const std::size_t size = static_cast<std::size_t>((w + 1) * (h + 1) * s.channels * s.batch);
  if (real)
    table.real.resize(size), table.bound.resize(size);
  else
    table.integer.resize(size);
  const bool exact = real && detail::always_exact(terms, type);
  const bool finite = std::all_of(terms.real.begin(), terms.real.end(), [](long double v) { return std::isfinite(v); });
  const long double eps = std::ldexp(1.0L, 1 - detail::precision_of(type));

  Values place;
  place.shape = s;
  std::vector<std::uint64_t> integer(static_cast<std::size_t>(h * (w + 1)));
  std::vector<long double> sums(integer.size()), all(integer.size());
  std::size_t i = 0;
  for (std::int64_t n = 0; n < s.batch; ++n)
    for (std::int64_t c = 0; c < s.channels; ++c) {
      for (std::int64_t y = 0; y < h; ++y)
        for (std::int64_t x = 0; x < w; ++x) {
          const std::size_t from = place.at(x, y, c, n), to = static_cast<std::size_t>(y * (w + 1) + x + 1);
          if (!real) integer[to] = (x ? integer[to - 1] : 0) + terms.integer[from];
          if (real) sums[to] = (x ? sums[to - 1] : 0) + terms.real[from];
          if (real) all[to] = (x ? all[to - 1] : 0) + std::fabs(terms.real[from]);
        }
      for (std::int64_t Y = 0; Y <= h; ++Y)
        for (std::int64_t X = 0; X <= w; ++X, ++i)
          for (std::int64_t y = 0; y < Y; ++y) {
            const std::int64_t reach = Y - y - 1;
            const std::int64_t begin = std::clamp<std::int64_t>(X - 1 - reach, 0, w);
            const std::int64_t end = std::clamp<std::int64_t>(X + reach, 0, w);  // one past the last
            if (begin >= end) continue;
            const auto from = static_cast<std::size_t>(y * (w + 1) + begin);
            const auto to = static_cast<std::size_t>(y * (w + 1) + end);
            if (!real) {
              table.integer[i] += integer[to] - integer[from];
            } else if (finite) {
              table.real[i] += sums[to] - sums[from];
              if (!exact) table.bound[i] += 5 * static_cast<long double>(Y * Y + 1) * eps * (all[to] - all[from]);
            } else {
              for (std::int64_t x = begin; x < end; ++x) table.real[i] += terms.real[place.at(x, y, c, n)];
            }
          }
    }
  return table;
}

}  // namespace areal::conformance
