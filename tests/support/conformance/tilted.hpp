#pragma once
// The oracle of the 45 degree table.

#include <algorithm>
#include "conformance/oracle.hpp"

namespace areal::conformance {

/// OpenCV's tilted table, from its definition: T(X, Y) sums the pixels with y < Y and |x - X + 1| <= Y - y - 1.
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
  const long double eps = std::ldexp(1.0L, 1 - detail::precision_of(type));

  Values place;
  place.shape = s;
  const auto rows = static_cast<std::size_t>(h + 1);
  std::vector<std::uint64_t> integer(rows);
  std::vector<long double> sums(rows), all(rows);
  for (std::int64_t n = 0; n < s.batch; ++n)
    for (std::int64_t c = 0; c < s.channels; ++c)
      for (std::int64_t X = 0; X <= w; ++X) {
        // Column X of the table: row y's part starts at (X - 1, y) for Y = y + 1 and grows by a pixel on either side.
        std::fill(integer.begin(), integer.end(), 0);
        std::fill(sums.begin(), sums.end(), 0);
        std::fill(all.begin(), all.end(), 0);
        for (std::int64_t y = 0; y < h; ++y) {
          const std::size_t row = place.at(0, y, c, n);
          std::uint64_t part = 0;
          long double real_part = 0, all_part = 0;
          const auto take = [&](std::int64_t x) {
            if (x < 0 || x >= w) return;
            const std::size_t from = row + static_cast<std::size_t>(x);
            if (real) {
              real_part += terms.real[from];
              all_part += std::fabs(terms.real[from]);
            } else {
              part += terms.integer[from];
            }
          };
          for (std::int64_t Y = y + 1; Y <= h; ++Y) {
            const std::int64_t reach = Y - y - 1;
            take(X - 1 - reach);
            if (reach != 0) take(X - 1 + reach);
            const auto to = static_cast<std::size_t>(Y);
            if (real) {
              sums[to] += real_part;
              all[to] += all_part;
            } else {
              integer[to] += part;
            }
          }
        }
        for (std::int64_t Y = 0; Y <= h; ++Y) {
          const auto from = static_cast<std::size_t>(Y);
          const auto to = static_cast<std::size_t>(((n * s.channels + c) * (h + 1) + Y) * (w + 1) + X);
          if (!real) {
            table.integer[to] = integer[from];
            continue;
          }
          table.real[to] = sums[from];
          table.bound[to] = exact ? 0 : 5 * static_cast<long double>(Y * Y + 1) * eps * all[from];
        }
      }
  return table;
}

}  // namespace areal::conformance
