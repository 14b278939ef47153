#pragma once
// Local thresholds from the statistics of a window. All arithmetic is in double, in this order, so that every backend
// gives the same bits.

#include <areal/filter.hpp>
#include <cmath>
#include <limits>

namespace areal::formulas {

/// k of a method where none was requested.
constexpr double default_k(filter::Local method) noexcept {
  switch (method) {
    case filter::Local::bradley:
      return 0.15;
    case filter::Local::sauvola:
      return 0.2;
    case filter::Local::wolf:
      return 0.5;
    default:
      return -0.2;  // of niblack and nick; mean has none
  }
}

/// Half the range of a type's values, Sauvola's r; 0 for types that have no default.
constexpr double default_r(Type in) noexcept {
  switch (in) {
    case Type::u8:
    case Type::s8:
      return 128;
    case Type::u16:
    case Type::s16:
      return 32768;
    default:
      return 0;
  }
}

/// The parameters of one execute.
struct LocalThreshold {
  filter::Local method;
  double k, r, offset;
  double most_deviation = 0, least_pixel = 0;  ///< of the image, for wolf

  LocalThreshold() = default;
  LocalThreshold(const filter::Threshold& threshold, Type in)
      : method(threshold.method),
        k(threshold.k.value_or(default_k(threshold.method))),
        r(threshold.r.value_or(default_r(in))),
        offset(threshold.offset) {}

  constexpr bool needs_variance() const noexcept {
    return method == filter::Local::niblack || method == filter::Local::sauvola || method == filter::Local::wolf;
  }
  constexpr bool needs_squares() const noexcept { return needs_variance() || method == filter::Local::nick; }

  /// `threshold` takes the square root of this number. The window has n pixels with that mean, variance and sum of
  /// squares.
  constexpr double radicand(double n, double mean, double variance, double squares) const noexcept {
    if (method != filter::Local::nick) return variance;
    const double value = (squares - mean * mean) / n;
    return value < 0 ? 0 : value;
  }
  constexpr double threshold(double mean, double root) const noexcept {
    switch (method) {
      case filter::Local::mean:
        return mean - offset;
      case filter::Local::bradley:
        return mean * (1 - k) - offset;
      case filter::Local::sauvola:
        return mean * (1 + k * (root / r - 1)) - offset;
      case filter::Local::wolf: {
        const double share = most_deviation > 0 ? root / most_deviation : 0;  // all windows are flat
        return mean + k * (share - 1) * (mean - least_pixel) - offset;
      }
      default:
        return mean + k * root - offset;
    }
  }
};

}  // namespace areal::formulas
