#include "cpu/sat/stage.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/sat/stage.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cstring>

#include "cpu/sat/convert-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace areal::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
T read(const void* row, std::int64_t x) {
  T value;
  std::memcpy(&value, static_cast<const char*>(row) + x * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
  return value;
}
template <class T>
void write(void* row, std::int64_t x, T value) {
  std::memcpy(static_cast<char*>(row) + x * static_cast<std::int64_t>(sizeof(T)), &value, sizeof(T));
}

/// f(T()) for the unsigned T of that size.
template <class F>
void with_size(std::size_t size, F f) {
  switch (size) {
    case 1:
      return f(std::uint8_t{});
    case 2:
      return f(std::uint16_t{});
    case 4:
      return f(std::uint32_t{});
    default:
      return f(std::uint64_t{});
  }
}

template <class T>
void take_apart_as(const void* pixels, void* const* rows, std::int64_t n, int channels) {
  std::int64_t x = 0;
#if HWY_TARGET != HWY_SCALAR && HWY_MAJOR >= 1  // older ones have no interleaved loads
  const hn::ScalableTag<T> d;
  const auto pairs = static_cast<std::int64_t>(hn::Lanes(d));
  const auto* from = static_cast<const T*>(pixels);
  hn::Vec<decltype(d)> a, b, c, e;
  for (; x + pairs <= n; x += pairs) {
    if (channels == 2) hn::LoadInterleaved2(d, from + 2 * x, a, b);
    if (channels == 3) hn::LoadInterleaved3(d, from + 3 * x, a, b, c);
    if (channels == 4) hn::LoadInterleaved4(d, from + 4 * x, a, b, c, e);
    hn::StoreU(a, d, static_cast<T*>(rows[0]) + x);
    hn::StoreU(b, d, static_cast<T*>(rows[1]) + x);
    if (channels >= 3) hn::StoreU(c, d, static_cast<T*>(rows[2]) + x);
    if (channels == 4) hn::StoreU(e, d, static_cast<T*>(rows[3]) + x);
  }
#endif
  for (; x < n; ++x)
    for (int c0 = 0; c0 < channels; ++c0) write(rows[c0], x, read<T>(pixels, x * channels + c0));
}

template <class T>
void put_together_as(const void* const* rows, void* pixels, std::int64_t n, int channels) {
  std::int64_t x = 0;
#if HWY_TARGET != HWY_SCALAR && HWY_MAJOR >= 1  // older ones interleave only bytes
  const hn::ScalableTag<T> d;
  const auto pairs = static_cast<std::int64_t>(hn::Lanes(d));
  auto* to = static_cast<T*>(pixels);
  for (; x + pairs <= n; x += pairs) {
    const auto a = hn::LoadU(d, static_cast<const T*>(rows[0]) + x);
    const auto b = hn::LoadU(d, static_cast<const T*>(rows[1]) + x);
    if (channels == 2) {
      hn::StoreInterleaved2(a, b, d, to + 2 * x);
      continue;
    }
    const auto c = hn::LoadU(d, static_cast<const T*>(rows[2]) + x);
    if (channels == 3)
      hn::StoreInterleaved3(a, b, c, d, to + 3 * x);
    else
      hn::StoreInterleaved4(a, b, c, hn::LoadU(d, static_cast<const T*>(rows[3]) + x), d, to + 4 * x);
  }
#endif
  for (; x < n; ++x)
    for (int c0 = 0; c0 < channels; ++c0) write(pixels, x * channels + c0, read<T>(rows[c0], x));
}

void take_apart(const void* pixels, void* const* rows, std::int64_t n, int channels, std::size_t size) {
  with_size(size, [&](auto t) HWY_ATTR { take_apart_as<decltype(t)>(pixels, rows, n, channels); });
}
void put_together(const void* const* rows, void* pixels, std::int64_t n, int channels, std::size_t size) {
  with_size(size, [&](auto t) HWY_ATTR { put_together_as<decltype(t)>(rows, pixels, n, channels); });
}

void valid_of_mask(const void* mask, std::uint8_t* valid, std::int64_t n) {
  for (std::int64_t x = 0; x < n; ++x) valid[x] = read<std::uint8_t>(mask, x) != 0;
}

// NaN: all exponent bits set, and a nonzero fraction.
template <class T>
void drop_nan_as(const void* row, T infinity, std::uint8_t* valid, std::int64_t n) {
  const T magnitude = static_cast<T>(static_cast<T>(~T{0}) >> 1);
  for (std::int64_t x = 0; x < n; ++x)
    if (static_cast<T>(read<T>(row, x) & magnitude) > infinity) valid[x] = 0;
}
void drop_nan(const void* row, Type type, std::uint8_t* valid, std::int64_t n) {
  if (type == Type::f16) drop_nan_as<std::uint16_t>(row, 0x7c00, valid, n);
  if (type == Type::f32) drop_nan_as<std::uint32_t>(row, 0x7f800000, valid, n);
  if (type == Type::f64) drop_nan_as<std::uint64_t>(row, 0x7ff0000000000000, valid, n);
}

void keep_valid(const void* from, const std::uint8_t* valid, void* to, std::int64_t n, std::size_t size) {
  with_size(size, [&](auto t) HWY_ATTR {
    using T = decltype(t);
    for (std::int64_t x = 0; x < n; ++x) write<T>(to, x, valid[x] ? read<T>(from, x) : T{0});
  });
}

template <class T>
void add_as(const void* from, const void* other, void* to, std::int64_t n) {
  const hn::ScalableTag<T> d;
  const auto pairs = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t x = 0;
  for (; x + pairs <= n; x += pairs)
    store_any(hn::Add(load_any(d, static_cast<const T*>(from) + x), load_any(d, static_cast<const T*>(other) + x)), d,
              static_cast<T*>(to) + x);
  for (; x < n; ++x) write<T>(to, x, static_cast<T>(read<T>(from, x) + read<T>(other, x)));
}
void add(const void* from, const void* other, void* to, std::int64_t n, Type table) {
  switch (table) {
    case Type::f32:
      return add_as<float>(from, other, to, n);
    case Type::f64:
      return add_as<double>(from, other, to, n);
    case Type::u64:
    case Type::s64:
      return add_as<std::uint64_t>(from, other, to, n);
    default:
      return add_as<std::uint32_t>(from, other, to, n);
  }
}

Stage stage_of_target() { return {&take_apart, &put_together, &valid_of_mask, &drop_nan, &keep_valid, &add}; }

}  // namespace areal::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace areal::cpu {
HWY_EXPORT(stage_of_target);
Stage stage() { return HWY_DYNAMIC_DISPATCH(stage_of_target)(); }
}  // namespace areal::cpu
#endif
