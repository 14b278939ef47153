#pragma once
// The algorithms of the family `histogram`, for one counter and one launcher, as functions.

#include <string_view>
#include "kernels/histogram/entry.hpp"
#include "kernels/histogram/reduce_then_scan/reduce-then-scan.hpp"
#include "kernels/primitives/type_groups.hpp"

namespace areal::kernels {

template <class Launcher, class T>
HistogramKernels<Launcher> reduce_then_scan_entry() {
  return {[](const HistogramRequest& request) { return ReduceThenScanPlan<T>(request).workspace_bytes; },
          [](Launcher& launcher, const HistogramRequest& request, const ConstView& image, const ConstView& weights,
             const View& tensor,
             void* workspace) { reduce_then_scan<T>(launcher, request, image, weights, tensor, workspace); },
          ReduceThenScanPlan<T>::shared_bytes};
}

/// The counters of one group. No functions where that algorithm is not one of these.
template <class Launcher, Group group>
HistogramKernels<Launcher> histogram_entry_of(std::string_view id, Type counter) {
  if (id != "reduce-then-scan") return {};
  if constexpr (group == Group::g32u) {
    if (counter == Type::u16) return reduce_then_scan_entry<Launcher, std::uint16_t>();
    if (counter == Type::u32) return reduce_then_scan_entry<Launcher, std::uint32_t>();
  }
  if constexpr (group == Group::g64u)
    if (counter == Type::u64) return reduce_then_scan_entry<Launcher, std::uint64_t>();
  if constexpr (group == Group::g32f)
    if (counter == Type::f32) return reduce_then_scan_entry<Launcher, float>();
  if constexpr (group == Group::g64f)
    if (counter == Type::f64) return reduce_then_scan_entry<Launcher, double>();
  return {};
}

}  // namespace areal::kernels
