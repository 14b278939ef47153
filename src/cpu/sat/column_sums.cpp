#include "cpu/sat/column_sums.hpp"
#include <areal/type_pair.hpp>
#include "cpu/sat/rows.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/sat/column_sums.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "cpu/sat/cell.hpp"
#include "cpu/sat/convert-inl.hpp"
#include "cpu/sat/rows-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace areal::cpu::HWY_NAMESPACE {
namespace {

template <class In, class T, bool squares, class D>
HWY_INLINE hn::Vec<D> term(D d, const In* pixels) {
  const auto v = load_as<In>(d, pixels);
  if constexpr (squares)
    return square(d, v);
  else
    return v;
}

template <class In, class T, bool squares>
void add(const void* const* in, void* sums_of, int rows, std::int64_t n) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  auto* const sums = static_cast<T*>(sums_of);
  const auto row = [in](int r) { return static_cast<const In*>(in[r]); };
  std::int64_t x = 0;
  if (rows == most_added_rows) {
    const In *const a = row(0), *const b = row(1), *const c = row(2), *const e = row(3), *const f = row(4),
                    *const g = row(5), *const h = row(6), *const i = row(7);
    for (; x + lanes <= n; x += lanes) {
      const auto ab = hn::Add(term<In, T, squares>(d, a + x), term<In, T, squares>(d, b + x));
      const auto ce = hn::Add(term<In, T, squares>(d, c + x), term<In, T, squares>(d, e + x));
      const auto fg = hn::Add(term<In, T, squares>(d, f + x), term<In, T, squares>(d, g + x));
      const auto hi = hn::Add(term<In, T, squares>(d, h + x), term<In, T, squares>(d, i + x));
      store_any(hn::Add(load_any(d, sums + x), hn::Add(hn::Add(ab, ce), hn::Add(fg, hi))), d, sums + x);
    }
  } else {
    for (; x + lanes <= n; x += lanes) {
      auto sum = load_any(d, sums + x);
      for (int r = 0; r < rows; ++r) sum = hn::Add(sum, term<In, T, squares>(d, row(r) + x));
      store_any(sum, d, sums + x);
    }
  }
  for (; x < n; ++x)
    for (int r = 0; r < rows; ++r) {
      const T v = pixel<In, T>(in[r], x);
      sums[x] = static_cast<T>(sums[x] + (squares ? static_cast<T>(v * v) : v));
    }
}

template <class T>
AddRows add_rows_of(Type input, bool squares) {
#define AREAL_TYPE(type, In) \
  if (input == Type::type) return squares ? &add<In, T, true> : &add<In, T, false>;
  AREAL_TYPE(u8, std::uint8_t)
  AREAL_TYPE(s8, std::int8_t)
  AREAL_TYPE(u16, std::uint16_t)
  AREAL_TYPE(s16, std::int16_t)
  AREAL_TYPE(u32, std::uint32_t)
  if constexpr (sizeof(T) == 8) {
    AREAL_TYPE(s32, std::int32_t)
    AREAL_TYPE(u64, std::uint64_t)
    AREAL_TYPE(s64, std::uint64_t)
  } else {
    AREAL_TYPE(s32, std::uint32_t)
  }
#undef AREAL_TYPE
  return nullptr;
}

template <class T>
void hand_on_as(void* sums_of, void* own_of, std::int64_t n) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  auto *const sums = static_cast<T*>(sums_of), *const own = static_cast<T*>(own_of);
  std::int64_t x = 0;
  for (; x + lanes <= n; x += lanes) {
    const auto before = load_any(d, sums + x);
    store_any(hn::Add(before, load_any(d, own + x)), d, sums + x);
    store_any(before, d, own + x);
  }
  for (; x < n; ++x) {
    const T before = sums[x];
    sums[x] = static_cast<T>(before + own[x]);
    own[x] = before;
  }
}

}  // namespace

AddRows add_rows_32u(Type input, bool squares) { return add_rows_of<std::uint32_t>(input, squares); }
AddRows add_rows_64u(Type input, bool squares) { return add_rows_of<std::uint64_t>(input, squares); }
void hand_on_32u(void* sums, void* own, std::int64_t n) { hand_on_as<std::uint32_t>(sums, own, n); }
void hand_on_64u(void* sums, void* own, std::int64_t n) { hand_on_as<std::uint64_t>(sums, own, n); }

}  // namespace areal::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace areal::cpu {
HWY_EXPORT(add_rows_32u);
HWY_EXPORT(add_rows_64u);
HWY_EXPORT(hand_on_32u);
HWY_EXPORT(hand_on_64u);

AddRows add_rows(Type input, Type table, bool squares) {
  if (is_float(table) || is_float(input)) return nullptr;
  if (size_of(table) == 8) return HWY_DYNAMIC_DISPATCH(add_rows_64u)(input, squares);
  return HWY_DYNAMIC_DISPATCH(add_rows_32u)(input, squares);
}

void hand_on(void* sums, void* own, std::int64_t n, Type table) {
  if (size_of(table) == 8) return HWY_DYNAMIC_DISPATCH(hand_on_64u)(sums, own, n);
  HWY_DYNAMIC_DISPATCH(hand_on_32u)(sums, own, n);
}
}  // namespace areal::cpu
#endif
