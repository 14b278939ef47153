#pragma once
// Kernels are compiled in groups of types, by table type, to keep each unit small. A registry (SUBJECT/registry.hpp)
// has
//   Key, Kernels<Launcher>                     the argument and the result of a search
//   find<Launcher, group>(key)                 no functions if that group has no such kernel
// The backends' file `instantiate` defines kernels_of for one registry and group; CMake compiles it once for each.

#include <areal/type.hpp>
#include <cstdint>
#include <type_traits>

#ifndef AREAL_HAS_PAPERS
#define AREAL_HAS_PAPERS 1  // CMake's option AREAL_PAPERS
#endif

namespace areal::kernels {

inline constexpr bool has_papers = AREAL_HAS_PAPERS;

enum class TypeGroup : std::uint8_t { g32u, g64u, g32f, g64f, all };

/// The group of a type pair with that table element: signed integers go with unsigned ones.
template <class T>
inline constexpr TypeGroup group_of = std::is_integral_v<T> ? (sizeof(T) <= 4 ? TypeGroup::g32u : TypeGroup::g64u)
                                                            : (sizeof(T) == 4 ? TypeGroup::g32f : TypeGroup::g64f);

/// Instantiated by the backends.
template <class Launcher, class Registry, TypeGroup group>
typename Registry::template Kernels<Launcher> kernels_of(const typename Registry::Key& key);

/// The kernels for a table type that is known at run time; counters of 16 bits are grouped with those of 32.
template <class Launcher, class Registry>
typename Registry::template Kernels<Launcher> kernels_for(Type table, const typename Registry::Key& key) {
  switch (table) {
    case Type::f32:
      return kernels_of<Launcher, Registry, TypeGroup::g32f>(key);
    case Type::f64:
      return kernels_of<Launcher, Registry, TypeGroup::g64f>(key);
    default:
      return size_of(table) == 8 ? kernels_of<Launcher, Registry, TypeGroup::g64u>(key)
                                 : kernels_of<Launcher, Registry, TypeGroup::g32u>(key);
  }
}

}  // namespace areal::kernels
