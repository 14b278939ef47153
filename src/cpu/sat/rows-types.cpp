// The row kernels of one group of type pairs (by table type), for every SIMD target. Built once per group.
#include "cpu/sat/rows.hpp"
#include "cpu/sat/rows_groups.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/sat/rows-types.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "cpu/sat/rows-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace areal::cpu::HWY_NAMESPACE {

#if defined(AREAL_GROUP_32u)
ScanRows scan_rows_32u(Type input, bool squares) {
  using T = std::uint32_t;
  switch (input) {
    case Type::u8:
      return kernel<std::uint8_t, T>(squares);
    case Type::s8:
      return kernel<std::int8_t, T>(squares);
    case Type::u16:
      return kernel<std::uint16_t, T>(squares);
    case Type::s16:
      return kernel<std::int16_t, T>(squares);
    case Type::u32:
      return squares ? nullptr : &scan<std::uint32_t, T, false>;
    default:
      return nullptr;
  }
}
#elif defined(AREAL_GROUP_64u)
ScanRows scan_rows_64u(Type input, bool squares) {
  using T = std::uint64_t;
  switch (input) {
    case Type::u8:
      return kernel<std::uint8_t, T>(squares);
    case Type::s8:
      return kernel<std::int8_t, T>(squares);
    case Type::u16:
      return kernel<std::uint16_t, T>(squares);
    case Type::s16:
      return kernel<std::int16_t, T>(squares);
    case Type::u32:
      return kernel<std::uint32_t, T>(squares);
    case Type::s32:
      return kernel<std::int32_t, T>(squares);
    default:
      return nullptr;
  }
}
#elif defined(AREAL_GROUP_32f)
ScanRows scan_rows_32f(Type input, bool squares) {
  using T = float;
  if (squares) return nullptr;  // 32f cannot hold squares with useful precision
  switch (input) {
    case Type::u8:
      return &scan<std::uint8_t, T, false>;
    case Type::f16:
      return &scan<hwy::float16_t, T, false>;
    case Type::f32:
      return &scan<float, T, false>;
    default:
      return nullptr;
  }
}
#else
ScanRows scan_rows_64f(Type input, bool squares) {
  using T = double;
  switch (input) {
    case Type::u8:
      return kernel<std::uint8_t, T>(squares);
    case Type::s8:
      return kernel<std::int8_t, T>(squares);
    case Type::u16:
      return kernel<std::uint16_t, T>(squares);
    case Type::s16:
      return kernel<std::int16_t, T>(squares);
    case Type::u32:
      return kernel<std::uint32_t, T>(squares);
    case Type::s32:
      return kernel<std::int32_t, T>(squares);
    case Type::f16:
      return kernel<hwy::float16_t, T>(squares);
    case Type::f32:
      return kernel<float, T>(squares);
    case Type::f64:
      return kernel<double, T>(squares);
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
ScanRows scan_rows_of_32u(Type input, bool squares) { return HWY_DYNAMIC_DISPATCH(scan_rows_32u)(input, squares); }
#elif defined(AREAL_GROUP_64u)
HWY_EXPORT(scan_rows_64u);
ScanRows scan_rows_of_64u(Type input, bool squares) { return HWY_DYNAMIC_DISPATCH(scan_rows_64u)(input, squares); }
#elif defined(AREAL_GROUP_32f)
HWY_EXPORT(scan_rows_32f);
ScanRows scan_rows_of_32f(Type input, bool squares) { return HWY_DYNAMIC_DISPATCH(scan_rows_32f)(input, squares); }
#else
HWY_EXPORT(scan_rows_64f);
ScanRows scan_rows_of_64f(Type input, bool squares) { return HWY_DYNAMIC_DISPATCH(scan_rows_64f)(input, squares); }
#endif
}  // namespace areal::cpu
#endif
