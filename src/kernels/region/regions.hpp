#pragma once
// Regions as they come in: read, clipped or refused by the thread that answers them.

#include <cstdint>
#include "formulas/region.hpp"
#include "kernels/device/machine.hpp"
#include "kernels/region/request.hpp"

namespace areal::kernels {

struct RegionArgs {
  const Region* data = nullptr;
  std::int64_t count = 0;
  std::int64_t width = 0, height = 0;  ///< of the image
  std::uint64_t* refused = nullptr;    ///< the smallest index of a refused region; all ones where there is none
  bool clip = false;
  bool lacks_last = false;  ///< a table is exclusive
  bool vectors = false;     ///< 16 bytes may be loaded at once
};
inline RegionArgs region_args(const RegionList& list, std::int64_t width, std::int64_t height, bool lacks_last) {
  return {list.data,
          list.count,
          width,
          height,
          reinterpret_cast<std::uint64_t*>(list.refused),
          list.outside == Outside::clip,
          lacks_last,
          reinterpret_cast<std::uintptr_t>(list.data) % 16 == 0};
}

/// Before the launch that takes regions: none has been refused.
template <class Launcher>
void forget_refused(Launcher& launcher, const RegionList& list) {
  if (list.refused) launcher.fill(list.refused, 0xff, sizeof *list.refused);
}

struct Taken {
  Region region;  ///< lies inside; empty where it was refused
  bool refused = false;
};

/// Region i. Reads its four numbers, as two vectors where they may be.
template <class M>
AREAL_DEVICE Taken taken(const M& m, const RegionArgs& a, std::int64_t i) {
  Taken t;
  if (a.vectors) {
    using Two = Vec<std::int64_t, 2>;
    const Two* const from = reinterpret_cast<const Two*>(a.data + i);
    const Two corner = m.load(from), size = m.load(from + 1);
    t.region = {corner.at[0], corner.at[1], size.at[0], size.at[1]};
  } else {
    const std::int64_t* const from = reinterpret_cast<const std::int64_t*>(a.data + i);
    t.region = {m.load(from), m.load(from + 1), m.load(from + 2), m.load(from + 3)};
  }
  t.refused = !formulas::lies_inside(t.region, a.width, a.height);
  if (t.refused && a.clip && t.region.width >= 0 && t.region.height >= 0) {
    t.region = formulas::clipped(t.region, a.width, a.height);
    t.refused = false;
  }
  if (a.lacks_last && !t.refused) t.refused = formulas::needs_last(t.region, a.width, a.height);
  if (t.refused) t.region = {};
  return t;
}

/// Called by all lanes of a warp, whose regions' numbers do not decrease from lane to lane: the first lane that refused
/// one reports it. The smallest number of all stays, whatever the order.
template <class M>
AREAL_DEVICE void report(const M& m, const RegionArgs& a, std::int64_t i, bool refused) {
  if (!a.refused) return;
  const unsigned lanes = m.ballot(refused);
  if ((lanes & (0u - lanes)) == 1u << m.lane()) m.atomic_min(a.refused, static_cast<std::uint64_t>(i));
}

}  // namespace areal::kernels
