#pragma once
// The kernels of the family `sat`, for one table and one launcher, as functions.

#include "kernels/sat/depth.hpp"
#include "kernels/sat/groups.hpp"
#include "kernels/sat/held.hpp"
#include "kernels/sat/ribbon.hpp"
#include "kernels/sat/tables.hpp"
#include "kernels/sat/tilted.hpp"

namespace areal::kernels {

template <class Launcher, class C>
SatEntry<Launcher> held_entry() {
  return {[](const TableRequest& request) { return HeldPlan<C>(request).workspace_bytes; }, held<C, Launcher>,
          depth<typename C::T, Launcher>, sizeof(typename Held<NoMachine, C>::Shared)};
}
template <class Launcher, class C>
SatEntry<Launcher> ribbon_entry() {
  return {[](const TableRequest& request) { return RibbonPlan<C>(request).workspace_bytes; }, ribbon<C, Launcher>,
          depth<typename C::T, Launcher>, sizeof(typename Ribbon<NoMachine, C>::Shared)};
}

template <class Launcher, class In, class T>
SatEntry<Launcher> tilted_entry() {
  return {[](const TableRequest& request) { return TiltedPlan<T>(request.image).workspace_bytes; },
          tilted<In, T, Launcher>};
}

/// No functions where that algorithm is not one of these.
template <class Launcher, class In, class T>
SatEntry<Launcher> sat_entry(const TableRequest& request) {
  if (request.what == Summed::tilted) return tilted_entry<Launcher, In, T>();
  if (request.id == "held") return held_entry<Launcher, HeldConfig<In, T, HeldOrder::rows>>();
  if (request.id == "held-diagonal") return held_entry<Launcher, HeldConfig<In, T, HeldOrder::diagonals>>();
  if (request.id == "held-direct") return held_entry<Launcher, HeldConfig<In, T, HeldOrder::direct>>();
  if (request.id == "ribbon") return ribbon_entry<Launcher, RibbonConfig<In, T>>();
  return {};
}

/// Sums of squares in T, for those of the inputs that it holds.
template <class Launcher, class T, class... In>
SatEntry<Launcher> squares_entry(Type input) {
  SatEntry<Launcher> found;
  ((input == type_of<In> ? static_cast<void>(found = held_entry<Launcher, HeldConfig<In, T, HeldOrder::rows, true>>())
                         : void()),
   ...);
  return found;
}

/// The tables of one group.
template <class Launcher, Group group>
SatEntry<Launcher> sat_entry_of(const TableRequest& request) {
  if (request.what == Summed::squares) {
    const Type input = request.lane.input;
    if constexpr (group == Group::g32u)
      return squares_entry<Launcher, std::uint32_t, std::uint8_t, std::int8_t, std::uint16_t, std::int16_t>(input);
    else if constexpr (group == Group::g64u)
      return squares_entry<Launcher, std::uint64_t, std::uint8_t, std::int8_t, std::uint16_t, std::int16_t,
                           std::uint32_t, std::int32_t>(input);
    else if constexpr (group == Group::g64f)
      return squares_entry<Launcher, double, std::uint8_t, std::int8_t, std::uint16_t, std::int16_t, std::uint32_t,
                           std::int32_t, Half, float, double>(input);
    return {};
  }
#define AREAL_ENTRY(name, in, out)      \
  if constexpr (group_of<out> == group) \
    if (request.lane == Lane{type_of<in>, type_of<out>}) return sat_entry<Launcher, in, Sum<out>>(request);
  AREAL_LANES(AREAL_ENTRY)
#undef AREAL_ENTRY
  return {};
}

}  // namespace areal::kernels
