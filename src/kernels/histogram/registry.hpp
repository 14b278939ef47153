#pragma once
// The algorithms of the subject `histogram`, for one counter and one launcher, as functions.

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include "kernels/histogram/compact/compact.hpp"
#include "kernels/histogram/count_then_write/count-then-write.hpp"
#include "kernels/histogram/lee_choe/harris.hpp"
#include "kernels/histogram/lee_choe/lee-choe-multiple.hpp"
#include "kernels/histogram/lee_choe/lee-choe-shared.hpp"
#include "kernels/histogram/lee_choe/lee-choe.hpp"
#include "kernels/histogram/plain.hpp"
#include "kernels/histogram/poostchi/cw-b.hpp"
#include "kernels/histogram/poostchi/cw-sts.hpp"
#include "kernels/histogram/poostchi/cw-tis.hpp"
#include "kernels/histogram/poostchi/wf-tis.hpp"
#include "kernels/histogram/rank/rank.hpp"
#include "kernels/histogram/reduce_then_scan/reduce-then-scan.hpp"
#include "kernels/histogram/run.hpp"
#include "kernels/primitives/type_groups.hpp"

namespace areal::kernels {

template <class Launcher, class T>
HistogramKernels<Launcher> reduce_then_scan_kernels() {
  return {[](const HistogramRequest& request) { return ReduceThenScanPlan<T>(request).workspace_bytes; },
          &reduce_then_scan<T, Launcher>, ReduceThenScanPlan<T>::shared_bytes};
}

template <class Launcher, class T>
HistogramKernels<Launcher> count_then_write_kernels() {
  if constexpr (std::is_same_v<T, std::uint16_t> || std::is_same_v<T, std::uint32_t>)
    return {[](const HistogramRequest& request) {
              return CountThenWritePlan<T>::takes(request).empty() ? CountThenWritePlan<T>(request).workspace_bytes : 0;
            },
            [](Launcher& launcher, const HistogramRequest& request, const HistogramArguments& views, void* workspace) {
              count_then_write<T>(launcher, request, views, workspace);
            },
            CountThenWritePlan<T>::shared_bytes,
            [](Launcher&, const HistogramRequest& request) { return CountThenWritePlan<T>::takes(request); },
            &count_then_write_fits<T>};
  else
    return {.takes = [](Launcher&, const HistogramRequest& request) {
      return "it takes counters of 16u and 32u, this one is " + std::string(name_of(request.counter));
    }};
}

/// No functions unless the algorithm is one of these.
template <class Launcher, class T>
HistogramKernels<Launcher> paper_tensor_kernels(std::string_view id) {
  if (id == "cw-b") return PlainHistogram<Launcher, T, CwB>::kernels();
  if (id == "cw-sts") return PlainHistogram<Launcher, T, CwSts>::kernels();
  if (id == "cw-tis") return PlainHistogram<Launcher, T, CrossWeaveTiled>::kernels();
  if (id == "wf-tis") return PlainHistogram<Launcher, T, WavefrontTiled>::kernels();
  if (id == "harris") return PlainHistogram<Launcher, T, Harris>::kernels();
  if (id == "lee-choe-multiple") return PlainHistogram<Launcher, T, LeeChoeMultiple>::kernels();
  if (id == "lee-choe-shared") return PlainHistogram<Launcher, T, LeeChoeShared>::kernels();
  if (id == "lee-choe") return PlainHistogram<Launcher, T, LeeChoe>::kernels();
  return {};
}

/// f.operator()<T>() if the counter is of that group.
template <class Launcher, TypeGroup group, class F>
HistogramKernels<Launcher> for_counter_of(Type counter, F&& f) {
  HistogramKernels<Launcher> found;
  const auto look = [&]<class T>() {
    if constexpr (group_of<T> == group)
      if (counter == type_of<T>) found = f.template operator()<T>();
  };
  look.template operator()<std::uint16_t>();
  look.template operator()<std::uint32_t>();
  look.template operator()<std::uint64_t>();
  look.template operator()<float>();
  look.template operator()<double>();
  return found;
}

template <class Launcher, TypeGroup group>
HistogramKernels<Launcher> ProductTensors::find(const Key& key) {
  const bool counts = key.id == "count-then-write";
  if (!counts && key.id != "reduce-then-scan") return {};
  return for_counter_of<Launcher, group>(key.counter, [&]<class T>() {
    return counts ? count_then_write_kernels<Launcher, T>() : reduce_then_scan_kernels<Launcher, T>();
  });
}
template <class Launcher, TypeGroup group>
HistogramKernels<Launcher> PaperTensors::find(const Key& key) {
  return for_counter_of<Launcher, group>(key.counter, [&]<class T>() -> HistogramKernels<Launcher> {
    if constexpr (std::is_integral_v<T>)
      return paper_tensor_kernels<Launcher, T>(key.id);
    else
      return {};
  });
}

template <class Launcher, TypeGroup>
CompactKernels<Launcher> CompactBuilds::find(const Key&) {
  return {[](const CompactRequest& request) { return CompactPlan(request).workspace_bytes; }, build_compact<Launcher>,
          std::max(sizeof(typename CompactCount<NoMachine, CompactSource<7, true>>::Shared),
                   sizeof(typename CompactStrips<NoMachine, CompactLattice<7, 1>>::Shared))};
}

template <class Launcher, TypeGroup>
RankKernels<Launcher> RankBuilds::find(const Key&) {
  return {[](const RankRequest& request) { return RankPlan(request).workspace_bytes; }, build_rank<Launcher>,
          sizeof(typename RankMove<NoMachine, RankTileOf<std::uint16_t>>::Shared)};
}

}  // namespace areal::kernels
