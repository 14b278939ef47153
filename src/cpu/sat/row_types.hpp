#pragma once
// The types of a type pair in the row kernels.

#include <hwy/base.h>
#include <areal/type_pair.hpp>
#include <type_traits>

namespace areal::cpu {

/// A pixel as the kernels read it: integers as wide as the table add like unsigned ones.
template <class In, class T>
using RowPixel = std::conditional_t<std::is_same_v<In, Half>, hwy::float16_t,
                                    std::conditional_t<std::is_integral_v<In> && sizeof(In) == sizeof(T), T, In>>;

/// True if tables of Out are summed as T: integers of either sign as unsigned ones.
template <class Out, class T>
inline constexpr bool adds_as = std::is_floating_point_v<Out> ? std::is_same_v<Out, T>
                                                              : std::is_integral_v<T> && sizeof(Out) == sizeof(T);

}  // namespace areal::cpu
