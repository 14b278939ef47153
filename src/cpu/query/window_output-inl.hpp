// Converts rows of windows' sums and means to the output's type. Highway includes it once per SIMD target, hence
// Highway's toggle instead of #pragma once.
#if defined(AREAL_CPU_QUERY_WINDOW_OUTPUT_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef AREAL_CPU_QUERY_WINDOW_OUTPUT_INL
#undef AREAL_CPU_QUERY_WINDOW_OUTPUT_INL
#else
#define AREAL_CPU_QUERY_WINDOW_OUTPUT_INL
#endif

#include <hwy/highway.h>
#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>

#include "cpu/query/modular.hpp"
#include "formulas/rounding.hpp"

HWY_BEFORE_NAMESPACE();
namespace areal::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
T output_of(double value) {
  if constexpr (std::is_floating_point_v<T>)
    return static_cast<T>(value);
  else
    return formulas::rounded<T>(value);
}

/// A sum modulo 2^64 as an output value; sums below 0 count as 0.
template <class T>
std::uint8_t fixed_point_mean(std::uint64_t sum, const formulas::FixedPointMean& mean) {
  return mean(std::is_signed_v<T> && static_cast<std::int64_t>(sum) < 0 ? 0 : sum);
}

/// Processes whole vectors; returns the number of elements done.
template <class T>
std::int64_t store_vectors([[maybe_unused]] const double* values, [[maybe_unused]] std::int64_t n,
                           [[maybe_unused]] char* out) {
  std::int64_t i = 0;
#if HWY_TARGET != HWY_SCALAR  // which has no unaligned stores
  if constexpr (std::is_integral_v<T>) {
    const hn::ScalableTag<double> d;
    const hn::Rebind<std::int32_t, decltype(d)> di;
    const hn::Rebind<T, decltype(d)> dt;
    const auto least = hn::Set(d, std::numeric_limits<T>::min()), most = hn::Set(d, std::numeric_limits<T>::max()),
               magic = hn::Set(d, 0x1.8p52);
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    for (; i + lanes <= n; i += lanes) {
      const auto value = hn::LoadU(d, values + i);
      const auto number = hn::IfThenElseZero(hn::Eq(value, value), value);
      const auto held = hn::Min(hn::Max(number, least), most);
      const auto whole = hn::DemoteTo(di, hn::Sub(hn::Add(held, magic), magic));
      if constexpr (sizeof(T) == 4)
        hn::StoreU(whole, di, reinterpret_cast<T*>(out) + i);
      else
        hn::StoreU(hn::DemoteTo(dt, whole), dt, reinterpret_cast<T*>(out) + i);
    }
  }
#endif
  return i;
}

template <class T>
void store_as(const double* values, std::int64_t n, char* HWY_RESTRICT out) {
  for (std::int64_t i = store_vectors<T>(values, n, out); i < n; ++i) {
    const T element = output_of<T>(values[i]);
    std::memcpy(out + i * static_cast<std::int64_t>(sizeof(T)), &element, sizeof element);
  }
}

inline void store(const double* values, std::int64_t n, Type type, void* out) {
  char* const to = static_cast<char*>(out);
  switch (type) {
    case Type::u8:
      return store_as<std::uint8_t>(values, n, to);
    case Type::s8:
      return store_as<std::int8_t>(values, n, to);
    case Type::u16:
      return store_as<std::uint16_t>(values, n, to);
    case Type::s16:
      return store_as<std::int16_t>(values, n, to);
    case Type::s32:
      return store_as<std::int32_t>(values, n, to);
    case Type::f32:
      return store_as<float>(values, n, to);
    default:
      return store_as<double>(values, n, to);
  }
}

/// Elements of `size` bytes. `known` is the number of channels if the compiler should vectorise for it, else 0.
template <std::int64_t size, std::int64_t known>
void interleave_as(const char* HWY_RESTRICT rows, std::int64_t n, std::int64_t channels, char* HWY_RESTRICT out) {
  const std::int64_t step = known > 0 ? known : channels;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t c = 0; c < step; ++c) std::memcpy(out + (i * step + c) * size, rows + (c * n + i) * size, size);
}
template <std::int64_t size>
void interleave_of(const char* rows, std::int64_t n, std::int64_t channels, char* out) {
  switch (channels) {
    case 2:
      return interleave_as<size, 2>(rows, n, channels, out);
    case 3:
      return interleave_as<size, 3>(rows, n, channels, out);
    case 4:
      return interleave_as<size, 4>(rows, n, channels, out);
    default:
      return interleave_as<size, 0>(rows, n, channels, out);
  }
}
inline void interleave(const char* rows, std::int64_t n, std::int64_t channels, Type type, char* out) {
  switch (size_of(type)) {
    case 1:
      return interleave_of<1>(rows, n, channels, out);
    case 2:
      return interleave_of<2>(rows, n, channels, out);
    case 4:
      return interleave_of<4>(rows, n, channels, out);
    default:
      return interleave_of<8>(rows, n, channels, out);
  }
}

/// values[i] = (right[i] - left[i]) / pixels, or times its reciprocal, of sums that fit the table's type.
template <class T>
void quotients(const typename Modular<T>::Difference* left, const typename Modular<T>::Difference* right, double pixels,
               bool by_reciprocal, std::int64_t n, double* HWY_RESTRICT values) {
  const auto real = [](typename Modular<T>::Difference d) {
    if constexpr (std::is_integral_v<T>)
      return real_of<std::is_signed_v<T>>(Modular<T>::widen(d));
    else
      return d;
  };
  if (pixels == 1) {
    for (std::int64_t i = 0; i < n; ++i) values[i] = real(right[i] - left[i]);
  } else if (by_reciprocal) {
    const double reciprocal = 1 / pixels;
    for (std::int64_t i = 0; i < n; ++i) values[i] = real(right[i] - left[i]) * reciprocal;
  } else {
    for (std::int64_t i = 0; i < n; ++i) values[i] = real(right[i] - left[i]) / pixels;
  }
}

/// Means to 8u of tables of 32 bits. to_byte(sums) returns 32-bit integers; sums are at least 0 and at most `largest`,
/// whose mean is at least 256.
template <class T, class ToByte>
void bytes_of(const std::uint32_t* left, const std::uint32_t* right, std::uint32_t largest, std::int64_t n,
              std::uint8_t* HWY_RESTRICT out, const ToByte& to_byte) {
  const hn::ScalableTag<std::uint32_t> d;
  const hn::RebindToSigned<decltype(d)> di;
  const hn::Rebind<std::uint8_t, decltype(d)> d8;
  const auto most = hn::Set(d, largest);
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto means = [&](const std::uint32_t* from_left, const std::uint32_t* from_right) HWY_ATTR {
    auto sum = hn::Sub(hn::LoadU(d, from_right), hn::LoadU(d, from_left));
    if constexpr (std::is_signed_v<T>) sum = hn::BitCast(d, hn::Max(hn::BitCast(di, sum), hn::Zero(di)));
    return hn::DemoteTo(d8, to_byte(hn::Min(sum, most)));
  };
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(means(left + i, right + i), d8, out + i);
  if (i == n) return;
  HWY_ALIGN std::uint32_t some[2 * hn::MaxLanes(d)] = {};
  HWY_ALIGN std::uint8_t last[hn::MaxLanes(d)];
  const std::int64_t rest = n - i;
  for (std::int64_t j = 0; j < rest && j < lanes; ++j) some[j] = left[i + j], some[lanes + j] = right[i + j];
  hn::StoreU(means(some, some + lanes), d8, last);
  for (std::int64_t j = 0; j < rest && j < lanes; ++j) out[i + j] = last[j];
}

/// Half to even, by products with the reciprocal of 1 <= n = pixels < 2^13. Such a product, below 256, is off by less
/// than 2^-15, so by less than 1 / (4 n). For odd n there are no ties, and every quotient is at least 1 / (2 n) from
/// one. For even n every other quotient is at least 1 / n from a tie: changing the sum by a quarter either way
/// identifies ties, which are the only ones to be rounded differently by the two.
inline constexpr std::uint32_t most_pixels_of_nearest_bytes = (1u << 13) - 1;
template <class T>
void nearest_bytes(const std::uint32_t* left, const std::uint32_t* right, std::uint32_t pixels, std::int64_t n,
                   std::uint8_t* out) {
  const hn::ScalableTag<float> df;
  const hn::RebindToSigned<decltype(df)> di;
  const auto reciprocal = hn::Set(df, 1 / static_cast<float>(pixels)), quarter = hn::Set(df, 0.25f);
  if (pixels % 2 == 1)
    return bytes_of<T>(left, right, 256 * pixels, n, out, [&](auto sum) HWY_ATTR {
      return hn::NearestInt(hn::Mul(hn::ConvertTo(df, hn::BitCast(di, sum)), reciprocal));
    });
  bytes_of<T>(left, right, 256 * pixels, n, out, [&](auto sum) HWY_ATTR {
    const auto real = hn::ConvertTo(df, hn::BitCast(di, sum));
    const auto down = hn::NearestInt(hn::Mul(hn::Sub(real, quarter), reciprocal));
    const auto up = hn::NearestInt(hn::Mul(hn::Add(real, quarter), reciprocal));
    return hn::Add(down, hn::And(hn::Sub(up, down), down));
  });
}

/// OpenCV's.
template <class T>
void fixed_point_bytes(const typename Modular<T>::Difference* left, const typename Modular<T>::Difference* right,
                       const formulas::FixedPointMean& mean, std::int64_t n, std::uint8_t* out) {
  if constexpr (sizeof(T) == 4) {
    const hn::ScalableTag<std::uint32_t> d;
    const hn::RebindToSigned<decltype(d)> di;
    const auto delta = hn::Set(d, mean.delta), factor = hn::Set(d, mean.factor);
    bytes_of<T>(left, right, mean.largest(), n, out, [&](auto sum) HWY_ATTR {
      return hn::BitCast(di, hn::ShiftRight<23>(hn::Mul(hn::Add(sum, delta), factor)));
    });
  } else {
    for (std::int64_t i = 0; i < n; ++i) out[i] = fixed_point_mean<T>(right[i] - left[i], mean);
  }
}

}  // namespace areal::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
