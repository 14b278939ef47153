#pragma once
// The rank store, panels wider than a tile: the lines of a pass's planes, and the keys in the order of the next pass.

#include <bit>
#include <cstdint>
#include "kernels/histogram/rank/digits.hpp"
#include "kernels/histogram/rank/tile.hpp"

namespace areal::kernels {

/// A block has a tile. After i planes its keys are 2^i runs, one for each value of the digit's lower bits, and each run
/// is adjacent in the panel's order, too. Reads each key once, writes it once, and the words of its planes. Words that
/// belong to several runs are zero at first; each run adds its bits.
template <class M, class C>
struct RankMove {
  using Args = RankArgs;
  using Key = typename C::Key;
  using RankLine = formulas::RankLine;
  static constexpr int threads = C::threads, resident = 2 * rank_threads / threads;
  static constexpr int runs = 2 * rank_digits - 1;  ///< of all numbers of planes
  struct Shared {
    RankTileShared<C> tile;
    std::uint32_t before[rank_digits], own[rank_digits], all[rank_digits];  ///< keys of each digit
    // Of run v after i planes, at 2^i - 1 + v:
    std::uint32_t begin[runs], size[runs];  ///< in the tile
    std::uint32_t shift[runs];              ///< from the place in the tile to the one in the panel, modulo 2^32
    std::uint32_t key_shift[rank_digits];   ///< the same after all planes, of keys with these bits
  };
  M m;
  const Args& a;

  AREAL_DEVICE void operator()() {
    m.trigger_next_launch();
    m.wait_previous_launch();
    Shared& s = m.template shared<Shared>();
    const RankSpot spot = rank_spot<C>(a, m.block());
    if (spot.count == 0) return;
    RankTile<M, C> tile{m, s.tile, spot.count};
    with_rank_keys<M, C>(m, a, spot, [&](const auto& load) { tile.fill(load); });
    if (a.from == nullptr && (a.is_signed || a.is_real))
      tile.change([&](auto pixel) { return RankPixels<C>(a, spot).key(pixel); });
    if (m.thread() < rank_digits) {
      const std::uint32_t* const counts = rank_counts_of(a, spot.matrix, spot.panel) + m.thread();
      const std::uint32_t before = m.load(counts + spot.tile * rank_digits);
      m.put(s.before[m.thread()], before);
      m.put(s.own[m.thread()], m.load(counts + (spot.tile + 1) * rank_digits) - before);
      m.put(s.all[m.thread()], m.load(counts + a.tiles * rank_digits));
    }
    m.sync();
    if (m.thread() < runs) find_run(s, m.thread());
    if (spot.tile == 0 && m.thread() < a.planes) store_zeros(s, spot, m.thread());
    AREAL_NO_UNROLL
    for (int i = 0; i < a.planes; ++i) {
      const int bit = a.r.planes - 1 - a.first - i;
      if (i + 1 == a.planes && a.to == nullptr)
        tile.template part<false>(bit);
      else
        tile.template part<true>(bit);
      store_plane(s, tile, spot, i);
    }
    if (a.to == nullptr) return;
    if (spot.count == C::keys)
      store_keys<true>(s, tile, spot);
    else
      store_keys<false>(s, tile, spot);
  }

  AREAL_DEVICE void find_run(Shared& s, int run) {
    const int planes = 31 - std::countl_zero(static_cast<std::uint32_t>(run) + 1), lower = (1 << planes) - 1,
              v = run - lower;
    std::uint32_t begin = 0, size = 0, to = 0;
    AREAL_NO_UNROLL
    for (int digit = 0; digit < rank_digits; ++digit) {
      const std::uint32_t own = m.get(s.own[digit]);
      const int place = digit & lower;
      if (place < v) begin += own, to += m.get(s.all[digit]);
      if (place == v) size += own, to += m.get(s.before[digit]);
    }
    m.put(s.begin[run], begin);
    m.put(s.size[run], size);
    m.put(s.shift[run], to - begin);
    if (planes < rank_pass) return;
    int bits = 0;  // as the key has them: the first plane's is the highest
    AREAL_UNROLL
    for (int i = 0; i < rank_pass; ++i) bits |= (v >> i & 1) << (rank_pass - 1 - i);
    m.put(s.key_shift[bits], to - begin);
  }
  /// All zeros of a plane of the panel, which the line behind a full one has, too.
  AREAL_DEVICE void store_zeros(Shared& s, const RankSpot& spot, int i) {
    std::uint32_t zeros = 0;
    AREAL_NO_UNROLL
    for (int digit = 0; digit < rank_digits; ++digit)
      if ((digit >> i & 1) == 0) zeros += m.get(s.all[digit]);
    m.store(a.zeros(spot.matrix, spot.panel) + a.first + i, zeros);
    constexpr auto positions = static_cast<std::uint32_t>(RankLine::positions);
    if (spot.keys % positions == 0)
      m.store(&a.lines(spot.matrix, a.first + i, spot.panel)[spot.keys / positions].zeros, zeros);
  }

  /// Warps share the runs, lanes the words of a run.
  AREAL_DEVICE void store_plane(Shared& s, const RankTile<M, C>& tile, const RankSpot& spot, int i) {
    const int v = m.warp() & ((1 << i) - 1), run = (1 << i) - 1 + v, part = m.warp() >> i, parts = C::warps >> i;
    const std::uint32_t begin = m.get(s.begin[run]), size = m.get(s.size[run]), shift = m.get(s.shift[run]);
    if (size == 0) return;
    const std::uint32_t zeros_shift = m.get(s.shift[(2 << i) - 1 + v]);
    RankLine* const lines = a.lines(spot.matrix, a.first + i, spot.panel);
    const std::uint32_t to = begin + shift, last = (to + size - 1) / warp_size;
    AREAL_NO_UNROLL
    for (std::uint32_t word = to / warp_size + static_cast<std::uint32_t>(part * warp_size + m.lane()); word <= last;
         word += static_cast<std::uint32_t>(parts * warp_size)) {
      // The tile's place of the word's first bit, which may lie before the run.
      const int x = static_cast<int>(word * warp_size - shift), end = static_cast<int>(begin + size);
      const int skipped = static_cast<int>(begin) - x;
      std::uint32_t mask = skipped > 0 ? ~0u << skipped : ~0u;
      if (x + warp_size > end) mask &= ~0u >> (x + warp_size - end);
      const std::uint32_t bits = bits_at(tile, x) & mask, line = word / RankLine::words,
                          k = word - line * RankLine::words;
      std::uint32_t* const cell = lines[line].bits + k;
      if (mask == ~0u)
        m.store(cell, bits);
      else if (bits != 0)
        m.atomic_add(cell, bits);
      if (k == 0 && skipped <= 0) {
        const std::uint32_t in_word = static_cast<std::uint32_t>(x) % warp_size,
                            at = static_cast<std::uint32_t>(x) / warp_size;
        const auto ones = static_cast<std::uint32_t>(std::popcount(m.get(tile.s.words[at]) & ((1u << in_word) - 1)));
        m.store(&lines[line].zeros, zeros_shift + m.get(tile.s.zeros[at]) + in_word - ones);
      }
    }
  }
  /// The 32 bits from place x on; zeros outside the tile.
  AREAL_DEVICE std::uint32_t bits_at(const RankTile<M, C>& tile, int x) const {
    const int at = x >> 5, in_word = x & 31, words = static_cast<int>(tile.words());
    const std::uint32_t low = at >= 0 && at < words ? m.get(tile.s.words[at]) : 0,
                        high = at + 1 >= 0 && at + 1 < words ? m.get(tile.s.words[at + 1]) : 0;
    return in_word == 0 ? low : low >> in_word | high << (32 - in_word);
  }

  template <bool whole>
  AREAL_DEVICE void store_keys(Shared& s, const RankTile<M, C>& tile, const RankSpot& spot) {
    Key* const to = static_cast<Key*>(a.to) + rank_keys_at(a, spot.matrix, spot.panel);
    const int lowest = a.r.planes - a.first - rank_pass;
    if (!whole && tile.row(0) >= spot.count) return;
    constexpr int ahead = C::each < 8 ? C::each : 8;
    AREAL_NO_UNROLL
    for (int k = 0; k < C::each; k += ahead) {
      Key keys[ahead];
      AREAL_UNROLL
      for (int i = 0; i < ahead; ++i) keys[i] = m.get(tile.s.keys[tile.place(k + i)]);
      AREAL_UNROLL
      for (int i = 0; i < ahead; ++i) {
        const auto bits = static_cast<int>(keys[i] >> lowest & static_cast<Key>(rank_digits - 1));
        const std::uint32_t at = static_cast<std::uint32_t>(tile.place(k + i)) + m.get(s.key_shift[bits]);
        if (whole || tile.has(tile.place(k + i))) m.store(to + at, keys[i]);
      }
    }
  }
};

}  // namespace areal::kernels
