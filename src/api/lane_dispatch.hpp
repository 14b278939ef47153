#pragma once
// A run-time lane becomes C++ types here, once.

#include <areal/error.hpp>
#include <areal/lane.hpp>

namespace areal {

template <class In, class T>
struct LaneTypes {
  using Input = In;
  using Table = T;
};

/// f(LaneTypes<In, T>()) for that lane.
template <class F>
decltype(auto) with_lane(Lane lane, F&& f) {
#define AREAL_LANE(name, in, out) \
  if (lane == Lane{type_of<in>, type_of<out>}) return f(LaneTypes<in, out>());
  AREAL_LANES(AREAL_LANE)
#undef AREAL_LANE
  throw InvalidArgument("lane " + name_of(lane) + " does not exist");
}

}  // namespace areal
