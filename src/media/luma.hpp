#pragma once
// Luma by the usual weights, 0.299 R + 0.587 G + 0.114 B: integers exactly, rounded half up; floats in double.

#include <areal/type.hpp>
#include <cstdint>
#include <type_traits>

namespace areal::media {

__extension__ using Wide128 = __int128;

template <class T>
T luma(T r, T g, T b) {
  if constexpr (std::is_same_v<T, Half>)
    return to_half(static_cast<float>(0.299 * to_float(r) + 0.587 * to_float(g) + 0.114 * to_float(b)));
  else if constexpr (std::is_floating_point_v<T>)
    return static_cast<T>(0.299 * r + 0.587 * g + 0.114 * b);
  else {
    using Wide = std::conditional_t<(sizeof(T) > 4), Wide128, std::int64_t>;
    const Wide sum = 299 * Wide{r} + 587 * Wide{g} + 114 * Wide{b} + 500;
    return static_cast<T>(sum >= 0 ? sum / 1000 : -((-sum + 999) / 1000));
  }
}

}  // namespace areal::media
