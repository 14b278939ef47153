#pragma once
// The rank store: the geometry of a build, and a tile of keys in shared memory that is parted plane by plane.

#include <bit>
#include <cstdint>
#include <type_traits>
#include "formulas/rank.hpp"
#include "kernels/primitives/elements.hpp"
#include "kernels/primitives/machine.hpp"
#include "kernels/primitives/strides.hpp"
#include "kernels/primitives/warp/warp.hpp"

namespace areal::kernels {

inline constexpr int rank_threads = 512, rank_warps = rank_threads / warp_size;
/// Planes of a pass over the keys of wide panels, and the parts that they make of a tile.
inline constexpr int rank_pass = 4, rank_digits = 1 << rank_pass;

struct RankArgs {
  formulas::Rank r;
  const char* image = nullptr;
  Strides in;
  std::int64_t channels = 1;
  bool aligned = false, is_signed = false, is_real = false;  ///< of the pixels
  char* store = nullptr;
  std::uint64_t* greatest = nullptr;  ///< all ones less the greatest pixel
  int level = 0;

  // Of panels wider than a tile.
  std::int64_t tiles = 1;           ///< of a panel
  const void* from = nullptr;       ///< keys [matrix][panel][order of plane `first`]; null for the image
  void* to = nullptr;               ///< the same of the next pass; null for the last one
  std::uint32_t* counts = nullptr;  ///< [matrix][panel][tiles + 1][rank_digits]
  int first = 0, planes = 0;        ///< of this pass

  AREAL_BOTH formulas::RankLine* lines(std::int64_t matrix, int plane, std::int64_t panel) const {
    return reinterpret_cast<formulas::RankLine*>(store) + r.line(matrix, plane, level, panel);
  }
  AREAL_BOTH std::uint32_t* zeros(std::int64_t matrix, std::int64_t panel) const {
    return reinterpret_cast<std::uint32_t*>(store + r.zeros_at()) + r.zeros(matrix, level, panel);
  }
};

/// A key has 16 bits at least. A warp has `each_` times 32 keys of a tile.
template <class Pixel_, int each_>
struct RankTileConfig {
  using Pixel = Pixel_;
  using Key = std::conditional_t<sizeof(Pixel) == 1, std::uint16_t, Pixel>;
  static constexpr int each = each_;
  static constexpr int words = each * rank_warps, keys = words * warp_size;
};
/// The largest tile of a pixel.
inline constexpr int rank_tile_bytes = 32768;
template <class Pixel>
using RankTileOf = RankTileConfig<Pixel, rank_tile_bytes / rank_threads / (sizeof(Pixel) < 2 ? 2 : sizeof(Pixel))>;

/// The place of a block: tile by tile, panel by panel, matrix by matrix.
struct RankSpot {
  std::int64_t matrix, panel, tile;
  std::uint32_t columns, keys;  ///< of the panel
  std::uint32_t begin, count;   ///< the tile's keys in the panel
};
template <class C>
AREAL_DEVICE RankSpot rank_spot(const RankArgs& a, std::int64_t block) {
  RankSpot spot;
  spot.tile = block % a.tiles;
  const std::int64_t panel = block / a.tiles, panels = a.r.panels_at(a.level);
  spot.matrix = panel / panels;
  spot.panel = panel - spot.matrix * panels;
  spot.columns = static_cast<std::uint32_t>(a.r.columns(a.level, spot.panel));
  spot.keys = static_cast<std::uint32_t>(a.r.height) * spot.columns;
  const std::int64_t begin = spot.tile * C::keys, left = std::int64_t{spot.keys} - begin;
  spot.begin = static_cast<std::uint32_t>(begin);
  spot.count = left <= 0 ? 0 : left < C::keys ? static_cast<std::uint32_t>(left) : C::keys;
  return spot;
}

/// Reads keys of a panel from the image, in its order.
template <class C>
struct RankPixels {
  using Pixel = typename C::Pixel;
  const char* first;  ///< of the panel
  std::uint32_t columns;
  int shift;  ///< 2 to that power columns; -1 if there are fewer

  AREAL_DEVICE RankPixels(const RankArgs& a, const RankSpot& spot)
      : columns(spot.columns), shift(std::int64_t{spot.columns} == std::int64_t{1} << 2 * a.level ? 2 * a.level : -1) {
    const std::int64_t image = spot.matrix / a.channels, channel = spot.matrix - image * a.channels;
    first = a.image + image * a.in.batch + channel * a.in.channel + a.r.column(a.level, spot.panel) * a.in.column;
  }
  template <class M>
  AREAL_DEVICE typename C::Key key(const M& m, const RankArgs& a, std::uint32_t position) const {
    const std::uint32_t y = shift >= 0 ? position >> shift : position / columns, x = position - y * columns;
    const auto pixel =
        load_element<M, Pixel>(m, first + std::int64_t{y} * a.in.row + std::int64_t{x} * a.in.column, a.aligned);
    return static_cast<typename C::Key>(formulas::RankOrder<Pixel>{a.is_signed, a.is_real}.key(pixel));
  }
};

/// Keys in a panel's order of a plane. Places behind the last key, up to the end of its word, hold keys of ones, which
/// stay there.
template <class C>
struct RankTileShared {
  typename C::Key keys[C::keys];
  std::uint32_t words[C::words];  ///< the bits of the plane that `part` was called for
  std::uint32_t zeros[C::words];  ///< in front of each word
  std::uint32_t sums[rank_warps];
  std::uint32_t all;  ///< zeros
};

template <class M, class C>
struct RankTile {
  using Key = typename C::Key;
  using Shared = RankTileShared<C>;
  M m;
  Shared& s;
  std::uint32_t count;  ///< keys

  AREAL_DEVICE std::uint32_t words() const { return (count + warp_size - 1) / warp_size; }
  AREAL_DEVICE std::uint32_t word_of(int k) const { return static_cast<std::uint32_t>(m.warp() * C::each + k); }

  /// Puts key(position) in place. A barrier has to follow.
  template <class Load>
  AREAL_DEVICE void fill(const Load& load) {
    constexpr int ahead = C::each < 8 ? C::each : 8;
    AREAL_NO_UNROLL
    for (int k = 0; k < C::each; k += ahead) {
      Key some[ahead];
      AREAL_UNROLL
      for (int i = 0; i < ahead; ++i) {
        const std::uint32_t position = word_of(k + i) * warp_size + static_cast<std::uint32_t>(m.lane());
        some[i] = position < count ? load(position) : static_cast<Key>(~Key{0});
      }
      AREAL_UNROLL
      for (int i = 0; i < ahead; ++i)
        if (word_of(k + i) < words())
          m.put(s.keys[word_of(k + i) * warp_size + static_cast<std::uint32_t>(m.lane())], some[i]);
    }
  }

  /// Finds the words of a bit and the zeros in front of each, and with `moves` parts the keys: zeros first. Returns the
  /// zeros. 2 barriers: `words` and `zeros` may be read until the first one of the next call.
  template <bool moves>
  AREAL_DEVICE std::uint32_t part(int bit) {
    const bool has_keys = word_of(0) < words();  // else the warp only takes part in the barriers
    const auto lane = static_cast<std::uint32_t>(m.lane());
    Key keys[C::each];
    std::uint32_t own = ~0u, inclusive = 0;  // lane k has the word of number k
    if (has_keys) {
      AREAL_UNROLL
      for (int k = 0; k < C::each; ++k) {
        if (word_of(k) >= words()) continue;
        keys[k] = m.get(s.keys[word_of(k) * warp_size + lane]);
        const std::uint32_t word = m.ballot((keys[k] >> bit & 1u) != 0);
        if (m.lane() == k) own = word;
      }
      inclusive = warp_scan(m, static_cast<std::uint32_t>(std::popcount(~own)));
      if (m.lane() == warp_size - 1) m.put(s.sums[m.warp()], inclusive);
    }
    m.sync();
    if (has_keys) {
      const bool is_warp = static_cast<std::uint32_t>(m.lane() * C::each) < words();
      const std::uint32_t sums = warp_scan(m, is_warp ? m.get(s.sums[m.lane()]) : 0u);
      const std::uint32_t all = m.shuffle(sums, warp_size - 1), before = m.shuffle(sums, (m.warp() + 31) % warp_size);
      const std::uint32_t first =
          inclusive - static_cast<std::uint32_t>(std::popcount(~own)) + (m.warp() == 0 ? 0 : before);
      if (m.thread() == 0) m.put(s.all, all);
      if (m.lane() < C::each && word_of(m.lane()) < words()) {
        m.put(s.words[word_of(m.lane())], own);
        m.put(s.zeros[word_of(m.lane())], first);
      }
      if constexpr (moves) {
        AREAL_UNROLL
        for (int k = 0; k < C::each; ++k) {
          if (word_of(k) >= words()) continue;
          const std::uint32_t word = m.shuffle(own, k);
          const auto ones = static_cast<std::uint32_t>(std::popcount(word & ((1u << lane) - 1)));
          const std::uint32_t zeros_before = m.shuffle(first, k) + lane - ones;
          const bool is_one = (word >> lane & 1u) != 0;
          m.put(s.keys[is_one ? all + word_of(k) * warp_size + lane - zeros_before : zeros_before], keys[k]);
        }
      }
    }
    m.sync();
    return m.get(s.all);
  }
};

}  // namespace areal::kernels
