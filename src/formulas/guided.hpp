#pragma once
// The line a I + b of a guided filter's window, from sums over its pixels, and the mean of lines at a pixel.

namespace areal::formulas {

struct GuidedLine {
  double a, b;
};

/// Sums of p, I, I p and I^2; a window of `count` pixels, 1 / count. Covariances are count^2 times their value: one
/// division then gives a. `self`: the image is its own guide. NaN stays.
constexpr GuidedLine guided_line(bool self, double p, double guide, double cross, double squares, double count,
                                 double share, double eps) noexcept {
  const double difference = count * squares - guide * guide, variance = difference < 0 ? 0 : difference;
  const double covariance = self ? variance : count * cross - guide * p;
  const double a = covariance / (variance + eps * (count * count));
  return {a, (p - a * guide) * share};
}

/// Sums of a and b.
constexpr double guided_output(double a, double b, double guide, double share) noexcept {
  return (a * guide + b) * share;
}

}  // namespace areal::formulas
