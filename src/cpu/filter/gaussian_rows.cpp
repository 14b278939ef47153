#include "cpu/filter/gaussian_rows.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/filter/gaussian_rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace areal::cpu::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// Products and sums round apart, so that all targets have the same bits.
void convolve(const double* const* rows, const double* weights, std::int64_t reach, std::int64_t begin,
              std::int64_t end, double* out) {
  std::int64_t i = begin;
#if HWY_TARGET != HWY_SCALAR
  const hn::ScalableTag<double> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  for (; i + 4 * lanes <= end; i += 4 * lanes) {
    const double* from = rows[reach] + i;
    auto weight = hn::Set(d, weights[0]);
    auto a = hn::Mul(hn::LoadU(d, from), weight), b = hn::Mul(hn::LoadU(d, from + lanes), weight),
         c = hn::Mul(hn::LoadU(d, from + 2 * lanes), weight), e = hn::Mul(hn::LoadU(d, from + 3 * lanes), weight);
    for (std::int64_t k = reach; k > 0; --k) {
      const double *left = rows[reach - k] + i, *right = rows[reach + k] + i;
      weight = hn::Set(d, weights[k]);
      const auto both = [&](std::int64_t at) HWY_ATTR {
        return hn::Mul(hn::Add(hn::LoadU(d, left + at), hn::LoadU(d, right + at)), weight);
      };
      a = hn::Add(a, both(0)), b = hn::Add(b, both(lanes));
      c = hn::Add(c, both(2 * lanes)), e = hn::Add(e, both(3 * lanes));
    }
    hn::StoreU(a, d, out + i), hn::StoreU(b, d, out + i + lanes);
    hn::StoreU(c, d, out + i + 2 * lanes), hn::StoreU(e, d, out + i + 3 * lanes);
  }
#endif
  for (; i < end; ++i) {
    double sum = rows[reach][i] * weights[0];
    for (std::int64_t k = reach; k > 0; --k) sum += (rows[reach - k][i] + rows[reach + k][i]) * weights[k];
    out[i] = sum;
  }
}

void extend(const double* sums, const double* HWY_RESTRICT left, const double* HWY_RESTRICT right, double inner,
            double outer, std::int64_t n, double* out) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = inner * sums[i] + outer * (left[i] + right[i]);
}

void scale(double* HWY_RESTRICT values, const double* HWY_RESTRICT by, double factor, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) values[i] *= by[i] * factor;
}

constexpr GaussianKernels kernels = {convolve, extend, scale};

}  // namespace
const GaussianKernels* gaussian_kernels_of() { return &kernels; }
}  // namespace areal::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace areal::cpu {
HWY_EXPORT(gaussian_kernels_of);
const GaussianKernels& gaussian_kernels() { return *HWY_DYNAMIC_DISPATCH(gaussian_kernels_of)(); }
}  // namespace areal::cpu
#endif
