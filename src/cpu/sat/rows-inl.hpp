// The row kernel. Highway includes it once per SIMD target, hence Highway's toggle instead of #pragma once.
#if defined(AREAL_CPU_SAT_ROWS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef AREAL_CPU_SAT_ROWS_INL
#undef AREAL_CPU_SAT_ROWS_INL
#else
#define AREAL_CPU_SAT_ROWS_INL
#endif

#include <hwy/highway.h>
#include <algorithm>
#include <cstring>
#include <type_traits>

#include "cpu/prefetch.hpp"
#include "cpu/sat/convert-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace areal::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Inclusive prefix sums of a vector's N elements in log2(N) steps: shifts inside 128-bit blocks, then block sums
/// passed on by two table look-ups. Reversed, sums from the last element to the first.
template <class D, bool reverse>
class LaneScan {
 public:
  using T = hn::TFromD<D>;
  using V = hn::Vec<D>;
  static constexpr std::size_t pairs = hn::MaxLanes(D());
  static constexpr std::size_t block = pairs < 16 / sizeof(T) ? pairs : 16 / sizeof(T);

  explicit LaneScan(D d) {
    using TI = hwy::MakeUnsigned<T>;
    const hn::RebindToUnsigned<D> du;
    HWY_ALIGN TI index[pairs];
    HWY_ALIGN TI keep[pairs];
    for (std::size_t step = 0; step < 2; ++step) {
      const std::size_t span = block << step;  // elements already scanned together
      for (std::size_t i = 0; i < pairs; ++i) {
        const std::size_t giver = reverse ? (i / span + 1) * span : i / span * span - 1;
        const bool receives = i / span % 2 == (reverse ? 0 : 1) && giver < pairs;
        index[i] = static_cast<TI>(receives ? giver : 0);
        keep[i] = receives ? static_cast<TI>(~TI{0}) : TI{0};
      }
      (step == 0 ? from1_ : from2_) = hn::IndicesFromVec(d, hn::Load(du, index));
      (step == 0 ? keep1_ : keep2_) = hn::MaskFromVec(hn::BitCast(d, hn::Load(du, keep)));
    }
    for (std::size_t i = 0; i < pairs; ++i) index[i] = static_cast<TI>(reverse ? 0 : pairs - 1);
    last_ = hn::IndicesFromVec(d, hn::Load(du, index));
  }

  HWY_INLINE V sums([[maybe_unused]] D d, V v) const {
#if HWY_TARGET != HWY_SCALAR
    if constexpr (reverse) {
      if constexpr (block >= 2) v = hn::Add(v, hn::ShiftRightLanes<1>(d, v));
      if constexpr (block >= 4) v = hn::Add(v, hn::ShiftRightLanes<2>(d, v));
    } else {
      if constexpr (block >= 2) v = hn::Add(v, hn::ShiftLeftLanes<1>(d, v));
      if constexpr (block >= 4) v = hn::Add(v, hn::ShiftLeftLanes<2>(d, v));
    }
#endif
    if constexpr (pairs > block) v = hn::Add(v, hn::IfThenElseZero(keep1_, hn::TableLookupLanes(v, from1_)));
    if constexpr (pairs > 2 * block) v = hn::Add(v, hn::IfThenElseZero(keep2_, hn::TableLookupLanes(v, from2_)));
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

/// One of the rows scanned together: its source and destination, and its running sum in every element of a vector. A
/// struct instead of arrays indexed by row, so that the compiler keeps these in registers.
template <class In, class T, class V>
struct RunningRow {
  const In* in;
  T* out;
  V left;
};

/// v * v.
template <class D, class V>
HWY_INLINE V square(D, V v) {
#if HWY_MAJOR < 1 && HWY_TARGET != HWY_SCALAR
  if constexpr (std::is_same_v<hn::TFromD<D>,
                               std::uint64_t>) {  // no 64-bit multiplication: h^2 2^64 + 2 h l 2^32 + l^2
    const hn::Repartition<std::uint32_t, D> halves;
    const auto low = hn::BitCast(halves, v), high = hn::BitCast(halves, hn::ShiftRight<32>(v));
    return hn::Add(hn::MulEven(low, low), hn::ShiftLeft<33>(hn::MulEven(low, high)));
  } else
#endif
    return hn::Mul(v, v);
}

/// One vector of one row: its inclusive sums, added to those of the rows above it in `sum`.
template <class In, bool squares, class D, bool reverse, class T = hn::TFromD<D>, class V = hn::Vec<D>>
HWY_INLINE V scan_vector(D d, const LaneScan<D, reverse>& pairs, const In* pixels, V& left, V sum) {
  V v = load_as<In>(d, pixels);
  if constexpr (squares) v = square(d, v);
  const V sums = pairs.sums(d, v);
  sum = hn::Add(sum, hn::Add(sums, left));
  left = hn::Add(left, pairs.last(sums));
  return sum;
}

template <class In, class T, bool squares, bool reverse, int rows>
HWY_NOINLINE void scan_some(const void* const* in, const void* above_row, void* const* out, const void* const* next,
                            T* carry, std::int64_t n) {
  static_assert(rows == 1 || rows == 4);
  using D = hn::ScalableTag<T>;
  using V = hn::Vec<D>;
  const D d;
  constexpr int last = rows - 1;
  const auto pairs = static_cast<std::int64_t>(hn::Lanes(d));
  const LaneScan<D, reverse> scan_pairs(d);
  const auto* const above = static_cast<const T*>(above_row);
  const auto row = [&](int r) HWY_ATTR {
    return RunningRow<In, T, V>{static_cast<const In*>(in[r]), static_cast<T*>(out[r]), hn::Set(d, carry[r])};
  };
  RunningRow<In, T, V> a = row(0), b = row(last > 0 ? 1 : 0), c = row(last > 0 ? 2 : 0), e = row(last);

  // The address offset of the vector x elements from the row's begin; reversed, from its end.
  const auto place = [n, pairs](std::int64_t x) { return reverse ? n - pairs - x : x; };
  // Vectors from x to end; each prefetches the line `ahead` bytes after it in the rows a_far .. e_far.
  const auto vectors = [&](std::int64_t x, std::int64_t end, bool fetch, const char* a_far, const char* b_far,
                           const char* c_far, const char* e_far) HWY_ATTR {
    for (; x + pairs <= end; x += pairs) {
      const std::int64_t i = place(x);
      if (fetch) {
        const std::int64_t at = i * static_cast<std::int64_t>(sizeof(T));
        prefetch_to_write(a_far + at);
        if constexpr (rows == 4) {
          prefetch_to_write(b_far + at);
          prefetch_to_write(c_far + at);
          prefetch_to_write(e_far + at);
        }
      }
      V sum = scan_vector<In, squares>(d, scan_pairs, a.in + i, a.left, load_any(d, above + i));
      store_any(sum, d, a.out + i);
      if constexpr (rows == 4) {
        sum = scan_vector<In, squares>(d, scan_pairs, b.in + i, b.left, sum);
        store_any(sum, d, b.out + i);
        sum = scan_vector<In, squares>(d, scan_pairs, c.in + i, c.left, sum);
        store_any(sum, d, c.out + i);
        sum = scan_vector<In, squares>(d, scan_pairs, e.in + i, e.left, sum);
        store_any(sum, d, e.out + i);
      }
    }
    return x;
  };
  constexpr std::int64_t ahead = prefetch_distance;
  const std::int64_t bytes = n * static_cast<std::int64_t>(sizeof(T));
  const std::int64_t near = std::max<std::int64_t>(0, n - ahead / static_cast<std::int64_t>(sizeof(T)));
  const auto far = [&](const void* const* targets, int r, std::int64_t offset) HWY_ATTR {
    return targets == nullptr ? nullptr : static_cast<const char*>(targets[r]) + (reverse ? -offset : offset);
  };
  const int second = last > 0 ? 1 : 0, third = last > 0 ? 2 : 0;
  std::int64_t x = vectors(0, near, true, far(out, 0, ahead), far(out, second, ahead), far(out, third, ahead),
                           far(out, last, ahead));
  // The end of the row prefetches the beginning of the rows that follow.
  const std::int64_t before = ahead - bytes;
  x = vectors(x, n, next != nullptr && bytes >= ahead, far(next, 0, before), far(next, second, before),
              far(next, third, before), far(next, last, before));
  if (x < n) {
    // The remainder goes through zero-padded copies: the same additions in the same order; nothing beyond n is read or
    // written.
    const auto rest = static_cast<std::size_t>(n - x);
    const std::int64_t from = reverse ? 0 : x, pad = reverse ? pairs - (n - x) : 0;  // the last elements are padding
    HWY_ALIGN In pixels[hn::MaxLanes(D())] = {};
    HWY_ALIGN T sums[hn::MaxLanes(D())] = {};
    std::memcpy(sums + pad, above + from, rest * sizeof(T));
    for (RunningRow<In, T, V>* r : {&a, &b, &c, &e}) {
      std::memcpy(pixels + pad, r->in + from, rest * sizeof(In));
      hn::Store(scan_vector<In, squares>(d, scan_pairs, pixels, r->left, hn::Load(d, sums)), d, sums);
      std::memcpy(r->out + from, sums + pad, rest * sizeof(T));
      if (rows == 1) break;
    }
  }
  carry[0] = hn::GetLane(a.left);
  if constexpr (rows == 4) {
    carry[1] = hn::GetLane(b.left);
    carry[2] = hn::GetLane(c.left);
    carry[3] = hn::GetLane(e.left);
  }
}

template <class In, class T, bool squares, bool reverse>
void scan(const void* const* in, const void* above, void* const* out, const void* const* next, void* carry, int rows,
          std::int64_t n) {
  auto* const carries = static_cast<T*>(carry);
  if (rows == max_rows) return scan_some<In, T, squares, reverse, max_rows>(in, above, out, next, carries, n);
  for (int r = 0; r < rows; ++r) {
    scan_some<In, T, squares, reverse, 1>(in + r, above, out + r, nullptr, carries + r, n);
    above = out[r];
  }
}

}  // namespace areal::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggle
