#pragma once
// The kernels of the family `sat`, for one table and one launcher, as functions.

#include <cstdint>
#include <type_traits>
#include "kernels/device/elements.hpp"
#include "kernels/device/groups.hpp"
#include "kernels/sat/depth.hpp"
#include "kernels/sat/held-diagonal.hpp"
#include "kernels/sat/held-direct.hpp"
#include "kernels/sat/held.hpp"
#include "kernels/sat/ribbon.hpp"
#include "kernels/sat/tables.hpp"
#include "kernels/sat/tilted.hpp"

namespace areal::kernels {

template <class Launcher, class C>
SatEntry<Launcher> held_entry() {
  return {[](const TableRequest& request) { return HeldPlan<C>(request.image, request.border).workspace_bytes; },
          [](Launcher& launcher, const TableRequest& request, const ConstView& image, const Valid& valid,
             const TableViews& tables, void* workspace) {
            held<C>(launcher, request.border, image, valid, tables.sum, tables.squares, workspace);
          },
          [](Launcher& launcher, const TableViews& tables, std::int64_t offset) {
            if constexpr (C::both) {
              depth<decltype(C::T::first)>(launcher, tables.sum, offset);
              depth<decltype(C::T::second)>(launcher, tables.squares, offset);
            } else {
              depth<typename C::T>(launcher, tables.sum, offset);
            }
          },
          sizeof(typename Held<NoMachine, C>::Shared)};
}
template <class Launcher, class C>
SatEntry<Launcher> ribbon_entry() {
  return {[](const TableRequest& request) { return RibbonPlan<C>(request).workspace_bytes; }, ribbon<C, Launcher>,
          [](Launcher& launcher, const TableViews& tables, std::int64_t offset) {
            depth<typename C::T>(launcher, tables.sum, offset);
          },
          sizeof(typename Ribbon<NoMachine, C>::Shared)};
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

/// The sum with squares in a type that holds those of such pixels. Apart from the others: a unit of its own compiles
/// these.
template <class Launcher, class In, class T>
SatEntry<Launcher> squares_entry(Type squares) {
  if constexpr (std::is_integral_v<In>) {
    if constexpr (sizeof(In) <= 2)
      if (squares == Type::u32) return held_entry<Launcher, HeldSquaresConfig<In, T, std::uint32_t>>();
    if (squares == Type::u64) return held_entry<Launcher, HeldSquaresConfig<In, T, std::uint64_t>>();
  }
  if (squares == Type::f64) return held_entry<Launcher, HeldSquaresConfig<In, T, double>>();
  return {};
}

/// The tables of one group, without squares.
template <class Launcher, Group group>
SatEntry<Launcher> sat_entry_of(const TableRequest& request) {
#define AREAL_ENTRY(name, in, out)      \
  if constexpr (group_of<out> == group) \
    if (request.lane == Lane{type_of<in>, type_of<out>}) return sat_entry<Launcher, in, Sum<out>>(request);
  AREAL_LANES(AREAL_ENTRY)
#undef AREAL_ENTRY
  return {};
}

/// The tables of one group with their squares.
template <class Launcher, Group group>
SatEntry<Launcher> squares_entry_of(const TableRequest& request) {
#define AREAL_ENTRY(name, in, out)      \
  if constexpr (group_of<out> == group) \
    if (request.lane == Lane{type_of<in>, type_of<out>}) return squares_entry<Launcher, in, Sum<out>>(*request.squares);
  AREAL_LANES(AREAL_ENTRY)
#undef AREAL_ENTRY
  return {};
}

}  // namespace areal::kernels
