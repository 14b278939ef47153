#pragma once
// Pixels in memory as the keys of a rank store.

#include <areal/type.hpp>
#include <areal/view.hpp>
#include <cstdint>
#include <cstring>
#include "formulas/rank.hpp"

namespace areal::cpu {

/// The order of pixels of that type. Key has its size.
template <class Key>
constexpr formulas::RankOrder<Key> rank_order(Type type) {
  return {is_signed_integer(type), is_float(type)};
}

/// f<Pixel, Key>(): unsigned integers of the type's size, and the one that a build moves, of 16 bits at least.
template <class F>
decltype(auto) with_rank_key(Type type, const F& f) {
  switch (size_of(type)) {
    case 1:
      return f.template operator()<std::uint8_t, std::uint16_t>();
    case 2:
      return f.template operator()<std::uint16_t, std::uint16_t>();
    case 4:
      return f.template operator()<std::uint32_t, std::uint32_t>();
    default:
      return f.template operator()<std::uint64_t, std::uint64_t>();
  }
}

/// keys[i] = the key of the pixel `pitch` bytes further on than the one before, for i < n.
template <class Pixel, class Key>
void keys_of_run(const formulas::RankOrder<Pixel>& order, const void* pixels, std::int64_t pitch, std::int64_t n,
                 Key* keys) {
  const auto* const from = static_cast<const char*>(pixels);
  const auto all = [&](std::int64_t step, const formulas::RankOrder<Pixel> o) {
    for (std::int64_t i = 0; i < n; ++i) {
      Pixel pixel;
      std::memcpy(&pixel, from + i * step, sizeof pixel);
      keys[i] = o.key(pixel);
    }
  };
  // The order and the step as constants: loops that compilers vectorise.
  const auto by_order = [&](std::int64_t step) {
    if (order.is_real)
      all(step, {false, true});
    else if (order.is_signed)
      all(step, {true, false});
    else
      all(step, {false, false});
  };
  if (pitch == sizeof(Pixel))
    by_order(sizeof(Pixel));
  else
    by_order(pitch);
}

/// The first pixel of a region's row in a channel of an image.
inline const void* pixel_at(const ConstView& view, std::int64_t image, std::int64_t channel, std::int64_t y,
                            std::int64_t x) {
  return static_cast<const char*>(view.row(y, channel, image)) + x * view.column_pitch();
}

}  // namespace areal::cpu
