#pragma once
// Windows by their definition: every pixel of every window, one after another. No code of the library except its public
// types.

#include <areal/filter.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>
#include "region_oracle.hpp"

namespace oracle {

__extension__ using Int128 = __int128;

inline const char* name_of(areal::Edge edge) {
  constexpr const char* names[] = {"valid", "shrink", "zero", "replicate", "reflect", "symmetric", "wrap", "constant"};
  return names[static_cast<int>(edge)];
}
inline constexpr areal::Edge edges[] = {areal::Edge::valid,     areal::Edge::shrink,  areal::Edge::zero,
                                        areal::Edge::replicate, areal::Edge::reflect, areal::Edge::symmetric,
                                        areal::Edge::wrap,      areal::Edge::constant};

/// One element of any type, as a number. 64-bit integers are not used.
inline double element(const areal::ConstView& view, std::int64_t x, std::int64_t y, std::int64_t channel,
                      std::int64_t n) {
  const char* at = static_cast<const char*>(view.row(y, channel, n)) + x * view.column_pitch();
  if (view.shape.layout == areal::Layout::interleaved)
    at = static_cast<const char*>(view.row(y, 0, n)) + x * view.column_pitch() +
         channel * static_cast<std::int64_t>(areal::size_of(view.type));
  const auto read = [&](auto value) {
    std::memcpy(&value, at, sizeof value);
    return static_cast<double>(value);
  };
  using areal::Type;
  switch (view.type) {
    case Type::u8:
      return read(std::uint8_t{});
    case Type::s8:
      return read(std::int8_t{});
    case Type::u16:
      return read(std::uint16_t{});
    case Type::s16:
      return read(std::int16_t{});
    case Type::u32:
      return read(std::uint32_t{});
    case Type::s32:
      return read(std::int32_t{});
    case Type::u64:
      return read(std::uint64_t{});
    case Type::s64:
      return read(std::int64_t{});
    case Type::f32:
      return read(float{});
    case Type::f64:
      return read(double{});
    default: {
      areal::Half half;
      std::memcpy(&half, at, sizeof half);
      return areal::to_float(half);
    }
  }
}

/// What a window holds, from its pixels.
struct Seen {
  std::int64_t n = 0;
  Int128 sum = 0, squares = 0;              // of whole numbers
  long double real_sum = 0, magnitude = 0;  // of all
  std::vector<double> pixels;               // valid ones
  double centre = 0, least = 0, most = 0;
  bool has_nan = false;

  long double mean() const { return real_sum / static_cast<long double>(n); }
  /// The sum of squared differences from the mean.
  long double squared_differences() const {
    const long double m = mean();
    long double total = 0;
    for (const double p : pixels) total += (p - m) * (p - m);
    return total;
  }
};

struct Question {
  areal::ConstView image, mask;
  areal::Window window;
  bool omit_nan = false;
  bool keeps_pixels = true;
};

inline Seen look(const Question& q, std::int64_t x, std::int64_t y, std::int64_t channel, std::int64_t n) {
  using areal::Edge;
  const areal::Window& w = q.window;
  const areal::Shape& s = q.image.shape;
  const std::int64_t anchor_x = w.anchor_x < 0 ? w.width / 2 : w.anchor_x;
  const std::int64_t anchor_y = w.anchor_y < 0 ? w.height / 2 : w.anchor_y;
  const bool valid = w.edge == Edge::valid;
  const std::int64_t left = valid ? x : x - anchor_x, top = valid ? y : y - anchor_y;
  Seen seen;
  seen.centre = element(q.image, left + anchor_x, top + anchor_y, channel, n);
  for (std::int64_t r = top; r < top + w.height; ++r)
    for (std::int64_t c = left; c < left + w.width; ++c) {
      const std::int64_t px = shown(c, s.width, w.edge), py = shown(r, s.height, w.edge);
      const bool beyond = px < 0 || py < 0;
      if (beyond && w.edge != Edge::constant && w.edge != Edge::zero) continue;
      double pixel = w.edge == Edge::constant ? w.value : 0;
      if (!beyond) {
        if (q.mask.data != nullptr && element(q.mask, px, py, 0, n) == 0) continue;
        pixel = element(q.image, px, py, channel, n);
      }
      if (std::isnan(pixel)) {
        if (q.omit_nan) continue;
        seen.has_nan = true;
      }
      seen.least = seen.n == 0 ? pixel : std::min(seen.least, pixel);
      seen.most = seen.n == 0 ? pixel : std::max(seen.most, pixel);
      ++seen.n;
      seen.real_sum += pixel;
      seen.magnitude += std::fabs(pixel);
      if (q.keeps_pixels) seen.pixels.push_back(pixel);
      if (!areal::is_float(q.image.type)) {
        seen.sum += static_cast<Int128>(pixel);
        seen.squares += static_cast<Int128>(pixel) * static_cast<Int128>(pixel);
      }
    }
  return seen;
}

/// a / b to the nearest whole number, half to even.
inline Int128 divided(Int128 a, Int128 b) {
  Int128 quotient = a / b, rest = a % b;
  if (rest < 0) rest += b, --quotient;
  const Int128 twice = 2 * rest;
  return quotient + (twice > b || (twice == b && quotient % 2 != 0) ? 1 : 0);
}

/// A whole number as an element of an integer type.
inline double saturated(Int128 value, areal::Type type) {
  const auto bits = static_cast<int>(8 * areal::size_of(type));
  const Int128 most = (Int128{1} << (areal::is_signed_integer(type) ? bits - 1 : bits)) - 1;
  const Int128 least = areal::is_signed_integer(type) ? -most - 1 : 0;
  return static_cast<double>(value < least ? least : value > most ? most : value);
}
inline double saturated(double value, areal::Type type) {
  if (std::isnan(value)) return 0;
  const double held = std::min(std::max(value, -0x1p40), 0x1p40);
  return saturated(static_cast<Int128>(std::nearbyint(held)), type);
}

/// Random pixels: whole numbers of the type's whole range or of a part of it.
inline void fill_randomly(Padded& to, double least, double most, std::mt19937_64& random) {
  const areal::View& view = to.view();
  const areal::Shape& s = view.shape;
  std::uniform_real_distribution<double> pick(least, most + 1);
  const auto set = [&](auto zero, std::int64_t x, std::int64_t y, std::int64_t c, std::int64_t n) {
    using T = decltype(zero);
    const T value = static_cast<T>(std::min(std::floor(pick(random)), most));
    char* at = static_cast<char*>(view.row(y, s.layout == areal::Layout::planar ? c : 0, n)) + x * view.column_pitch();
    if (s.layout == areal::Layout::interleaved) at += c * static_cast<std::int64_t>(sizeof(T));
    std::memcpy(at, &value, sizeof value);
  };
  for (std::int64_t n = 0; n < s.batch; ++n)
    for (std::int64_t y = 0; y < s.height; ++y)
      for (std::int64_t x = 0; x < s.width; ++x)
        for (std::int64_t c = 0; c < s.channels; ++c) switch (view.type) {
            case areal::Type::u8:
              set(std::uint8_t{}, x, y, c, n);
              break;
            case areal::Type::s8:
              set(std::int8_t{}, x, y, c, n);
              break;
            case areal::Type::u16:
              set(std::uint16_t{}, x, y, c, n);
              break;
            case areal::Type::s16:
              set(std::int16_t{}, x, y, c, n);
              break;
            case areal::Type::u32:
              set(std::uint32_t{}, x, y, c, n);
              break;
            case areal::Type::s32:
              set(std::int32_t{}, x, y, c, n);
              break;
            case areal::Type::u64:
              set(std::uint64_t{}, x, y, c, n);
              break;
            case areal::Type::s64:
              set(std::int64_t{}, x, y, c, n);
              break;
            case areal::Type::f32:
              set(float{}, x, y, c, n);
              break;
            case areal::Type::f64:
              set(double{}, x, y, c, n);
              break;
            default: {
              const areal::Half half = areal::to_half(static_cast<float>(std::floor(pick(random))));
              char* at = static_cast<char*>(view.row(y, s.layout == areal::Layout::planar ? c : 0, n)) +
                         x * view.column_pitch();
              if (s.layout == areal::Layout::interleaved) at += c * 2;
              std::memcpy(at, &half, 2);
            }
          }
}

}  // namespace oracle
