#include "pixels.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>
#include "view/element.hpp"

namespace areal::command {
namespace {

template <class T>
double as_double(T value) {
  return static_cast<double>(value);
}
template <>
double as_double(Half value) {
  return to_float(value);
}

template <class T>
T from_double(double value) {
  if constexpr (std::is_same_v<T, Half>) {
    return to_half(static_cast<float>(value));
  } else if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(value);
  } else {
    using Limits = std::numeric_limits<T>;
    if (std::isnan(value)) return 0;
    const double rounded = std::nearbyint(value);
    // The upper limits of 64-bit types are no doubles, so this compares with 2^63 or 2^64.
    if (rounded <= static_cast<double>(Limits::min())) return Limits::min();
    if (rounded >= static_cast<double>(Limits::max())) return Limits::max();
    return static_cast<T>(rounded);
  }
}

// Bits, without the sign, of the integers that a type represents exactly.
int exact_bits(Type type) noexcept {
  if (type == Type::f16) return 11;
  if (type == Type::f32) return 24;
  if (type == Type::f64) return 53;
  return static_cast<int>(8 * size_of(type)) - (is_signed_integer(type) ? 1 : 0);
}

// Stores every row of every channel of `to` as computed by f(y, channel, n, row).
template <class F>
void fill(const View& to, F&& f) {
  std::vector<double> row(static_cast<std::size_t>(to.shape.width));
  for (std::int64_t n = 0; n < to.shape.batch; ++n)
    for (std::int64_t y = 0; y < to.shape.height; ++y)
      for (std::int64_t c = 0; c < to.shape.channels; ++c) {
        f(y, c, n, std::span<double>(row));
        store_row(to, y, c, n, row);
      }
}

}  // namespace

void load_row(const ConstView& from, std::int64_t y, std::int64_t channel, std::int64_t n, std::span<double> to) {
  view::with_type(from.type, [&]<class T>(T*) {
    const auto* at = static_cast<const char*>(from.row(y, channel, n));
    for (double& value : to) {
      T pixel;
      std::memcpy(&pixel, at, sizeof(T));
      value = as_double(pixel);
      at += from.column_pitch();
    }
  });
}

void store_row(const View& to, std::int64_t y, std::int64_t channel, std::int64_t n, std::span<const double> from) {
  view::with_type(to.type, [&]<class T>(T*) {
    auto* at = static_cast<char*>(to.row(y, channel, n));
    for (const double value : from) {
      const T pixel = from_double<T>(value);
      std::memcpy(at, &pixel, sizeof(T));
      at += to.column_pitch();
    }
  });
}

Array one_channel(const ConstView& image, std::int64_t channel) {
  const std::size_t size = size_of(image.type);
  Array result(Shape{image.shape.width, image.shape.height, 1, image.shape.batch}, image.type);
  for (std::int64_t n = 0; n < image.shape.batch; ++n)
    for (std::int64_t y = 0; y < image.shape.height; ++y) {
      const auto* from = static_cast<const char*>(image.row(y, channel, n));
      auto* to = static_cast<char*>(result.view().row(y, 0, n));
      for (std::int64_t x = 0; x < image.shape.width; ++x, from += image.column_pitch(), to += size)
        std::memcpy(to, from, size);
    }
  return result;
}

bool holds(Type to, Type from) noexcept {
  if (to == from) return true;
  if (is_float(from) && !is_float(to)) return false;
  const bool negative = is_float(from) || is_signed_integer(from);
  if (negative && !is_float(to) && !is_signed_integer(to)) return false;
  return exact_bits(to) >= exact_bits(from);
}

Array converted(const ConstView& image, Type type) {
  Array result(image.shape, type);
  fill(result.view(),
       [&](std::int64_t y, std::int64_t c, std::int64_t n, std::span<double> row) { load_row(image, y, c, n, row); });
  return result;
}

Array to_8u(const ConstView& image) {
  double lo = 0, scale = 1;
  std::vector<double> row(static_cast<std::size_t>(image.shape.width));
  if (is_float(image.type)) {
    lo = std::numeric_limits<double>::infinity();
    double hi = -lo;
    for (std::int64_t y = 0; y < image.shape.height; ++y)
      for (std::int64_t c = 0; c < image.shape.channels; ++c) {
        load_row(image, y, c, 0, row);
        for (const double value : row)
          if (std::isfinite(value)) lo = std::min(lo, value), hi = std::max(hi, value);
      }
    scale = hi > lo ? 255 / (hi - lo) : 1;
    if (!std::isfinite(lo)) lo = 0;
  } else {
    const int bits = static_cast<int>(8 * size_of(image.type));
    if (is_signed_integer(image.type)) lo = -std::ldexp(1.0, bits - 1);
    scale = std::ldexp(1.0, 8 - bits);
  }
  Array result(image.shape, Type::u8);
  const bool whole = !is_float(image.type);
  fill(result.view(), [&](std::int64_t y, std::int64_t c, std::int64_t n, std::span<double> to) {
    load_row(image, y, c, n, to);
    for (double& value : to) value = whole ? std::floor((value - lo) * scale) : (value - lo) * scale;
  });
  return result;
}

}  // namespace areal::command
