// The row step of the tilted table for one group of type pairs (by table type), for every SIMD target.
#include "cpu/sat/row_types.hpp"
#include "cpu/sat/tilted_row.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/sat/tilted-types.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "cpu/sat/convert-inl.hpp"

#if defined(AREAL_GROUP_32u)
#define AREAL_TILTED tilted_row_of_32u
#elif defined(AREAL_GROUP_64u)
#define AREAL_TILTED tilted_row_of_64u
#elif defined(AREAL_GROUP_32f)
#define AREAL_TILTED tilted_row_of_32f
#else
#define AREAL_TILTED tilted_row_of_64f
#endif

HWY_BEFORE_NAMESPACE();
namespace areal::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

namespace {

template <class In, class T>
void row(const void* pixels, void* diagonal, const void* before, void* next, std::int64_t n) {
  const auto* const in = static_cast<const In*>(pixels);
  auto* const a = static_cast<T*>(diagonal);
  const auto* const t = static_cast<const T*>(before);
  auto* const out = static_cast<T*>(next);
  const auto some = [&](auto d, std::int64_t x) HWY_ATTR {
    const auto old = hn::LoadU(d, a + x);
    const auto now = hn::Add(load_as<In>(d, in + x), hn::LoadU(d, a + x + 1));
    hn::StoreU(now, d, a + x);
    hn::StoreU(hn::Add(hn::Add(hn::LoadU(d, t + x), now), old), d, out + x + 1);
  };
  const hn::ScalableTag<T> d;
  const auto pairs = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t x = 0;
  for (; x + pairs <= n; x += pairs) some(d, x);
  // Every entry is the same three additions at any vector width, so there is no order to preserve.
  for (; x < n; ++x) some(hn::CappedTag<T, 1>(), x);
}

/// The kernel for every type pair of this group: a type pair without one does not compile.
template <class T>
TiltedRow tilted_row_for(Type input) {
#define AREAL_PAIR(name, in, out)                 \
  if constexpr (adds_as<out, T>) {                \
    using In = RowPixel<in, T>;                   \
    if (input == type_of<in>) return &row<In, T>; \
  }
  AREAL_TYPE_PAIRS(AREAL_PAIR)
#undef AREAL_PAIR
  return nullptr;
}

#if defined(AREAL_GROUP_32u)
TiltedRow tilted_row_of_group(Type input) { return tilted_row_for<std::uint32_t>(input); }
#elif defined(AREAL_GROUP_64u)
TiltedRow tilted_row_of_group(Type input) { return tilted_row_for<std::uint64_t>(input); }
#elif defined(AREAL_GROUP_32f)
TiltedRow tilted_row_of_group(Type input) { return tilted_row_for<float>(input); }
#else
TiltedRow tilted_row_of_group(Type input) { return tilted_row_for<double>(input); }
#endif

}  // namespace
}  // namespace areal::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace areal::cpu {
namespace {
HWY_EXPORT(tilted_row_of_group);
}
TiltedRow AREAL_TILTED(Type input) { return HWY_DYNAMIC_DISPATCH(tilted_row_of_group)(input); }
}  // namespace areal::cpu
#endif
