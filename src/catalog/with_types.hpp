#pragma once
// Turns a run-time type pair into C++ types, in this one place.

#include <areal/error.hpp>
#include <areal/type_pair.hpp>

namespace areal {

template <class In, class T>
struct CppTypes {
  using Input = In;
  using Table = T;
};

#define AREAL_PAIR(name, in, out) \
  if (types == TypePair{type_of<in>, type_of<out>}) return f(CppTypes<in, out>());

/// f(CppTypes<In, T>()) for that type pair.
template <class F>
decltype(auto) with_types(TypePair types, F&& f) {
  AREAL_TYPE_PAIRS(AREAL_PAIR)
  throw InvalidArgument("types " + name_of(types) + " do not exist");
}
/// The same for the common ones only.
template <class F>
decltype(auto) with_common_types(TypePair types, F&& f) {
  AREAL_COMMON_TYPE_PAIRS(AREAL_PAIR)
  throw InvalidArgument("types " + name_of(types) + ": the papers' algorithms do not take them");
}

#undef AREAL_PAIR

}  // namespace areal
