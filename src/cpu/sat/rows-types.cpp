// The row kernels of one group of type pairs (by table type), for every SIMD target. Built once per group.
#include "cpu/sat/row_types.hpp"
#include "cpu/sat/rows.hpp"
#include "cpu/sat/rows_groups.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/sat/rows-types.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "cpu/sat/rows-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace areal::cpu::HWY_NAMESPACE {

namespace {

template <class In, class T, bool squares>
ScanRows either_way(bool reverse) {
  return reverse ? &scan<In, T, squares, true> : &scan<In, T, squares, false>;
}

/// The kernel of sums for every type pair of this group: a type pair without one does not compile.
template <class T>
ScanRows sums_of(Type input, bool reverse) {
#define AREAL_PAIR(name, in, out)                                       \
  if constexpr (adds_as<out, T>) {                                      \
    using In = RowPixel<in, T>;                                         \
    if (input == type_of<in>) return either_way<In, T, false>(reverse); \
  }
  AREAL_TYPE_PAIRS(AREAL_PAIR)
#undef AREAL_PAIR
  return nullptr;
}

}  // namespace

#if defined(AREAL_GROUP_32u)
ScanRows scan_rows_32u(Type input, bool squares, bool reverse) {
  using T = std::uint32_t;
  if (!squares) return sums_of<T>(input, reverse);
  switch (input) {
    case Type::u8:
      return either_way<std::uint8_t, T, true>(reverse);
    case Type::s8:
      return either_way<std::int8_t, T, true>(reverse);
    case Type::u16:
      return either_way<std::uint16_t, T, true>(reverse);
    case Type::s16:
      return either_way<std::int16_t, T, true>(reverse);
    default:
      return nullptr;
  }
}
#elif defined(AREAL_GROUP_64u)
ScanRows scan_rows_64u(Type input, bool squares, bool reverse) {
  using T = std::uint64_t;
  if (!squares) return sums_of<T>(input, reverse);
  switch (input) {
    case Type::u8:
      return either_way<std::uint8_t, T, true>(reverse);
    case Type::s8:
      return either_way<std::int8_t, T, true>(reverse);
    case Type::u16:
      return either_way<std::uint16_t, T, true>(reverse);
    case Type::s16:
      return either_way<std::int16_t, T, true>(reverse);
    case Type::u32:
      return either_way<std::uint32_t, T, true>(reverse);
    case Type::s32:
      return either_way<std::int32_t, T, true>(reverse);
    case Type::u64:
    case Type::s64:  // modulo 2^64
      return either_way<T, T, true>(reverse);
    default:
      return nullptr;
  }
}
#elif defined(AREAL_GROUP_32f)
// Squares of wider integers would lose bits one by one.
ScanRows scan_rows_32f(Type input, bool squares, bool reverse) {
  using T = float;
  if (!squares) return sums_of<T>(input, reverse);
  switch (input) {
    case Type::u8:
      return either_way<std::uint8_t, T, true>(reverse);
    case Type::s8:
      return either_way<std::int8_t, T, true>(reverse);
    case Type::f16:
      return either_way<hwy::float16_t, T, true>(reverse);
    case Type::f32:
      return either_way<float, T, true>(reverse);
    default:
      return nullptr;
  }
}
#else
ScanRows scan_rows_64f(Type input, bool squares, bool reverse) {
  using T = double;
  if (!squares) return sums_of<T>(input, reverse);
  switch (input) {
    case Type::u8:
      return either_way<std::uint8_t, T, true>(reverse);
    case Type::s8:
      return either_way<std::int8_t, T, true>(reverse);
    case Type::u16:
      return either_way<std::uint16_t, T, true>(reverse);
    case Type::s16:
      return either_way<std::int16_t, T, true>(reverse);
    case Type::u32:
      return either_way<std::uint32_t, T, true>(reverse);
    case Type::s32:
      return either_way<std::int32_t, T, true>(reverse);
    case Type::u64:
      return either_way<std::uint64_t, T, true>(reverse);
    case Type::s64:
      return either_way<std::int64_t, T, true>(reverse);
    case Type::f16:
      return either_way<hwy::float16_t, T, true>(reverse);
    case Type::f32:
      return either_way<float, T, true>(reverse);
    case Type::f64:
      return either_way<double, T, true>(reverse);
    default:
      return nullptr;
  }
}
#endif

}  // namespace areal::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace areal::cpu {
#if defined(AREAL_GROUP_32u)
HWY_EXPORT(scan_rows_32u);
ScanRows scan_rows_of_32u(Type input, bool squares, bool reverse) {
  return HWY_DYNAMIC_DISPATCH(scan_rows_32u)(input, squares, reverse);
}
#elif defined(AREAL_GROUP_64u)
HWY_EXPORT(scan_rows_64u);
ScanRows scan_rows_of_64u(Type input, bool squares, bool reverse) {
  return HWY_DYNAMIC_DISPATCH(scan_rows_64u)(input, squares, reverse);
}
#elif defined(AREAL_GROUP_32f)
HWY_EXPORT(scan_rows_32f);
ScanRows scan_rows_of_32f(Type input, bool squares, bool reverse) {
  return HWY_DYNAMIC_DISPATCH(scan_rows_32f)(input, squares, reverse);
}
#else
HWY_EXPORT(scan_rows_64f);
ScanRows scan_rows_of_64f(Type input, bool squares, bool reverse) {
  return HWY_DYNAMIC_DISPATCH(scan_rows_64f)(input, squares, reverse);
}
#endif
}  // namespace areal::cpu
#endif
