#include "cpu/query/bin_sums.hpp"
#include "cpu/query/modular.hpp"
#include "formulas/distance.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/query/bin_rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace areal::cpu::HWY_NAMESPACE {
namespace {

double count_of(std::uint16_t difference) { return difference; }
double count_of(std::uint32_t difference) {
  const std::uint64_t bits = 0x4330000000000000u | difference;  // 2^52 + difference
  return load<double>(&bits) - 0x1p52;
}
double count_of(std::uint64_t difference) { return real_of<false>(difference); }
double count_of(double d) { return d > 0 ? d : d - d; }  // keeps NaN

template <class T>
void counts_of(const char* top, const char* bottom, std::int64_t width, std::int64_t n, double* HWY_RESTRICT counts) {
  constexpr std::int64_t size = sizeof(T);
  using Difference = typename Modular<T>::Difference;  // 16 bits are promoted
  const std::int64_t right = width * size;
  if (top) {
    for (std::int64_t x = 0; x < n; ++x)
      counts[x] =
          count_of(static_cast<Difference>((element<T>(bottom + right + x * size) - element<T>(bottom + x * size)) -
                                           (element<T>(top + right + x * size) - element<T>(top + x * size))));
  } else {
    for (std::int64_t x = 0; x < n; ++x)
      counts[x] =
          count_of(static_cast<Difference>(element<T>(bottom + right + x * size) - element<T>(bottom + x * size)));
  }
}

void counts(Type type, const void* top, const void* bottom, std::int64_t width, std::int64_t n, double* out) {
  const char *upper = static_cast<const char*>(top), *lower = static_cast<const char*>(bottom);
  switch (type) {
    case Type::u16:
      return counts_of<std::uint16_t>(upper, lower, width, n, out);
    case Type::u32:
      return counts_of<std::uint32_t>(upper, lower, width, n, out);
    case Type::u64:
      return counts_of<std::uint64_t>(upper, lower, width, n, out);
    case Type::f32:
      return counts_of<float>(upper, lower, width, n, out);
    default:
      return counts_of<double>(upper, lower, width, n, out);
  }
}

void add(const double* HWY_RESTRICT counts, std::int64_t n, double* HWY_RESTRICT total) {
  for (std::int64_t x = 0; x < n; ++x) total[x] += counts[x];
}

struct Accumulate {
  const double* HWY_RESTRICT counts;
  const double* HWY_RESTRICT total;
  double target;
  std::int64_t n;
  double* HWY_RESTRICT cumulative;
  double* HWY_RESTRICT sum;
  template <Distance measure>
  void operator()() const {
    for (std::int64_t x = 0; x < n; ++x) {
      const double p = counts[x] / total[x];
      double step = 0;
      if constexpr (formulas::is_cumulative(measure)) step = cumulative[x] += p - target;
      sum[x] = formulas::with_bin<measure>(sum[x], p, target, step);
    }
  }
};

struct Finish {
  const double* HWY_RESTRICT total;
  double empty;
  std::int64_t n;
  double* HWY_RESTRICT sum;
  template <Distance measure>
  void operator()() const {
    for (std::int64_t x = 0; x < n; ++x) {
      const double distance = formulas::finished<measure>(sum[x]);
      sum[x] = total[x] == 0 ? empty : distance;
    }
  }
};

void accumulate(Distance measure, const double* counts, const double* total, double target, std::int64_t n,
                double* cumulative, double* sum) {
  formulas::with_measure(measure, Accumulate{counts, total, target, n, cumulative, sum});
}

void finish(Distance measure, const double* total, double empty, std::int64_t n, double* sum) {
  formulas::with_measure(measure, Finish{total, empty, n, sum});
}

inline constexpr BinRowKernels kernel_set = {counts, add, accumulate, finish};

}  // namespace

const BinRowKernels* kernels() { return &kernel_set; }

}  // namespace areal::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace areal::cpu {
HWY_EXPORT(kernels);
const BinRowKernels& bin_row_kernels() { return *HWY_DYNAMIC_DISPATCH(kernels)(); }
}  // namespace areal::cpu
#endif
