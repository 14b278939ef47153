#pragma once
// The rank store, panels wider than a tile: how many keys of each tile have which bits in the planes of a pass, and how
// many of the tiles before.
//
// A digit has the bits of a pass, the first plane's the lowest: parting by the planes in turn sorts by it.

#include <cstdint>
#include "kernels/histogram/rank/tile.hpp"

namespace areal::kernels {

/// The first key of a panel in a buffer of keys.
AREAL_BOTH std::int64_t rank_keys_at(const RankArgs& a, std::int64_t matrix, std::int64_t panel) {
  return (matrix * a.r.width + a.r.column(a.level, panel)) * a.r.height;
}
/// The digit counts of a panel's first tile.
AREAL_BOTH std::uint32_t* rank_counts_of(const RankArgs& a, std::int64_t matrix, std::int64_t panel) {
  return a.counts + (matrix * a.r.panels_at(a.level) + panel) * (a.tiles + 1) * rank_digits;
}
/// Calls f with a function from a position in the panel to its key.
template <class M, class C, class F>
AREAL_DEVICE void with_rank_keys(const M& m, const RankArgs& a, const RankSpot& spot, const F& f) {
  if (a.from == nullptr) {
    const RankPixels<C> pixels(a, spot);
    return f([&](std::uint32_t position) { return pixels.key(m, a, spot.begin + position); });
  }
  const auto* const from =
      static_cast<const typename C::Key*>(a.from) + rank_keys_at(a, spot.matrix, spot.panel) + std::int64_t{spot.begin};
  f([&](std::uint32_t position) { return m.load(from + position); });
}

/// A block has a tile. Reads each key once; writes rank_digits counts.
template <class M, class C>
struct RankCount {
  using Args = RankArgs;
  using Key = typename C::Key;
  static constexpr int threads = rank_threads, resident = 4;
  struct Shared {
    std::uint32_t counts[rank_digits];
  };
  M m;
  const Args& a;

  AREAL_DEVICE void operator()() {
    Shared& s = m.template shared<Shared>();
    if (m.thread() < rank_digits) m.put(s.counts[m.thread()], 0u);
    m.sync();
    const RankSpot spot = rank_spot<C>(a, m.block());
    std::uint32_t own = 0;
    with_rank_keys<M, C>(m, a, spot, [&](const auto& load) { own = count(spot, load); });
    if (m.lane() < rank_digits && own != 0) m.shared_add(s.counts[m.lane()], own);
    m.sync();
    if (m.thread() < rank_digits)
      m.store(rank_counts_of(a, spot.matrix, spot.panel) + spot.tile * rank_digits + m.thread(),
              m.get(s.counts[m.thread()]));
  }

  /// Of the digit that is the lane's number, in the warp's part of the tile.
  template <class Load>
  AREAL_DEVICE std::uint32_t count(const RankSpot& spot, const Load& load) const {
    constexpr int ahead = C::each < 8 ? C::each : 8;
    std::uint32_t own = 0;
    AREAL_NO_UNROLL
    for (int k = 0; k < C::each; k += ahead) {
      Key keys[ahead];
      AREAL_UNROLL
      for (int i = 0; i < ahead; ++i) {
        const std::uint32_t position = place(k + i);
        keys[i] = position < spot.count ? load(position) : Key{0};
      }
      AREAL_UNROLL
      for (int i = 0; i < ahead; ++i) {
        std::uint32_t mine = m.ballot(place(k + i) < spot.count);
        AREAL_UNROLL
        for (int plane = 0; plane < rank_pass; ++plane) {
          const std::uint32_t bits =
              m.ballot(plane < a.planes && (keys[i] >> (a.r.planes - 1 - a.first - plane) & 1u) != 0);
          mine &= (m.lane() >> plane & 1) != 0 ? bits : ~bits;
        }
        own += static_cast<std::uint32_t>(std::popcount(mine));
      }
    }
    return own;
  }
  AREAL_DEVICE std::uint32_t place(int k) const {
    return static_cast<std::uint32_t>((m.warp() * C::each + k) * warp_size + m.lane());
  }
};

/// A block has a panel: the counts of each tile become those of all tiles before, and one more row gets the sums. A
/// thread has a digit in one of `chunks` parts of the tiles.
template <class M, class C>
struct RankScan {
  using Args = RankArgs;
  static constexpr int threads = 512, resident = 2, chunks = threads / rank_digits, ahead = 8;
  struct Shared {
    std::uint32_t sums[chunks][rank_digits];
  };
  M m;
  const Args& a;

  AREAL_DEVICE void operator()() {
    Shared& s = m.template shared<Shared>();
    const std::int64_t panels = a.r.panels_at(a.level), matrix = m.block() / panels;
    const int chunk = m.thread() / rank_digits, digit = m.thread() % rank_digits;
    const std::int64_t each = (a.tiles + chunks - 1) / chunks, begin = least(chunk * each), end = least(begin + each);
    std::uint32_t* const counts = rank_counts_of(a, matrix, m.block() - matrix * panels) + digit;
    std::uint32_t sum = 0;
    AREAL_NO_UNROLL
    for (std::int64_t first = begin; first < end; first += ahead) {
      std::uint32_t some[ahead];
      load(counts, first, end, some);
      AREAL_UNROLL
      for (int i = 0; i < ahead; ++i) sum += some[i];
    }
    m.put(s.sums[chunk][digit], sum);
    m.sync();
    std::uint32_t before = 0;
    for (int i = 0; i < chunk; ++i) before += m.get(s.sums[i][digit]);
    AREAL_NO_UNROLL
    for (std::int64_t first = begin; first < end; first += ahead) {
      std::uint32_t some[ahead];
      load(counts, first, end, some);
      AREAL_UNROLL
      for (int i = 0; i < ahead; ++i)
        if (first + i < end) {
          m.store(counts + (first + i) * rank_digits, before);
          before += some[i];
        }
    }
    if (chunk == chunks - 1) m.store(counts + a.tiles * rank_digits, before);
  }

  AREAL_DEVICE std::int64_t least(std::int64_t tile) const { return tile < a.tiles ? tile : a.tiles; }
  AREAL_DEVICE void load(const std::uint32_t* counts, std::int64_t first, std::int64_t end,
                         std::uint32_t (&some)[ahead]) const {
    AREAL_UNROLL
    for (int i = 0; i < ahead; ++i) some[i] = first + i < end ? m.load(counts + (first + i) * rank_digits) : 0;
  }
};

}  // namespace areal::kernels
