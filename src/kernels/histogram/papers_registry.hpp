#pragma once
// The papers' algorithms of the family `histogram`, for one counter and one launcher, as functions.

#include <string_view>
#include "kernels/histogram/lee_choe/harris.hpp"
#include "kernels/histogram/lee_choe/lee-choe-multiple.hpp"
#include "kernels/histogram/lee_choe/lee-choe-shared.hpp"
#include "kernels/histogram/lee_choe/lee-choe.hpp"
#include "kernels/histogram/plain.hpp"
#include "kernels/histogram/poostchi/cw-b.hpp"
#include "kernels/histogram/poostchi/cw-sts.hpp"
#include "kernels/histogram/poostchi/cw-tis.hpp"
#include "kernels/histogram/poostchi/wf-tis.hpp"
#include "kernels/primitives/type_groups.hpp"

namespace areal::kernels {

/// No functions where that algorithm is not one of these.
template <class Launcher, class T>
HistogramKernels<Launcher> histogram_paper_entry(std::string_view id) {
  if (id == "cw-b") return PlainHistogram<Launcher, T, CwB>::entry();
  if (id == "cw-sts") return PlainHistogram<Launcher, T, CwSts>::entry();
  if (id == "cw-tis") return PlainHistogram<Launcher, T, CrossWeaveTiled>::entry();
  if (id == "wf-tis") return PlainHistogram<Launcher, T, WavefrontTiled>::entry();
  if (id == "harris") return PlainHistogram<Launcher, T, Harris>::entry();
  if (id == "lee-choe-multiple") return PlainHistogram<Launcher, T, LeeChoeMultiple>::entry();
  if (id == "lee-choe-shared") return PlainHistogram<Launcher, T, LeeChoeShared>::entry();
  if (id == "lee-choe") return PlainHistogram<Launcher, T, LeeChoe>::entry();
  return {};
}

/// The counters of one group: they count pixels, so none are floats.
template <class Launcher, Group group>
HistogramKernels<Launcher> histogram_paper_entry_of([[maybe_unused]] std::string_view id,
                                                    [[maybe_unused]] Type counter) {
  if constexpr (group == Group::g32u) {
    if (counter == Type::u16) return histogram_paper_entry<Launcher, std::uint16_t>(id);
    if (counter == Type::u32) return histogram_paper_entry<Launcher, std::uint32_t>(id);
  }
  if constexpr (group == Group::g64u)
    if (counter == Type::u64) return histogram_paper_entry<Launcher, std::uint64_t>(id);
  return {};
}

}  // namespace areal::kernels
