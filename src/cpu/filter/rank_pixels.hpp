#pragma once
// Rows of pixels to keys and back, one set of loops for each SIMD target.

#include <areal/type.hpp>
#include <cstdint>
#include "cpu/filter/rank_keys.hpp"

namespace areal::cpu {

template <class T>
struct RankPixels {
  using Key = typename RankKeys<T>::Key;
  /// Keys of n pixels, one after another; they may be the same memory. Returns whether a pixel is NaN; the keys of NaN
  /// are in no order.
  bool (*to_keys)(const void* pixels, std::int64_t n, Key* keys);
  void (*to_pixels)(const Key* keys, std::int64_t n, void* pixels);
};

/// Of numbers and Half.
template <class T>
const RankPixels<T>& rank_pixels();

}  // namespace areal::cpu
