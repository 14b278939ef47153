#pragma once
// The algorithms of the family `histogram`, for one counter and one launcher, as functions.

#include <string_view>
#include "kernels/device/groups.hpp"
#include "kernels/histogram/anchored.hpp"
#include "kernels/histogram/entry.hpp"

namespace areal::kernels {

template <class Launcher, class T>
HistogramEntry<Launcher> anchored_entry() {
  return {
      [](const HistogramRequest& request) { return AnchoredPlan<T>(request).workspace_bytes; },
      [](Launcher& launcher, const HistogramRequest& request, const ConstView& image, const ConstView& weights,
         const View& tensor, void* workspace) { anchored<T>(launcher, request, image, weights, tensor, workspace); },
      AnchoredPlan<T>::shared_bytes};
}

/// The counters of one group. No functions where that algorithm is not one of these.
template <class Launcher, Group group>
HistogramEntry<Launcher> histogram_entry_of(std::string_view id, Type counter) {
  if (id != "anchored") return {};
  if constexpr (group == Group::g32u) {
    if (counter == Type::u16) return anchored_entry<Launcher, std::uint16_t>();
    if (counter == Type::u32) return anchored_entry<Launcher, std::uint32_t>();
  }
  if constexpr (group == Group::g64u)
    if (counter == Type::u64) return anchored_entry<Launcher, std::uint64_t>();
  if constexpr (group == Group::g32f)
    if (counter == Type::f32) return anchored_entry<Launcher, float>();
  if constexpr (group == Group::g64f)
    if (counter == Type::f64) return anchored_entry<Launcher, double>();
  return {};
}

}  // namespace areal::kernels
