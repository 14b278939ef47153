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

/// The largest tile.
inline constexpr int rank_tile_bytes = 32768;

/// A key has 16 bits at least. A thread has `each` keys of a tile.
template <class Pixel_, int warps_>
struct RankTileConfig {
  using Pixel = Pixel_;
  using Key = std::conditional_t<sizeof(Pixel) == 1, std::uint16_t, Pixel>;
  static constexpr int warps = warps_, threads = warps * warp_size;
  static constexpr int each = rank_tile_bytes / rank_threads / static_cast<int>(sizeof(Key));
  static constexpr int words = each * warps, keys = words * warp_size;
};
/// The tiles of panels that need several. With 16 warps a move took 4 % longer (H200, 4096x4096 of 16 bits), with half
/// of the blocks to fill the time that others wait at barriers.
template <class Pixel>
using RankTileOf = RankTileConfig<Pixel, 8>;

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

/// Pixels of a panel in its order, and their keys.
template <class C>
struct RankPixels {
  using Pixel = typename C::Pixel;
  using Key = typename C::Key;
  const RankArgs& a;
  const char* first;  ///< of the panel
  std::uint32_t columns;

  AREAL_DEVICE RankPixels(const RankArgs& a_, const RankSpot& spot) : a(a_), columns(spot.columns) {
    const std::int64_t image = spot.matrix / a.channels, channel = spot.matrix - image * a.channels;
    first = a.image + image * a.in.batch + channel * a.in.channel + a.r.column(a.level, spot.panel) * a.in.column;
  }
  template <class M>
  AREAL_DEVICE Key load(const M& m, std::uint32_t y, std::uint32_t x, bool aligned) const {
    return load_element<M, Pixel>(m, first + std::int64_t{y} * a.in.row + std::int64_t{x} * a.in.column, aligned);
  }
  AREAL_DEVICE Key key(Key pixel) const {
    const auto own = static_cast<Pixel>(pixel);
    return formulas::RankOrder<Pixel>{a.is_signed, a.is_real}.key(own);
  }
  /// Calls f with a function from a position in the panel to its pixel. Loads that no branch separates are in flight
  /// together.
  template <class M, class F>
  AREAL_DEVICE void with_loads(const M& m, const F& f) const {
    const int shift = 2 * a.level;
    if (a.aligned && std::int64_t{columns} == std::int64_t{1} << shift)
      f([&](std::uint32_t position) { return load(m, position >> shift, position & (columns - 1), true); });
    else
      f([&](std::uint32_t position) { return load(m, position / columns, position % columns, a.aligned); });
  }
};

/// Neighbouring keys that a lane loads at once.
template <class Key>
struct RankFour {
  static constexpr int keys = 4, loaded = sizeof(Key) == 8 ? 2 : 4;  // 16 bytes at most
  Vec<Key, loaded> parts[keys / loaded];

  template <class M>
  AREAL_DEVICE void get(const M& m, const Key* cells) {
    AREAL_UNROLL
    for (int i = 0; i < keys / loaded; ++i)
      parts[i] = m.get(*reinterpret_cast<const Vec<Key, loaded>*>(cells + i * loaded));
  }
  AREAL_DEVICE Key at(int j) const { return parts[j / loaded].at[j % loaded]; }
  /// A bit of each.
  AREAL_DEVICE std::uint32_t bits(int bit) const {
    std::uint32_t four = 0;
    AREAL_UNROLL
    for (int j = 0; j < keys; ++j) four |= static_cast<std::uint32_t>(at(j) >> bit & 1u) << j;
    return four;
  }
};
template <>
struct RankFour<std::uint16_t> {
  static constexpr int keys = 4;
  Vec<std::uint32_t, 2> pairs;

  template <class M>
  AREAL_DEVICE void get(const M& m, const std::uint16_t* cells) {
    pairs = m.get(*reinterpret_cast<const Vec<std::uint32_t, 2>*>(cells));
  }
  AREAL_DEVICE std::uint16_t at(int j) const { return static_cast<std::uint16_t>(pairs.at[j / 2] >> 16 * (j % 2)); }
  AREAL_DEVICE std::uint32_t bits(int bit) const {
    const std::uint32_t even = (pairs.at[0] >> bit & 0x10001u) | (pairs.at[1] >> bit & 0x10001u) << 2;
    return (even | even >> 15) & 15u;
  }
};

/// Keys in a panel's order of a plane. Places behind the last key, up to the end of its warp's, hold keys of ones,
/// which stay there.
template <class C>
struct RankTileShared {
  alignas(16) typename C::Key keys[C::keys];
  std::uint32_t words[C::words];  ///< the bits of the plane that `part` was called for
  std::uint32_t zeros[C::words];  ///< in front of each word
  std::uint32_t sums[C::warps];
  std::uint32_t all;  ///< zeros
};

/// A warp has C::each / 4 rows of 128 keys, a lane four neighbours of each row.
template <class M, class C>
struct RankTile {
  using Key = typename C::Key;
  using Four = RankFour<Key>;
  using Shared = RankTileShared<C>;
  static constexpr int rows = C::each / Four::keys, row_keys = Four::keys * warp_size, row_words = row_keys / warp_size;
  static_assert(rows <= 8, "a word has four bits of each row");
  M m;
  Shared& s;
  std::uint32_t count;  ///< keys

  AREAL_DEVICE std::uint32_t words() const { return (count + warp_size - 1) / warp_size; }
  /// The first place of a row of the warp.
  AREAL_DEVICE std::uint32_t row(int k) const { return static_cast<std::uint32_t>((m.warp() * rows + k) * row_keys); }

  /// Puts load(position) in place, in the warps that have some. `change` and a barrier have to follow.
  template <class Load>
  AREAL_DEVICE void fill(const Load& load) {
    if (count == C::keys)
      fill_part<true>(load);
    else if (row(0) < count)
      fill_part<false>(load);
  }
  template <bool whole, class Load>
  AREAL_DEVICE void fill_part(const Load& load) {
    constexpr int ahead = C::each < 8 ? C::each : 8;
    AREAL_NO_UNROLL
    for (int k = 0; k < C::each; k += ahead) {
      Key some[ahead];
      AREAL_UNROLL
      for (int i = 0; i < ahead; ++i)
        some[i] = whole || has(place(k + i)) ? load(place(k + i)) : static_cast<Key>(~Key{0});
      AREAL_UNROLL
      for (int i = 0; i < ahead; ++i) m.put(s.keys[place(k + i)], some[i]);
    }
  }
  /// Makes keys of the pixels that this thread put in place.
  template <class ToKey>
  AREAL_DEVICE void change(const ToKey& to_key) {
    AREAL_NO_UNROLL
    for (int k = 0; k < C::each; ++k)
      if (has(place(k))) m.put(s.keys[place(k)], to_key(m.get(s.keys[place(k)])));
  }
  AREAL_DEVICE int place(int k) const { return m.warp() * C::each * warp_size + k * warp_size + m.lane(); }
  AREAL_DEVICE bool has(int at) const { return static_cast<std::uint32_t>(at) < count; }

  /// Finds the words of a bit and the zeros in front of each, and with `moves` parts the keys: zeros first. Returns the
  /// zeros. 2 barriers: `words` and `zeros` may be read until the first one of the next call.
  template <bool moves>
  AREAL_DEVICE std::uint32_t part(int bit) {
    const bool has_keys = row(0) < count;  // else the warp only takes part in the barriers
    const auto lane = static_cast<std::uint32_t>(m.lane());
    Four keys[rows];
    std::uint32_t bits = ~0u;  // four of each row, from the lowest on
    Counts own{}, inclusive{};
    std::uint32_t word = 0, first = 0, here = 0;  // of row lane % 8: a word, zeros of rows before, and of all rows
    if (has_keys) {
      AREAL_UNROLL
      for (int k = 0; k < rows; ++k) keys[k].get(m, &s.keys[row(k) + Four::keys * lane]);
      AREAL_UNROLL
      for (int k = 0; k < rows; ++k) bits ^= (keys[k].bits(bit) ^ 15u) << 4 * k;
      own = Counts::of_zeros(bits);
      inclusive = {warp_scan(m, own.even), warp_scan(m, own.odd)};
      word = transposed(bits);
      const Counts all = inclusive.of_lane(m, warp_size - 1);
      const std::uint32_t zeros = all.at(m.lane() % 8);
      here = zeros;
      AREAL_UNROLL
      for (int n = 1; n < 8; n *= 2) {
        const std::uint32_t other = m.shuffle_up(here, n);
        if (m.lane() % 8 >= n) here += other;
      }
      first = here - zeros;
      if (m.lane() == 7) m.put(s.sums[m.warp()], here);
    }
    m.sync();
    if (has_keys) {
      const bool is_warp = static_cast<std::uint32_t>(m.lane() * rows * row_keys) < count;
      const std::uint32_t sums = warp_scan(m, is_warp ? m.get(s.sums[m.lane()]) : 0u);
      const std::uint32_t all = m.shuffle(sums, warp_size - 1), before = m.shuffle(sums, (m.warp() + 31) % warp_size);
      if (m.warp() != 0) first += before;
      if (m.thread() == 0) m.put(s.all, all);
      // The word of lane 8 g + k is that of lanes 8 g to 8 g + 7 in row k.
      const Counts left = inclusive.of_lane(m, (m.lane() & 24) + 31);
      if (m.lane() % 8 < rows) {
        const std::uint32_t at = row(m.lane() % 8) / warp_size + lane / 8;
        m.put(s.words[at], word);
        m.put(s.zeros[at], first + (m.lane() < 8 ? 0u : left.at(m.lane() % 8)));
      }
      if constexpr (moves) {
        m.sync_warp();
        const Counts before_lane{inclusive.even - own.even, inclusive.odd - own.odd};
        Key* const ones = s.keys + (all + row(0) + Four::keys * lane);
        std::uint32_t zeros[rows];
        AREAL_UNROLL
        for (int k = 0; k < rows; ++k) zeros[k] = m.get(s.zeros[row(k) / warp_size]) + before_lane.at(k);
        AREAL_UNROLL
        for (int k = 0; k < rows; ++k) {
          Key *zero = s.keys + zeros[k], *one = ones + k * row_keys - zeros[k];
          AREAL_UNROLL
          for (int j = 0; j < Four::keys; ++j)
            if ((bits & 1u << (4 * k + j)) != 0)
              m.put(*one++, keys[k].at(j));
            else
              m.put(*zero++, keys[k].at(j));
        }
      }
    }
    m.sync();
    return m.get(s.all);
  }

 private:
  /// A number of each row, at most 128: a byte of `even` for rows 0, 2, 4 and 6, of `odd` for the others.
  struct Counts {
    std::uint32_t even, odd;

    AREAL_DEVICE static Counts of_zeros(std::uint32_t bits) {
      const std::uint32_t pairs = ~bits - (~bits >> 1 & 0x55555555u),
                          fours = (pairs & 0x33333333u) + (pairs >> 2 & 0x33333333u);
      return {fours & 0x0f0f0f0fu, fours >> 4 & 0x0f0f0f0fu};
    }
    AREAL_DEVICE std::uint32_t at(int k) const { return (k % 2 == 0 ? even : odd) >> 8 * (k / 2) & 255u; }
    AREAL_DEVICE Counts of_lane(const M& m, int lane) const {
      return {m.shuffle(even, lane % warp_size), m.shuffle(odd, lane % warp_size)};
    }
  };

  /// Lane 8 g + k gets the four bits of number k of lanes 8 g to 8 g + 7.
  AREAL_DEVICE std::uint32_t transposed(std::uint32_t bits) const {
    bits = exchanged(bits, 4, 16, 0x0000ffffu);
    bits = exchanged(bits, 2, 8, 0x00ff00ffu);
    return exchanged(bits, 1, 4, 0x0f0f0f0fu);
  }
  AREAL_DEVICE std::uint32_t exchanged(std::uint32_t bits, int n, int shift, std::uint32_t low) const {
    const std::uint32_t other = m.shuffle_xor(bits, n);
    return (m.lane() & n) != 0 ? (bits & ~low) | (other >> shift & low) : (bits & low) | (other & low) << shift;
  }
};

}  // namespace areal::kernels
