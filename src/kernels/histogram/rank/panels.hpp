#pragma once
// The rank store: panels that fit a tile.

#include <cstdint>
#include "kernels/histogram/rank/tile.hpp"

namespace areal::kernels {

/// A block has a panel, and parts it plane by plane in shared memory. Reads each pixel once; writes the panel's lines
/// and zeros once, in the order of the store.
template <class M, class C>
struct RankPanels {
  using Args = RankArgs;
  using Shared = RankTileShared<C>;
  static constexpr int threads = C::threads, resident = 2 * rank_threads / threads;
  M m;
  const Args& a;

  AREAL_DEVICE void operator()() {
    m.trigger_next_launch();
    m.wait_previous_launch();
    const RankSpot spot = rank_spot<C>(a, m.block());
    RankTile<M, C> tile{m, m.template shared<Shared>(), spot.keys};
    const RankPixels<C> pixels(a, spot);
    pixels.with_loads(m, [&](const auto& load) {
      tile.fill([&](int position) { return load(static_cast<std::uint32_t>(position)); });
    });
    if (a.is_signed || a.is_real) tile.change([&](auto pixel) { return pixels.key(pixel); });
    m.sync();
    AREAL_NO_UNROLL
    for (int plane = 0; plane + 1 < a.r.planes; ++plane)
      store(tile, spot, plane, tile.template part<true>(a.r.planes - 1 - plane));
    store(tile, spot, a.r.planes - 1, tile.template part<false>(0));
  }

  AREAL_DEVICE void store(RankTile<M, C>& tile, const RankSpot& spot, int plane, std::uint32_t all) {
    constexpr auto line_words = static_cast<std::uint32_t>(formulas::RankLine::words),
                   positions = static_cast<std::uint32_t>(formulas::RankLine::positions);
    const Shared& s = tile.s;
    const std::uint32_t words = tile.words(), lines = spot.keys / positions + 1;
    auto* const to = reinterpret_cast<std::uint32_t*>(a.lines(spot.matrix, plane, spot.panel));
    AREAL_NO_UNROLL
    for (auto i = static_cast<std::uint32_t>(m.thread()); i < lines * (line_words + 1); i += threads) {
      const std::uint32_t line = i / (line_words + 1), k = i % (line_words + 1), word = line * line_words + k - 1;
      std::uint32_t value;
      if (k == 0) {
        value = word + 1 < words ? m.get(s.zeros[word + 1]) : all;
      } else {
        value = word < words ? m.get(s.words[word]) : 0;
        if (word + 1 == words && spot.keys % warp_size != 0) value &= (1u << spot.keys % warp_size) - 1;
      }
      m.store_streaming(to + i, value);
    }
    if (m.thread() == 0) m.store(a.zeros(spot.matrix, spot.panel) + plane, all);
  }
};

}  // namespace areal::kernels
