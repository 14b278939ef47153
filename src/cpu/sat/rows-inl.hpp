// The row kernel. Included by Highway once per SIMD target, hence no #pragma once but Highway's toggle.
#if defined(AREAL_CPU_SAT_ROWS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef AREAL_CPU_SAT_ROWS_INL
#undef AREAL_CPU_SAT_ROWS_INL
#else
#define AREAL_CPU_SAT_ROWS_INL
#endif

#include <hwy/highway.h>
#include <cstring>
#include <type_traits>

#include "cpu/sat/convert-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace areal::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Inclusive prefix sums of a vector's lanes in log2(lanes) steps: inside 128-bit blocks by shifts, then block sums
/// handed on by two table look-ups.
template <class D>
class LaneScan {
 public:
  using T = hn::TFromD<D>;
  using V = hn::Vec<D>;
  static constexpr std::size_t lanes = hn::MaxLanes(D());
  static constexpr std::size_t block = lanes < 16 / sizeof(T) ? lanes : 16 / sizeof(T);

  explicit LaneScan(D d) {
    using TI = hwy::MakeUnsigned<T>;
    const hn::RebindToUnsigned<D> du;
    HWY_ALIGN TI index[lanes];
    HWY_ALIGN TI keep[lanes];
    for (std::size_t step = 0; step < 2; ++step) {
      const std::size_t span = block << step;  // lanes already scanned together
      for (std::size_t i = 0; i < lanes; ++i) {
        const bool receives = i / span % 2 == 1;
        index[i] = static_cast<TI>(receives ? i / span * span - 1 : 0);
        keep[i] = receives ? static_cast<TI>(~TI{0}) : TI{0};
      }
      (step == 0 ? from1_ : from2_) = hn::IndicesFromVec(d, hn::Load(du, index));
      (step == 0 ? keep1_ : keep2_) = hn::MaskFromVec(hn::BitCast(d, hn::Load(du, keep)));
    }
    for (std::size_t i = 0; i < lanes; ++i) index[i] = static_cast<TI>(lanes - 1);
    last_ = hn::IndicesFromVec(d, hn::Load(du, index));
  }

  HWY_INLINE V sums([[maybe_unused]] D d, V v) const {
#if HWY_TARGET != HWY_SCALAR
    if constexpr (block >= 2) v = hn::Add(v, hn::ShiftLeftLanes<1>(d, v));
    if constexpr (block >= 4) v = hn::Add(v, hn::ShiftLeftLanes<2>(d, v));
#endif
    if constexpr (lanes > block) v = hn::Add(v, hn::IfThenElseZero(keep1_, hn::TableLookupLanes(v, from1_)));
    if constexpr (lanes > 2 * block) v = hn::Add(v, hn::IfThenElseZero(keep2_, hn::TableLookupLanes(v, from2_)));
    return v;
  }
  HWY_INLINE V last(V v) const { return hn::TableLookupLanes(v, last_); }

 private:
  using Indices = decltype(hn::IndicesFromVec(D(), hn::Zero(hn::RebindToUnsigned<D>())));
  using Mask = decltype(hn::MaskFromVec(hn::Zero(D())));
  Indices from1_ = hn::IndicesFromVec(D(), hn::Zero(hn::RebindToUnsigned<D>()));
  Indices from2_ = from1_, last_ = from1_;
  Mask keep1_ = hn::MaskFromVec(hn::Zero(D())), keep2_ = keep1_;
};

template <class In, class T, bool squares, int rows>
HWY_NOINLINE void scan_some(const void* const* in, const void* above, void* const* out, T* carry, std::int64_t n) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const LaneScan<decltype(d)> scan_lanes(d);
  V left[rows];
  for (int r = 0; r < rows; ++r) left[r] = hn::Set(d, carry[r]);

  // One vector of every row; where the pixels and sums lie is the caller's.
  const auto step = [&](auto pixels, V sum, auto store) HWY_ATTR {
    for (int r = 0; r < rows; ++r) {
      V v = pixels(r);
      if constexpr (squares) v = hn::Mul(v, v);
      const V sums = scan_lanes.sums(d, v);
      sum = hn::Add(sum, hn::Add(sums, left[r]));
      left[r] = hn::Add(left[r], scan_lanes.last(sums));
      store(r, sum);
    }
  };
  std::int64_t x = 0;
  for (; x + lanes <= n; x += lanes) {
    step([&](int r) HWY_ATTR { return load_as<In>(d, static_cast<const In*>(in[r]) + x); },
         load_any(d, static_cast<const T*>(above) + x),
         [&](int r, V sum) HWY_ATTR { store_any(sum, d, static_cast<T*>(out[r]) + x); });
  }
  if (x < n) {
    // The rest through zero-padded copies: the same additions in the same order, nothing read or written beyond n.
    const auto rest = static_cast<std::size_t>(n - x);
    HWY_ALIGN In pixels[hn::MaxLanes(decltype(d)())] = {};
    HWY_ALIGN T sums[hn::MaxLanes(decltype(d)())] = {};
    std::memcpy(sums, static_cast<const T*>(above) + x, rest * sizeof(T));
    step(
        [&](int r) HWY_ATTR {
          std::memcpy(pixels, static_cast<const In*>(in[r]) + x, rest * sizeof(In));
          return load_as<In>(d, pixels);
        },
        hn::Load(d, sums),
        [&](int r, V sum) HWY_ATTR {
          hn::Store(sum, d, sums);
          std::memcpy(static_cast<T*>(out[r]) + x, sums, rest * sizeof(T));
        });
  }
  for (int r = 0; r < rows; ++r) carry[r] = hn::GetLane(left[r]);
}

template <class In, class T, bool squares>
void scan(const void* const* in, const void* above, void* const* out, void* carry, int rows, std::int64_t n) {
  auto* const carries = static_cast<T*>(carry);
  if (rows == max_rows) return scan_some<In, T, squares, max_rows>(in, above, out, carries, n);
  for (int r = 0; r < rows; ++r) {
    scan_some<In, T, squares, 1>(in + r, above, out + r, carries + r, n);
    above = out[r];
  }
}

template <class In, class T>
ScanRows kernel(bool squares) {
  return squares ? &scan<In, T, true> : &scan<In, T, false>;
}

}  // namespace areal::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggle
