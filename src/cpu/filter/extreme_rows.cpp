#include "cpu/filter/extreme_rows.hpp"
#include <algorithm>
#include <cstring>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/filter/extreme_rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace areal::cpu::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

template <bool least, class V>
HWY_INLINE V extreme(V a, V b) {
  if constexpr (least) return hn::Min(a, b);
  return hn::Max(a, b);
}

template <class D, class V, class T>
HWY_INLINE void store_some(D d, V value, std::int64_t n, T* to) {
  HWY_ALIGN T all[hn::MaxLanes(D())];
  hn::Store(value, d, all);
  std::copy_n(all, n, to);
}

// to[i] = the extreme of row[i + offset] for `count` offsets, the first of which is 0. The loop runs from the
// first element on, so `to` may be the row.
template <bool least, class T, int count>
void merge(const T* row, const std::int64_t (&offsets)[4], std::int64_t n, T* to) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const T *second = row + offsets[1], *third = row + offsets[2], *fourth = row + offsets[3];
  const auto at = [&](std::int64_t i) HWY_ATTR {
    auto value = hn::LoadU(d, row + i);
    if constexpr (count > 1) value = extreme<least>(value, hn::LoadU(d, second + i));
    if constexpr (count > 2) value = extreme<least>(value, hn::LoadU(d, third + i));
    if constexpr (count > 3) value = extreme<least>(value, hn::LoadU(d, fourth + i));
    return value;
  };
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(at(i), d, to + i);
  store_some(d, at(i), n - i, to + i);
}
template <bool least, class T>
void merge(int count, const T* row, const std::int64_t (&offsets)[4], std::int64_t n, T* to) {
  switch (count) {
    case 1:
      return merge<least, T, 1>(row, offsets, n, to);
    case 2:
      return merge<least, T, 2>(row, offsets, n, to);
    case 3:
      return merge<least, T, 3>(row, offsets, n, to);
    default:
      return merge<least, T, 4>(row, offsets, n, to);
  }
}

// Extremes of 4, 16, 64, .. elements while the windows are longer, then of up to four of these that cover a window.
template <bool least, class T>
void along(void* from, std::int64_t n, std::int64_t size, std::int64_t step, void* out) {
  T* const row = static_cast<T*>(from);
  std::int64_t covered = 1;
  for (; size > 4 * covered; covered *= 4) {
    const std::int64_t apart = covered * step;
    merge<least, T, 4>(row, {0, apart, 2 * apart, 3 * apart}, n + (size - 4 * covered) * step, row);
  }
  const int count = static_cast<int>((size + covered - 1) / covered);
  std::int64_t offsets[4] = {};
  for (int k = 1; k < count; ++k) offsets[k] = (k < count - 1 ? k * covered : size - covered) * step;
  merge<least, T>(count, row, offsets, n, static_cast<T*>(out));
}

template <bool least, class T>
void across(const void* const* rows, int count, std::int64_t n, void* out) {
  const T* const first = static_cast<const T*>(rows[0]);
  std::int64_t offsets[4] = {};
  for (int k = 1; k < count; ++k) offsets[k] = static_cast<const T*>(rows[k]) - first;
  merge<least, T>(count, first, offsets, n, static_cast<T*>(out));
}

template <bool least, class T>
void advance(void* prefix_, const void* row_, const void* suffix_, std::int64_t n, void* out_) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  T* HWY_RESTRICT prefix = static_cast<T*>(prefix_);
  const T* HWY_RESTRICT row = static_cast<const T*>(row_);
  const T* HWY_RESTRICT suffix = static_cast<const T*>(suffix_);
  T* HWY_RESTRICT out = static_cast<T*>(out_);
  const auto at = [&](std::int64_t i) HWY_ATTR {
    const auto value = extreme<least>(hn::LoadU(d, prefix + i), hn::LoadU(d, row + i));
    hn::StoreU(value, d, prefix + i);
    return extreme<least>(hn::LoadU(d, suffix + i), value);
  };
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(at(i), d, out + i);
  store_some(d, at(i), n - i, out + i);
}

// The bits of a float, as a signed integer, with those of negative numbers in reverse order.
template <class T>
T reversed(T bits) {
  constexpr int sign = 8 * sizeof(T) - 1;
  return static_cast<T>(bits ^ static_cast<T>((bits >> sign) & std::numeric_limits<T>::max()));
}
template <bool least, class T, T infinity>
void order(const void* from_, std::int64_t n, void* to_) {
  const char* const from = static_cast<const char*>(from_);  // of any alignment
  T* HWY_RESTRICT to = static_cast<T*>(to_);
  constexpr T nan = least ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max();
  for (std::int64_t i = 0; i < n; ++i) {
    T bits;
    std::memcpy(&bits, from + i * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
    to[i] = (bits & std::numeric_limits<T>::max()) > infinity ? nan : reversed(bits);
  }
}
template <bool least, class T, T infinity>
void restore(void* row_, std::int64_t n) {
  char* const row = static_cast<char*>(row_);
  constexpr T nan = least ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max();
  constexpr T quiet = static_cast<T>(infinity | (infinity >> 1));
  for (std::int64_t i = 0; i < n; ++i) {
    T value;
    std::memcpy(&value, row + i * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
    value = value == nan ? quiet : reversed(value);
    std::memcpy(row + i * static_cast<std::int64_t>(sizeof(T)), &value, sizeof(T));
  }
}
template <class T>
void copy(const void* from, std::int64_t n, void* to) {
  std::memcpy(to, from, static_cast<std::size_t>(n) * sizeof(T));
}
void leave(void*, std::int64_t) {}

template <bool least, class T>
inline constexpr ExtremeKernels of_integers = {along<least, T>, across<least, T>, advance<least, T>, copy<T>, leave};
template <bool least, class T, T infinity>
inline constexpr ExtremeKernels of_floats = {along<least, T>, across<least, T>, advance<least, T>,
                                             order<least, T, infinity>, restore<least, T, infinity>};

template <bool least>
const ExtremeKernels* kernels_for(Type type) {
  switch (type) {
    case Type::u8:
      return &of_integers<least, std::uint8_t>;
    case Type::s8:
      return &of_integers<least, std::int8_t>;
    case Type::u16:
      return &of_integers<least, std::uint16_t>;
    case Type::s16:
      return &of_integers<least, std::int16_t>;
    case Type::u32:
      return &of_integers<least, std::uint32_t>;
    case Type::s32:
      return &of_integers<least, std::int32_t>;
    case Type::u64:
      return &of_integers<least, std::uint64_t>;
    case Type::s64:
      return &of_integers<least, std::int64_t>;
    case Type::f16:
      return &of_floats<least, std::int16_t, 0x7c00>;
    case Type::f32:
      return &of_floats<least, std::int32_t, 0x7f800000>;
    default:
      return &of_floats<least, std::int64_t, 0x7ff0000000000000>;
  }
}

}  // namespace

const ExtremeKernels* extreme_kernels_of(bool least, Type type) {
  return least ? kernels_for<true>(type) : kernels_for<false>(type);
}

}  // namespace areal::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace areal::cpu {
HWY_EXPORT(extreme_kernels_of);
const ExtremeKernels& extreme_kernels(bool least, Type type) {
  return *HWY_DYNAMIC_DISPATCH(extreme_kernels_of)(least, type);
}
}  // namespace areal::cpu
#endif
