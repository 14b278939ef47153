#pragma once
// The algorithms of the subject `histogram`, for one counter and one launcher, as functions.

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <type_traits>
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
#include "kernels/histogram/reduce_then_scan/reduce-then-scan.hpp"
#include "kernels/histogram/run.hpp"
#include "kernels/primitives/type_groups.hpp"

namespace areal::kernels {

template <class Launcher, class T>
HistogramKernels<Launcher> reduce_then_scan_kernels() {
  return {[](const HistogramRequest& request) { return ReduceThenScanPlan<T>(request).workspace_bytes; },
          [](Launcher& launcher, const HistogramRequest& request, const HistogramArguments& views,
             void* workspace) -> std::string_view {
            reduce_then_scan<T>(launcher, request, views, workspace);
            return "reduce-then-scan";
          },
          ReduceThenScanPlan<T>::shared_bytes};
}
/// Whatever count-then-write does not take is reduce-then-scan's. Both have the rule's tables first in the workspace.
template <class Launcher, class T>
HistogramKernels<Launcher> count_then_write_kernels() {
  auto kernels = reduce_then_scan_kernels<Launcher, T>();
  if constexpr (std::is_same_v<T, std::uint16_t> || std::is_same_v<T, std::uint32_t>) {
    using Own = CountThenWritePlan<T>;
    kernels.workspace_bytes = [](const HistogramRequest& request) {
      return std::max(ReduceThenScanPlan<T>(request).workspace_bytes,
                      Own::takes(request) ? Own(request).workspace_bytes : 0);
    };
    kernels.execute = [](Launcher& launcher, const HistogramRequest& request, const HistogramArguments& views,
                         void* workspace) -> std::string_view {
      if (count_then_write<T>(launcher, request, views, workspace)) return request.id;
      require_unnamed(request,
                      "it takes no carries, and tensors whose rows begin at vectors of four counters; choose auto");
      reduce_then_scan<T>(launcher, request, views, workspace);
      return "reduce-then-scan";
    };
    kernels.declines = [](const HistogramRequest& request) -> std::string {
      if (Own::takes(request)) return {};
      return "it takes 8-bit pixels of one channel without weights, border none, and images of 1 to 65535 rows and "
             "columns";
    };
    kernels.shared_bytes = std::max(kernels.shared_bytes, Own::shared_bytes);
  } else {
    kernels.declines = [](const HistogramRequest& request) {
      return "it has no kernel for counters of " + std::string(name_of(request.counter));
    };
  }
  return kernels;
}

/// No functions where that algorithm is not one of these.
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

/// f.operator()<T>() where the counter is of that group.
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

}  // namespace areal::kernels
