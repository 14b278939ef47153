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
/// Calls f with a function from a position in the tile to its key, or to its pixel if they come from the image.
template <class M, class C, class F>
AREAL_DEVICE void with_rank_keys(const M& m, const RankArgs& a, const RankSpot& spot, const F& f) {
  using Key = typename C::Key;
  if (a.from == nullptr)
    return RankPixels<C>(a, spot).with_loads(m, [&](const auto& load) {
      f([&](int position) { return load(spot.begin + static_cast<std::uint32_t>(position)); });
    });
  const Key* const from =
      static_cast<const Key*>(a.from) + rank_keys_at(a, spot.matrix, spot.panel) + std::int64_t{spot.begin};
  f([&](int position) { return m.load(from + position); });
}

/// A block has a tile. Reads each key once; writes rank_digits counts, and zeros into its part of the pass's lines, to
/// which RankMove adds bits. A thread counts up to 8 keys in four bits for each digit, all of its keys in bytes.
template <class M, class C>
struct RankCount {
  using Args = RankArgs;
  using Key = typename C::Key;
  static constexpr int threads = C::threads, resident = 3 * rank_threads / threads;
  struct Shared {
    std::uint32_t counts[rank_digits];
  };
  M m;
  const Args& a;

  AREAL_DEVICE void operator()() {
    m.trigger_next_launch();
    m.wait_previous_launch();
    Shared& s = m.template shared<Shared>();
    if (m.thread() < rank_digits) m.put(s.counts[m.thread()], 0u);
    m.sync();
    const RankSpot spot = rank_spot<C>(a, m.block());
    clear_lines(spot);
    const auto keys = static_cast<int>(spot.count);
    if (m.warp() * warp_size < keys) {
      std::uint32_t bytes[rank_digits / 4] = {};  // see add_up
      with_rank_keys<M, C>(m, a, spot, [&](const auto& load) {
        if (keys == C::keys)
          count<true>(spot, load, bytes);
        else
          count<false>(spot, load, bytes);
      });
      add_up(s, bytes);
    }
    m.sync();
    if (m.thread() < rank_digits) {
      // The digit has the first plane's bit lowest, the key highest.
      int bits = 0;
      AREAL_NO_UNROLL
      for (int i = 0; i < a.planes; ++i) bits |= (m.thread() >> i & 1) << (a.planes - 1 - i);
      const bool occurs = m.thread() >> a.planes == 0;
      m.store(rank_counts_of(a, spot.matrix, spot.panel) + spot.tile * rank_digits + m.thread(),
              occurs ? m.get(s.counts[bits]) : 0u);
    }
  }

  AREAL_DEVICE void clear_lines(const RankSpot& spot) const {
    using Half = Vec<std::uint32_t, 4>;
    constexpr std::int64_t halves = sizeof(formulas::RankLine) / sizeof(Half);
    const std::int64_t all = a.r.panel_lines(spot.columns) * halves, begin = all * spot.tile / a.tiles,
                       end = all * (spot.tile + 1) / a.tiles;
    AREAL_NO_UNROLL
    for (int i = 0; i < a.planes; ++i) {
      Half* const to = reinterpret_cast<Half*>(a.lines(spot.matrix, a.first + i, spot.panel));
      for (std::int64_t k = begin + m.thread(); k < end; k += threads) m.store(to + k, Half{});
    }
  }

  template <bool whole, class Load>
  AREAL_DEVICE void count(const RankSpot& spot, const Load& load, std::uint32_t (&bytes)[rank_digits / 4]) const {
    constexpr int ahead = C::each < 8 ? C::each : 8;
    static_assert(C::each <= 255 && ahead <= 15);
    const int lowest = a.r.planes - a.first - a.planes, keys = static_cast<int>(spot.count);
    const std::uint32_t mask = (1u << a.planes) - 1;
    const bool changes = a.from == nullptr && (a.is_signed || a.is_real);
    AREAL_NO_UNROLL
    for (int k = 0; k < C::each; k += ahead) {
      Key some[ahead];
      AREAL_UNROLL
      for (int i = 0; i < ahead; ++i) some[i] = whole || place(k + i) < keys ? load(place(k + i)) : Key{0};
      std::uint64_t fours = 0;
      AREAL_UNROLL
      for (int i = 0; i < ahead; ++i) {
        const Key key = changes ? RankPixels<C>(a, spot).key(some[i]) : some[i];
        const std::uint64_t one = whole || place(k + i) < keys ? 1 : 0;
        fours += one << 4 * (static_cast<std::uint32_t>(key >> lowest) & mask);
      }
      AREAL_UNROLL
      for (int i = 0; i < 4; ++i)
        bytes[i] += static_cast<std::uint32_t>(fours >> (32 * (i / 2) + 4 * (i % 2))) & 0x0f0f0f0fu;
    }
  }
  AREAL_DEVICE int place(int k) const { return k * threads + m.thread(); }

  /// Byte b of bytes[i] counts digit 8 (i / 2) + 2 b + i % 2.
  AREAL_DEVICE void add_up(Shared& s, const std::uint32_t (&bytes)[rank_digits / 4]) const {
    std::uint32_t halves[rank_digits / 2];  // the counts of a warp: bytes 0 and 2, 1 and 3
    AREAL_UNROLL
    for (int i = 0; i < rank_digits / 2; ++i) halves[i] = bytes[i / 2] >> 8 * (i % 2) & 0x00ff00ffu;
    const std::uint32_t sum = warp_sums(m, halves);
    if (m.lane() % 4 != 0) return;
    const int i = m.lane() / 4, first = 8 * (i / 4) + 2 * (i % 2) + i / 2 % 2;
    m.shared_add(s.counts[first], sum & 0xffffu);
    m.shared_add(s.counts[first + 4], sum >> 16);
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
    m.trigger_next_launch();
    m.wait_previous_launch();
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
