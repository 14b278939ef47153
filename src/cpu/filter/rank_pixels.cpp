#include "cpu/filter/rank_pixels.hpp"
#include <cstring>
#include <tuple>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/filter/rank_pixels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#ifndef AREAL_CPU_FILTER_RANK_PIXELS_ONCE
#define AREAL_CPU_FILTER_RANK_PIXELS_ONCE
namespace areal::cpu {
using RankPixelsOfAll =
    std::tuple<RankPixels<std::uint8_t>, RankPixels<std::int8_t>, RankPixels<std::uint16_t>, RankPixels<std::int16_t>,
               RankPixels<std::uint32_t>, RankPixels<std::int32_t>, RankPixels<std::uint64_t>, RankPixels<std::int64_t>,
               RankPixels<Half>, RankPixels<float>, RankPixels<double>>;
}  // namespace areal::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace areal::cpu::HWY_NAMESPACE {
namespace {

template <class T>
bool to_keys(const void* pixels, std::int64_t n, typename RankKeys<T>::Key* keys) {
  const auto* const from = static_cast<const char*>(pixels);
  using Key = typename RankKeys<T>::Key;
  Key nan = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    T pixel;
    std::memcpy(&pixel, from + i * static_cast<std::int64_t>(sizeof pixel), sizeof pixel);
    nan = static_cast<Key>(nan | static_cast<Key>(RankKeys<T>::is_nan(pixel)));
    keys[i] = RankKeys<T>::key(pixel);
  }
  return nan != 0;
}

template <class T>
void to_pixels(const typename RankKeys<T>::Key* HWY_RESTRICT keys, std::int64_t n, void* HWY_RESTRICT pixels) {
  auto* const to = static_cast<char*>(pixels);
  for (std::int64_t i = 0; i < n; ++i) {
    const T pixel = RankKeys<T>::pixel(keys[i]);
    std::memcpy(to + i * static_cast<std::int64_t>(sizeof pixel), &pixel, sizeof pixel);
  }
}

template <class... T>
constexpr std::tuple<RankPixels<T>...> sets_of(const std::tuple<RankPixels<T>...>*) {
  return {RankPixels<T>{to_keys<T>, to_pixels<T>}...};
}
constexpr RankPixelsOfAll rank_pixels_set = sets_of(static_cast<const RankPixelsOfAll*>(nullptr));

}  // namespace
const RankPixelsOfAll* rank_pixels_of_all() { return &rank_pixels_set; }
}  // namespace areal::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace areal::cpu {
HWY_EXPORT(rank_pixels_of_all);

template <class T>
const RankPixels<T>& rank_pixels() {
  return std::get<RankPixels<T>>(*HWY_DYNAMIC_DISPATCH(rank_pixels_of_all)());
}
template const RankPixels<std::uint8_t>& rank_pixels();
template const RankPixels<std::int8_t>& rank_pixels();
template const RankPixels<std::uint16_t>& rank_pixels();
template const RankPixels<std::int16_t>& rank_pixels();
template const RankPixels<std::uint32_t>& rank_pixels();
template const RankPixels<std::int32_t>& rank_pixels();
template const RankPixels<std::uint64_t>& rank_pixels();
template const RankPixels<std::int64_t>& rank_pixels();
template const RankPixels<Half>& rank_pixels();
template const RankPixels<float>& rank_pixels();
template const RankPixels<double>& rank_pixels();
}  // namespace areal::cpu
#endif
