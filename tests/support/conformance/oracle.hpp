#pragma once
// The contents that a table must have, from the definition alone: sums modulo 2^64 for integers, in long double with an
// error bound for floats. No code of the library except its types.

#include <areal/border.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>
#include "conformance/elements.hpp"

namespace areal::conformance {

/// A table as it must be. `integer` (exact modulo 2^k) for integer types, else `real` within `bound`.
struct Expected {
  Type type = Type::u32;
  Shape shape;
  std::vector<std::uint64_t> integer;
  std::vector<long double> real, bound;
};

/// The terms: the image's pixels, their squares, or ones; 0 for excluded pixels.
struct Terms {
  Shape shape;
  bool exact_integers = false;         ///< `integer` holds them modulo 2^64, too
  std::vector<std::uint64_t> integer;  // as Values
  std::vector<long double> real;
};

/// The pixels that count: 0 where the mask is 0 or, with `ignore_nan`, where any channel of the pixel is NaN. One
/// channel.
inline Values valid_pixels(const Values& image, const Values* mask, bool ignore_nan) {
  Values valid(Type::u8, Shape{image.shape.width, image.shape.height, 1, image.shape.batch});
  for (std::int64_t n = 0; n < image.shape.batch; ++n)
    for (std::int64_t y = 0; y < image.shape.height; ++y)
      for (std::int64_t x = 0; x < image.shape.width; ++x) {
        bool counts = !mask || mask->integer[mask->at(x, y, 0, n)] != 0;
        if (ignore_nan)
          for (std::int64_t c = 0; c < image.shape.channels; ++c)
            if (std::isnan(image.real[image.at(x, y, c, n)])) counts = false;
        valid.integer[valid.at(x, y, 0, n)] = counts;
      }
  return valid;
}

inline Terms terms_of(const Values& image, bool squared = false, const Values* valid = nullptr) {
  Terms terms;
  terms.shape = image.shape;
  terms.exact_integers = !is_float(image.type);
  const std::size_t size = image.size();
  terms.real.resize(size);
  if (terms.exact_integers) terms.integer.resize(size);
  const std::size_t plane = static_cast<std::size_t>(image.shape.width * image.shape.height);
  const std::size_t channels = static_cast<std::size_t>(image.shape.channels);
  for (std::size_t i = 0; i < size; ++i) {
    if (valid && valid->integer[i / plane / channels * plane + i % plane] == 0) continue;
    const long double v = image.number(i);
    terms.real[i] = squared ? v * v : v;
    if (terms.exact_integers) terms.integer[i] = squared ? image.integer[i] * image.integer[i] : image.integer[i];
  }
  return terms;
}

/// Ones where valid: the terms of the table of counts.
inline Terms ones_of(const Values& valid) { return terms_of(valid); }

inline Shape table_shape_of(const Shape& image, Border border, bool volume = false) {
  Shape shape = image;
  if (border == Border::zero) {
    ++shape.width;
    ++shape.height;
    if (volume) ++shape.batch;
  }
  return shape;
}

namespace detail {

/// Inclusive sums along x, then y, then (volume) the batch.
template <class T>
std::vector<T> inclusive_sums(std::vector<T> t, const Shape& s, bool volume) {
  const auto row = static_cast<std::size_t>(s.width), height = static_cast<std::size_t>(s.height);
  const std::size_t slice = row * height * static_cast<std::size_t>(s.channels);
  for (std::size_t begin = 0; begin < t.size(); begin += row)
    for (std::size_t i = begin + 1; i < begin + row; ++i) t[i] += t[i - 1];
  for (std::size_t begin = 0; begin < t.size(); begin += row * height)
    for (std::size_t i = begin + row; i < begin + row * height; ++i) t[i] += t[i - row];
  if (volume)
    for (std::size_t i = slice; i < t.size(); ++i) t[i] += t[i - slice];
  return t;
}

inline int precision_of(Type type) { return type == Type::f32 ? 24 : 53; }

/// True if every sum of any of the terms, and of up to four such sums, is an integer that the type holds: then no order
/// of summation can round.
inline bool always_exact(const Terms& terms, Type type) {
  long double all = 0;
  for (const long double v : terms.real) {
    if (!std::isfinite(v) || v != std::floor(v)) return false;
    all += std::fabs(v);
  }
  return 4 * all <= std::ldexp(1.0L, precision_of(type));
}

inline std::vector<long double> magnitudes(const std::vector<long double>& values) {
  std::vector<long double> result(values);
  for (long double& v : result) v = std::fabs(v);
  return result;
}

}  // namespace detail

/// The table of these terms. For floats the bound of an entry that sums n terms whose magnitudes sum to A is
/// 2.5 * (n + 1) * eps * A, eps = 2^(1-p):
/// - a tree of n - 1 additions errs by at most (n-1) u A (1 + O(n u)), u = eps / 2, and one more rounding for a
/// product;
/// - T[y][x] = v + T[y-1][x] + T[y][x-1] - T[y-1][x-1] makes local errors of at most u (A + 2A + A) = 4 u A, and the
///   local errors of all n entries above and left add up: 4 n u A = 2 n eps A to first order.
/// A quarter is left for second order. Where no order can round (see always_exact) the bound is 0.
inline Expected sums_of(const Terms& terms, Type type, Border border, bool volume = false) {
  Expected table;
  table.type = type;
  table.shape = table_shape_of(terms.shape, border, volume);
  const Shape& s = table.shape;
  const std::size_t size = static_cast<std::size_t>(s.width * s.height * s.channels * s.batch);
  const bool real = is_float(type);
  std::vector<std::uint64_t> integer;
  std::vector<long double> sums, all;
  bool exact = false;
  if (real) {
    sums = detail::inclusive_sums(terms.real, terms.shape, volume);
    all = detail::inclusive_sums(detail::magnitudes(terms.real), terms.shape, volume);
    exact = detail::always_exact(terms, type);
    table.real.resize(size);
    table.bound.resize(size);
  } else {
    integer = detail::inclusive_sums(terms.integer, terms.shape, volume);
    table.integer.resize(size);
  }
  const long double eps = std::ldexp(1.0L, 1 - detail::precision_of(type));
  const std::int64_t last = border == Border::none ? 1 : 0;  // an entry sums indices < its own + last
  Values place;
  place.shape = terms.shape;
  std::size_t i = 0;
  for (std::int64_t n = 0; n < s.batch; ++n)
    for (std::int64_t c = 0; c < s.channels; ++c)
      for (std::int64_t y = 0; y < s.height; ++y)
        for (std::int64_t x = 0; x < s.width; ++x, ++i) {
          const std::int64_t columns = x + last, rows = y + last, slices = volume ? n + last : 1;
          if (columns == 0 || rows == 0 || slices == 0) continue;
          const std::size_t from = place.at(columns - 1, rows - 1, c, volume ? slices - 1 : n);
          if (real) {
            table.real[i] = sums[from];
            table.bound[i] = exact ? 0 : 2.5L * static_cast<long double>(columns * rows * slices + 1) * eps * all[from];
          } else {
            table.integer[i] = integer[from];
          }
        }
  return table;
}

/// Empty if `got` is as expected, else the first element that is not.
inline std::string difference(const Expected& expected, const Values& got) {
  const Shape &a = expected.shape, &b = got.shape;
  const auto text = [](const Shape& s) {
    return std::to_string(s.width) + "x" + std::to_string(s.height) + " channels " + std::to_string(s.channels) +
           " batch " + std::to_string(s.batch);
  };
  if (a.width != b.width || a.height != b.height || a.channels != b.channels || a.batch != b.batch)
    return "the table is " + text(b) + ", not " + text(a);
  if (expected.type != got.type) return "the table's type is wrong";
  const bool real = is_float(expected.type);
  const std::size_t bytes = size_of(expected.type);
  const std::uint64_t modulus = bytes == 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << 8 * bytes) - 1;
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (!real) {
      if (((expected.integer[i] ^ got.integer[i]) & modulus) != 0)
        return "element (" + place_of(b, i) + ") is " + std::to_string(got.integer[i] & modulus) + ", not " +
               std::to_string(expected.integer[i] & modulus);
      continue;
    }
    const long double want = expected.real[i], is = got.real[i];
    const bool same = std::isnan(want)   ? std::isnan(is)
                      : std::isinf(want) ? is == want
                                         : std::fabs(is - want) <= expected.bound[i];
    if (!same)
      return "element (" + place_of(b, i) + ") is " + std::to_string(is) + ", not " + std::to_string(want) +
             " within " + std::to_string(expected.bound[i]) + " (off by " + std::to_string(is - want) + ")";
  }
  return {};
}

}  // namespace areal::conformance
