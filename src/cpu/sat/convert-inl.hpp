// Loads that convert pixels to the table's type: a shim for conversions that Highway 1.0.3 lacks. Once per SIMD target.
#if defined(AREAL_CPU_SAT_CONVERT_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef AREAL_CPU_SAT_CONVERT_INL
#undef AREAL_CPU_SAT_CONVERT_INL
#else
#define AREAL_CPU_SAT_CONVERT_INL
#endif

#include <hwy/highway.h>
#include <cstdint>
#include <cstring>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace areal::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Load and store at any alignment: Highway's scalar target dereferences the pointer as it is.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> load_any(D d, const T* from) {
#if HWY_TARGET == HWY_SCALAR
  T aligned;
  std::memcpy(&aligned, from, sizeof(T));
  return hn::Load(d, &aligned);
#else
  return hn::LoadU(d, from);
#endif
}
template <class D, class T = hn::TFromD<D>>
HWY_INLINE void store_any(hn::Vec<D> v, D d, T* to) {
#if HWY_TARGET == HWY_SCALAR
  const T value = hn::GetLane(v);
  (void)d;
  std::memcpy(to, &value, sizeof(T));
#else
  hn::StoreU(v, d, to);
#endif
}

/// Lanes(d) pixels of any alignment, as the table's type: integers modulo 2^k (signed ones sign-extended), floats
/// exactly if the type holds them.
template <class In, class D, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> load_as(D d, const In* from) {
  if constexpr (std::is_same_v<In, T>) {
    return load_any(d, from);
  } else if constexpr (std::is_same_v<T, std::uint32_t>) {
    if constexpr (std::is_signed_v<In>) {
      return hn::BitCast(d, hn::PromoteTo(hn::Rebind<std::int32_t, D>(), load_any(hn::Rebind<In, D>(), from)));
    } else {
      return hn::PromoteTo(d, load_any(hn::Rebind<In, D>(), from));
    }
  } else if constexpr (std::is_same_v<T, std::int32_t>) {
    return hn::PromoteTo(d, load_any(hn::Rebind<In, D>(), from));
  } else if constexpr (std::is_same_v<T, std::uint64_t>) {
    if constexpr (std::is_signed_v<In>) {
      const hn::Rebind<std::int32_t, D> d32;
      return hn::BitCast(d, hn::PromoteTo(hn::Rebind<std::int64_t, D>(), load_as<In>(d32, from)));
    } else {
      const hn::Rebind<std::uint32_t, D> d32;
      return hn::PromoteTo(d, load_as<In>(d32, from));
    }
  } else if constexpr (std::is_same_v<T, float>) {
    if constexpr (std::is_same_v<In, hwy::float16_t>) {
      return hn::PromoteTo(d, load_any(hn::Rebind<hwy::float16_t, D>(), from));
    } else {
      return hn::ConvertTo(d, load_as<In>(hn::Rebind<std::int32_t, D>(), from));
    }
  } else {
    static_assert(std::is_same_v<T, double>);
    if constexpr (std::is_same_v<In, std::uint32_t>) {
      // 2^52 + v as a bit pattern, minus 2^52.
      const hn::Rebind<std::uint64_t, D> du;
      const auto biased =
          hn::Or(hn::PromoteTo(du, load_any(hn::Rebind<std::uint32_t, D>(), from)), hn::Set(du, 0x4330000000000000ull));
      return hn::Sub(hn::BitCast(d, biased), hn::Set(d, 0x1p52));
    } else if constexpr (sizeof(In) == 8) {
      // Both halves likewise: 2^84 + high 2^32 and 2^52 + low are exact, and so is the difference of the first; their
      // sum rounds once. The sign bit of a signed pixel is flipped, which adds 2^63.
      const hn::Rebind<std::uint64_t, D> du;
      constexpr bool is_signed = std::is_signed_v<In>;
      auto v = hn::BitCast(du, load_any(hn::Rebind<In, D>(), from));
      if constexpr (is_signed) v = hn::Xor(v, hn::Set(du, 0x8000000000000000ull));
      const auto high = hn::BitCast(d, hn::Or(hn::ShiftRight<32>(v), hn::Set(du, 0x4530000000000000ull)));
      const auto low =
          hn::BitCast(d, hn::Or(hn::And(v, hn::Set(du, 0xffffffffull)), hn::Set(du, 0x4330000000000000ull)));
      return hn::Add(hn::Sub(high, hn::Set(d, is_signed ? 0x1p84 + 0x1p63 + 0x1p52 : 0x1p84 + 0x1p52)), low);
    } else if constexpr (std::is_same_v<In, float> || std::is_same_v<In, hwy::float16_t>) {
      return hn::PromoteTo(d, load_as<In>(hn::Rebind<float, D>(), from));
    } else {
      return hn::PromoteTo(d, load_as<In>(hn::Rebind<std::int32_t, D>(), from));
    }
  }
}

}  // namespace areal::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggle
