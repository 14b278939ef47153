#pragma once
// Lanes by table type. A source named *-types is compiled once for each group, which AREAL_GROUP_32u, 64u, 32f or 64f
// names, to keep each unit small.

#include <areal/type.hpp>
#include <cstdint>
#include <type_traits>

namespace areal::kernels {

enum class Group : std::uint8_t { g32u, g64u, g32f, g64f };

/// The group of a lane with that table element: signed integers go with unsigned ones.
template <class T>
inline constexpr Group group_of = std::is_integral_v<T> ? (sizeof(T) == 4 ? Group::g32u : Group::g64u)
                                                        : (sizeof(T) == 4 ? Group::g32f : Group::g64f);

/// The same at run time; counters of 16 bits go with those of 32.
inline Group group_of_type(Type type) {
  switch (type) {
    case Type::f32:
      return Group::g32f;
    case Type::f64:
      return Group::g64f;
    default:
      return size_of(type) == 8 ? Group::g64u : Group::g32u;
  }
}

/// f.operator()<group>(), for a group that is known at run time.
template <class F>
auto in_group(Group group, F&& f) {
  switch (group) {
    case Group::g64u:
      return f.template operator()<Group::g64u>();
    case Group::g32f:
      return f.template operator()<Group::g32f>();
    case Group::g64f:
      return f.template operator()<Group::g64f>();
    default:
      return f.template operator()<Group::g32u>();
  }
}

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
