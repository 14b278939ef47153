#pragma once
// Random images from a seed; the same on every machine.

#include <areal/view.hpp>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include "conformance/elements.hpp"

namespace areal::conformance {

enum class Fill {
  wild,   ///< integers over their whole range, so that tables wrap; floats of many magnitudes and both signs
  exact,  ///< small integers: every sum is exact in the table's type, in any order
  most,   ///< integers as far from 0 as their type allows, one in eight as in wild; floats as in exact
  holes   ///< as in wild, but one float in ten is NaN
};

inline Values random_image(Type type, const Shape& shape, Fill fill, std::uint64_t seed) {
  Values image(type, shape);
  std::mt19937_64 random(seed);
  const std::size_t size = image.size();
  for (std::size_t i = 0; i < size; ++i) {
    const std::uint64_t bits = random();
    const auto small = static_cast<std::int64_t>(bits >> 32) % 8 - (is_float(type) || is_signed_integer(type) ? 3 : 0);
    if (!is_float(type)) {
      // Converted to the type and back, as `values_of` reads it.
      visit(type, [&](auto identity) {
        using T = typename decltype(identity)::type;
        if constexpr (std::is_integral_v<T>) {
          using Limits = std::numeric_limits<T>;
          const T value = fill == Fill::exact ? static_cast<T>(small)
                          : fill == Fill::most && (bits >> 32) % 8 != 0
                              ? (std::is_signed_v<T> ? Limits::min() : Limits::max())
                              : static_cast<T>(bits);
          load<T>(&value, image.integer[i]);
        }
      });
    } else if (fill == Fill::exact || fill == Fill::most) {
      image.real[i] = static_cast<long double>(small);
    } else if (fill == Fill::holes && bits % 10 == 0) {
      image.real[i] = std::numeric_limits<long double>::quiet_NaN();
    } else {
      // A value in (-1, 1) times 2^-6 .. 2^9, rounded to the image's type: all within binary16's normal numbers or
      // its subnormals.
      const double value = std::ldexp(static_cast<double>(static_cast<std::int64_t>(bits)), -63) *
                           std::ldexp(1.0, static_cast<int>(random() % 16) - 6);
      visit(type, [&](auto identity) {
        using T = typename decltype(identity)::type;
        if constexpr (!std::is_integral_v<T>) {
          char element[sizeof(T)];
          store<T>(element, static_cast<long double>(value));
          load<T>(element, image.real[i]);
        }
      });
    }
  }
  return image;
}

/// A mask in which about one pixel in four is 0 and the others are any other value.
inline Values random_mask(const Shape& shape, std::uint64_t seed) {
  Values mask(Type::u8, shape);
  std::mt19937_64 random(seed ^ 0x6d61736bu);
  for (std::uint64_t& value : mask.integer) {
    const std::uint64_t bits = random();
    value = bits % 4 == 0 ? 0 : 1 + (bits >> 8) % 255;
  }
  return mask;
}

}  // namespace areal::conformance
