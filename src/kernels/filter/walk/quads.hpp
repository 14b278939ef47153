#pragma once
// The exchange of 16 words a lane, four at a time. A lane reads those of 16 columns some distance to the left, which
// begin at any word.

#include <cstdint>
#include "kernels/primitives/machine.hpp"

namespace areal::kernels {

/// `zeros` lanes before the first hold zeros. `phase`: the distance and it are a multiple of four.
template <int lanes, int zeros>
struct QuadExchange {
  using Quad = Vec<std::uint32_t, 4>;
  static constexpr int each = 5;  // one more than a lane has, so that the lanes of a quarter warp use different banks
  Quad quad[(zeros + lanes) * each];

  /// A lane's own quads, and the first two of those it reads.
  struct Place {
    int own, first, second;
    int later;  ///< quad `later` and those behind it are in the next lane
    template <class At>
    AREAL_DEVICE Place(const At& at, int distance) {
      const int lane = at.lane, back = (distance + 15) / 16, from = (16 * back - distance) / 4;
      own = (zeros + lane) * each, first = (zeros + lane - back) * each + from, second = first + 1, later = 4 - from;
    }
  };
  template <class M>
  AREAL_DEVICE void clear(const M& m, int thread, int threads) {
    AREAL_NO_UNROLL
    for (int i = thread; i < zeros * each; i += threads) m.put(quad[i], Quad{});
  }
  template <class M>
  AREAL_DEVICE void give(const M& m, const Place& at, const std::uint32_t (&word)[16]) {
    AREAL_UNROLL
    for (int i = 0; i < 4; ++i)
      m.put(quad[at.own + i], Quad{{word[4 * i], word[4 * i + 1], word[4 * i + 2], word[4 * i + 3]}});
  }
  template <int phase, class M>
  AREAL_DEVICE void take(const M& m, const Place& at, std::uint32_t (&word)[16]) const {
    static constexpr int count = phase == 0 ? 4 : 5;
    std::uint32_t all[4 * count];
    AREAL_UNROLL
    for (int j = 0; j < count; ++j) {
      const Quad q = m.get(quad[(j < at.later ? at.first : at.second) + j]);
      AREAL_UNROLL
      for (int i = 0; i < 4; ++i) all[4 * j + i] = q.at[i];
    }
    AREAL_UNROLL
    for (int i = 0; i < 16; ++i) word[i] = all[i + phase];
  }
};

}  // namespace areal::kernels
