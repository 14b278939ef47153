#pragma once
// The order in which windows of floats are added up, so that every backend, thread and cut of an image gives the same
// bits. Nothing is subtracted, so that infinities and outliers stay where they are.
//
// The positions of an axis form blocks by number: 0 to 7, 8 to 15, .., and beyond the edge -8 to -1, .. Windows of more
// than 512 have blocks of 64. Along one axis, a window inside one block is added from its first position on. Any other
// is (s + w) + p: s adds the window's part of its first block from the last position backwards, w starts from 0 and
// adds the totals of the whole blocks between in their order, a total being its block's sum from the first position on,
// and p is the part of the last block from the first position on. Columns come first, then the rows of their results.
// Positions that a window leaves out, and those beyond the edge with `shrink`, add 0.

#include <cstdint>

namespace areal::formulas {

constexpr std::int64_t block_of_window(std::int64_t size) noexcept { return size > 512 ? 64 : 8; }
constexpr std::int64_t floor_div(std::int64_t a, std::int64_t b) noexcept { return a / b - (a % b < 0 ? 1 : 0); }

/// n numbers with their mean and the sum of their squared differences from it, which merge without cancellation (Chan,
/// Golub and LeVeque 1979). One number p that is not finite has the difference NaN: p - p.
struct Moments {
  double n = 0, mean = 0, differences = 0;
};
constexpr Moments merged(const Moments& a, const Moments& b) noexcept {
  if (a.n == 0) return b;
  if (b.n == 0) return a;
  const double n = a.n + b.n, apart = b.mean - a.mean;
  return {n, a.mean + apart * (b.n / n), a.differences + b.differences + apart * apart * (a.n * b.n / n)};
}

}  // namespace areal::formulas
