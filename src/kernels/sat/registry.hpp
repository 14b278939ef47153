#pragma once
// The kernels of the family `sat`, for one table and one launcher, as functions.

#include <cstdint>
#include <type_traits>
#include "kernels/primitives/elements.hpp"
#include "kernels/primitives/type_groups.hpp"
#include "kernels/sat/lookback/all-partials.hpp"
#include "kernels/sat/lookback/lookback-diagonal.hpp"
#include "kernels/sat/lookback/lookback.hpp"
#include "kernels/sat/tables.hpp"
#include "kernels/sat/thin/thin.hpp"
#include "kernels/sat/tilted/tilted.hpp"
#include "kernels/sat/volume/depth.hpp"

namespace areal::kernels {

template <class Launcher, class C>
SatKernels<Launcher> lookback_entry() {
  return {[](const TableRequest& request) { return LookbackPlan<C>(request.image, request.border).workspace_bytes; },
          [](Launcher& launcher, const TableRequest& request, const ConstView& image, const Valid& valid,
             const TableViews& tables, void* workspace) {
            lookback<C>(launcher, request.border, image, valid, tables.sum, tables.squares, workspace);
          },
          [](Launcher& launcher, const TableViews& tables, std::int64_t offset) {
            if constexpr (C::both) {
              depth<decltype(C::T::first)>(launcher, tables.sum, offset);
              depth<decltype(C::T::second)>(launcher, tables.squares, offset);
            } else {
              depth<typename C::T>(launcher, tables.sum, offset);
            }
          },
          sizeof(typename Lookback<NoMachine, C>::Shared)};
}
template <class Launcher, class C>
SatKernels<Launcher> thin_entry() {
  return {[](const TableRequest& request) { return ThinPlan<C>(request).workspace_bytes; }, thin<C, Launcher>,
          [](Launcher& launcher, const TableViews& tables, std::int64_t offset) {
            depth<typename C::T>(launcher, tables.sum, offset);
          },
          sizeof(typename Thin<NoMachine, C>::Shared)};
}

template <class Launcher, class In, class T>
SatKernels<Launcher> tilted_entry() {
  return {[](const TableRequest& request) { return TiltedPlan<T>(request.image).workspace_bytes; },
          tilted<In, T, Launcher>};
}

/// No functions where that algorithm is not one of these.
template <class Launcher, class In, class T>
SatKernels<Launcher> sat_entry(const TableRequest& request) {
  if (request.what == TableKind::tilted) return tilted_entry<Launcher, In, T>();
  if (request.id == "lookback") return lookback_entry<Launcher, LookbackConfig<In, T, LookbackOrder::rows>>();
  if (request.id == "lookback-diagonal")
    return lookback_entry<Launcher, LookbackConfig<In, T, LookbackOrder::diagonals>>();
  if (request.id == "all-partials") return lookback_entry<Launcher, LookbackConfig<In, T, LookbackOrder::direct>>();
  if (request.id == "thin") return thin_entry<Launcher, ThinConfig<In, T>>();
  return {};
}

/// The sum with squares in a type that holds those of such pixels. Apart from the others: a unit of its own compiles
/// these.
template <class Launcher, class In, class T>
SatKernels<Launcher> squares_entry(Type squares) {
  if constexpr (std::is_integral_v<In>) {
    if constexpr (sizeof(In) <= 2)
      if (squares == Type::u32) return lookback_entry<Launcher, LookbackSquaresConfig<In, T, std::uint32_t>>();
    if (squares == Type::u64) return lookback_entry<Launcher, LookbackSquaresConfig<In, T, std::uint64_t>>();
  }
  if (squares == Type::f64) return lookback_entry<Launcher, LookbackSquaresConfig<In, T, double>>();
  return {};
}

/// The tables of one group, without squares.
template <class Launcher, Group group>
SatKernels<Launcher> sat_entry_of(const TableRequest& request) {
#define AREAL_ENTRY(name, in, out)      \
  if constexpr (group_of<out> == group) \
    if (request.types == TypePair{type_of<in>, type_of<out>}) return sat_entry<Launcher, in, Sum<out>>(request);
  AREAL_TYPE_PAIRS(AREAL_ENTRY)
#undef AREAL_ENTRY
  return {};
}

/// The tables of one group with their squares.
template <class Launcher, Group group>
SatKernels<Launcher> squares_entry_of(const TableRequest& request) {
#define AREAL_ENTRY(name, in, out)                            \
  if constexpr (group_of<out> == group)                       \
    if (request.types == TypePair{type_of<in>, type_of<out>}) \
      return squares_entry<Launcher, in, Sum<out>>(*request.squares);
  AREAL_TYPE_PAIRS(AREAL_ENTRY)
#undef AREAL_ENTRY
  return {};
}

}  // namespace areal::kernels
