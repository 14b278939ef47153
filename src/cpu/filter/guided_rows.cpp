#include "cpu/filter/guided_rows.hpp"
#include "formulas/guided.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/filter/guided_rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace areal::cpu::HWY_NAMESPACE {
namespace {

void multiply(double* HWY_RESTRICT to, const double* HWY_RESTRICT by, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) to[i] *= by[i];
}

void square(double* to, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) to[i] *= to[i];
}

// NaN stays.
inline double at_least(double value, double least) { return value < least ? least : value; }

void step(std::uint32_t* HWY_RESTRICT columns, const std::uint8_t* HWY_RESTRICT entering,
          const std::uint8_t* HWY_RESTRICT leaving, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) columns[i] += std::uint32_t{entering[i]} - std::uint32_t{leaving[i]};
}

void step_products(std::uint32_t* HWY_RESTRICT columns, const std::uint8_t* entering, const std::uint8_t* entering_by,
                   const std::uint8_t* leaving, const std::uint8_t* leaving_by, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i)
    columns[i] += std::uint32_t{entering[i]} * std::uint32_t{entering_by[i]} -
                  std::uint32_t{leaving[i]} * std::uint32_t{leaving_by[i]};
}

// Sums of windows as double, from either kind.
struct Direct {
  std::int64_t size = 0;
  double operator()(const double* sums, std::int64_t i) const { return sums[i]; }
};
struct Differences {
  std::int64_t size;
  double operator()(const std::uint32_t* prefix, std::int64_t i) const {
    return static_cast<double>(prefix[i + size] - prefix[i]);
  }
};

template <class Sums, class Read>
void coefficients_of_grey(const Sums& sums, const Read& read, std::int64_t n, double* const* out) {
  const auto *p = sums.p, *guide = sums.guide[0], *cross = sums.cross[0], *squares = sums.squares[0];
  const double* HWY_RESTRICT counts = sums.count;
  const double* HWY_RESTRICT share = sums.share;
  double* HWY_RESTRICT to_a = out[0];
  double* HWY_RESTRICT to_b = out[1];
  const double eps = sums.eps;
  const bool self = p == guide;
  const auto one = [&](std::int64_t i, double of_p, double of_guide, double of_cross, double of_squares) {
    const auto line = formulas::guided_line(self, of_p, of_guide, of_cross, of_squares, counts[i], share[i], eps);
    to_a[i] = line.a, to_b[i] = line.b;
  };
  if (self) {
    for (std::int64_t i = 0; i < n; ++i) {
      const double sum = read(guide, i), sum_of_squares = read(squares, i);
      one(i, sum, sum, sum_of_squares, sum_of_squares);
    }
  } else {
    for (std::int64_t i = 0; i < n; ++i) one(i, read(p, i), read(guide, i), read(cross, i), read(squares, i));
  }
}

// The system is solved as L D L^T. Its pivots are at least eps, as the matrix is a covariance plus eps on the diagonal;
// rounding may not make them smaller.
template <class Sums, class Read>
void coefficients_of_colour(const Sums& sums, const Read& read, std::int64_t n, double* const* out) {
  const auto* p = sums.p;
  const auto *g0 = sums.guide[0], *g1 = sums.guide[1], *g2 = sums.guide[2];
  const auto *c0 = sums.cross[0], *c1 = sums.cross[1], *c2 = sums.cross[2];
  const auto *s00 = sums.squares[0], *s01 = sums.squares[1], *s02 = sums.squares[2], *s11 = sums.squares[3],
             *s12 = sums.squares[4], *s22 = sums.squares[5];
  const double* HWY_RESTRICT counts = sums.count;
  const double* HWY_RESTRICT share = sums.share;
  double* HWY_RESTRICT to_0 = out[0];
  double* HWY_RESTRICT to_1 = out[1];
  double* HWY_RESTRICT to_2 = out[2];
  double* HWY_RESTRICT to_b = out[3];
  const double eps = sums.eps;
  for (std::int64_t i = 0; i < n; ++i) {
    const double count = counts[i], least = eps * (count * count);
    const double sum = read(p, i), i0 = read(g0, i), i1 = read(g1, i), i2 = read(g2, i);
    const double m00 = at_least(count * read(s00, i) - i0 * i0, 0) + least;
    const double m11 = at_least(count * read(s11, i) - i1 * i1, 0) + least;
    const double m22 = at_least(count * read(s22, i) - i2 * i2, 0) + least;
    const double m01 = count * read(s01, i) - i0 * i1;
    const double m02 = count * read(s02, i) - i0 * i2;
    const double m12 = count * read(s12, i) - i1 * i2;
    const double r0 = count * read(c0, i) - i0 * sum;
    const double r1 = count * read(c1, i) - i1 * sum;
    const double r2 = count * read(c2, i) - i2 * sum;
    const double l10 = m01 / m00, l20 = m02 / m00;
    const double d1 = at_least(m11 - l10 * m01, least), u12 = m12 - l10 * m02;
    const double l21 = u12 / d1;
    const double d2 = at_least(m22 - l20 * m02 - l21 * u12, least);
    const double y1 = r1 - l10 * r0, y2 = r2 - l20 * r0 - l21 * y1;
    const double a2 = y2 / d2, a1 = y1 / d1 - l21 * a2, a0 = r0 / m00 - l10 * a1 - l20 * a2;
    to_0[i] = a0, to_1[i] = a1, to_2[i] = a2;
    to_b[i] = (sum - a0 * i0 - a1 * i1 - a2 * i2) * share[i];
  }
}

template <class Sums, class Read>
void coefficients_of(std::int64_t channels, const Sums& sums, const Read& read, std::int64_t n, double* const* out) {
  if (channels == 1) return coefficients_of_grey(sums, read, n, out);
  coefficients_of_colour(sums, read, n, out);
}
void coefficients(std::int64_t channels, const GuidedSums& sums, std::int64_t n, double* const* out) {
  coefficients_of(channels, sums, Direct{}, n, out);
}
void coefficients_of_bytes(std::int64_t channels, const GuidedPrefixSums& sums, std::int64_t n, double* const* out) {
  coefficients_of(channels, sums, Differences{sums.size}, n, out);
}

void outputs(std::int64_t channels, const double* const* sums, const double* const* guide, const double* share,
             std::int64_t n, double* HWY_RESTRICT values) {
  const double* HWY_RESTRICT shares = share;
  const double* HWY_RESTRICT a = sums[0];
  const double* HWY_RESTRICT pixels = guide[0];
  if (channels == 1) {
    const double* HWY_RESTRICT b = sums[1];
    for (std::int64_t i = 0; i < n; ++i) values[i] = formulas::guided_output(a[i], b[i], pixels[i], shares[i]);
    return;
  }
  const double *a1 = sums[1], *a2 = sums[2], *b = sums[3], *pixels1 = guide[1], *pixels2 = guide[2];
  for (std::int64_t i = 0; i < n; ++i)
    values[i] = (a[i] * pixels[i] + a1[i] * pixels1[i] + a2[i] * pixels2[i] + b[i]) * shares[i];
}

constexpr GuidedKernels kernels = {multiply, square, coefficients, coefficients_of_bytes, step, step_products, outputs};

}  // namespace
const GuidedKernels* guided_kernels_of() { return &kernels; }
}  // namespace areal::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace areal::cpu {
HWY_EXPORT(guided_kernels_of);
const GuidedKernels& guided_kernels() { return *HWY_DYNAMIC_DISPATCH(guided_kernels_of)(); }
}  // namespace areal::cpu
#endif
