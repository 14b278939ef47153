#pragma once
// The algorithms of the family `sat`, for one lane and one launcher, as functions.

#include <string_view>
#include "kernels/sat/groups.hpp"
#include "kernels/sat/held.hpp"

namespace areal::kernels {

template <class Launcher>
struct SatEntry {
  std::size_t (*workspace_bytes)(const SatRequest&) = nullptr;
  /// Everything has been checked; views and request agree; the workspace held zeros when it was new.
  void (*execute)(Launcher&, const SatRequest&, const ConstView& image, const View& table, void* workspace) = nullptr;
  std::size_t shared_bytes = 0;  ///< of the block that has most
};

template <class Launcher, class C>
SatEntry<Launcher> held_entry() {
  return {[](const SatRequest& request) { return HeldPlan<C>(request).workspace_bytes; },
          [](Launcher& launcher, const SatRequest& request, const ConstView& image, const View& table,
             void* workspace) { held<C>(launcher, request, image, table, workspace); },
          sizeof(typename Held<NoMachine, C>::Shared)};
}

/// No functions where that algorithm is not one of these.
template <class Launcher, class In, class T>
SatEntry<Launcher> sat_entry(std::string_view id) {
  if (id == "held") return held_entry<Launcher, HeldConfig<In, Sum<T>, false>>();
  if (id == "held-diagonal") return held_entry<Launcher, HeldConfig<In, Sum<T>, true>>();
  return {};
}

/// The lanes of one group.
template <class Launcher, Group group>
SatEntry<Launcher> sat_entry_of(std::string_view id, Lane lane) {
#define AREAL_ENTRY(name, in, out)      \
  if constexpr (group_of<out> == group) \
    if (lane == Lane{type_of<in>, type_of<out>}) return sat_entry<Launcher, in, out>(id);
  AREAL_LANES(AREAL_ENTRY)
#undef AREAL_ENTRY
  return {};
}

}  // namespace areal::kernels
