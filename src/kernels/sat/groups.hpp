#pragma once
// Lanes by table type. A source named *-lanes is compiled once for each group, which AREAL_GROUP_32u, 64u, 32f or 64f
// names, to keep each unit small.

#include <cstdint>
#include <type_traits>

namespace areal::kernels {

enum class Group : std::uint8_t { g32u, g64u, g32f, g64f };

/// The group of a lane with that table element: signed integers go with unsigned ones.
template <class T>
inline constexpr Group group_of = std::is_integral_v<T> ? (sizeof(T) == 4 ? Group::g32u : Group::g64u)
                                                        : (sizeof(T) == 4 ? Group::g32f : Group::g64f);

#if defined(AREAL_GROUP_32u)
inline constexpr Group this_group = Group::g32u;
#elif defined(AREAL_GROUP_64u)
inline constexpr Group this_group = Group::g64u;
#elif defined(AREAL_GROUP_32f)
inline constexpr Group this_group = Group::g32f;
#elif defined(AREAL_GROUP_64f)
inline constexpr Group this_group = Group::g64f;
#endif

}  // namespace areal::kernels
