#pragma once
// Regions of a request: read, clipped or refused by the thread that answers them.

#include <cstdint>
#include "formulas/region.hpp"
#include "kernels/primitives/machine.hpp"
#include "kernels/query/request.hpp"

namespace areal::kernels {

struct RegionArgs {
  const Region* data = nullptr;
  std::int64_t count = 0;
  std::int64_t width = 0, height = 0;  ///< of the image
  std::int64_t* refused = nullptr;     ///< the smallest index of an invalid region; -1 if there is none
  bool clip = false;
  bool lacks_last = false;  ///< a table is exclusive
  bool vectors = false;     ///< 16-byte loads are aligned
};
/// True if 16-byte loads of the list are aligned.
template <class R>
bool may_load_vectors(const ListOf<R>& list) {
  return reinterpret_cast<std::uintptr_t>(list.data) % 16 == 0;
}
inline RegionArgs region_args(const RegionList& list, std::int64_t width, std::int64_t height, bool lacks_last) {
  return {list.data,    list.count,
          width,        height,
          list.refused, list.outside == Outside::clip,
          lacks_last,   may_load_vectors(list)};
}

/// Resets `refused`, before the launch that reads regions.
template <class Launcher, class R>
void forget_refused(Launcher& launcher, const ListOf<R>& list) {
  if (list.refused) launcher.fill(list.refused, 0xff, sizeof *list.refused);
}

struct CheckedRegion {
  Region region;  ///< lies inside; empty if invalid
  bool refused = false;
};

/// N consecutive numbers.
template <int N>
struct Numbers {
  std::int64_t at[N];
};
/// Reads them, two at once if they are aligned.
template <int N, class M>
AREAL_DEVICE Numbers<N> numbers(const M& m, const std::int64_t* from, bool vectors, Site site = AREAL_HERE) {
  static_assert(N % 2 == 0);
  Numbers<N> all;
  if (vectors) {
    AREAL_UNROLL
    for (int k = 0; k < N; k += 2) {
      const auto two = m.load(reinterpret_cast<const Vec<std::int64_t, 2>*>(from + k), site);
      all.at[k] = two.at[0];
      all.at[k + 1] = two.at[1];
    }
  } else {
    AREAL_UNROLL
    for (int k = 0; k < N; ++k) all.at[k] = m.load(from + k, site);
  }
  return all;
}

/// Region i of the request.
template <class M>
AREAL_DEVICE Region region_at(const M& m, const RegionArgs& a, std::int64_t i) {
  const auto row = numbers<4>(m, reinterpret_cast<const std::int64_t*>(a.data + i), a.vectors);
  return {row.at[0], row.at[1], row.at[2], row.at[3]};
}

/// Region i, clipped or refused.
template <class M>
AREAL_DEVICE CheckedRegion checked_region(const M& m, const RegionArgs& a, std::int64_t i) {
  CheckedRegion t;
  t.region = region_at(m, a, i);
  t.refused = !formulas::lies_inside(t.region, a.width, a.height);
  if (t.refused && a.clip && t.region.width >= 0 && t.region.height >= 0) {
    t.region = formulas::clipped(t.region, a.width, a.height);
    t.refused = false;
  }
  if (a.lacks_last && !t.refused) t.refused = formulas::needs_last(t.region, a.width, a.height);
  if (t.refused) t.region = {};
  return t;
}

/// Reports an invalid region. Called by all lanes of a warp, whose regions' indices do not decrease from lane to lane:
/// the first lane with an invalid one reports it. The result is the smallest index, in any order.
template <class M>
AREAL_DEVICE void report(const M& m, std::int64_t* smallest, std::int64_t i, bool refused) {
  if (!smallest) return;
  const unsigned lanes = m.ballot(refused);
  if ((lanes & (0u - lanes)) == 1u << m.lane())  // as an unsigned number, -1 is the largest
    m.atomic_min(reinterpret_cast<std::uint64_t*>(smallest), static_cast<std::uint64_t>(i));
}

/// The loop of the kernels of regions and boxes, a thread an answer: answer(i) returns whether the answer's region
/// is invalid. A region has an adjacent answer for each of `planes`.
template <int threads, class M, class Answer>
AREAL_DEVICE void answer_each(const M& m, std::int64_t regions, std::int64_t* smallest, Answer&& answer,
                              std::int64_t planes = 1) {
  const std::int64_t i = m.block() * threads + m.thread();
  const bool refused = i < regions * planes && answer(i);
  report(m, smallest, planes == 1 ? i : i / planes, refused);
}

}  // namespace areal::kernels
