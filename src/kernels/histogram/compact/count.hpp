#pragma once
// The compact store: the counts of each tile's rows and columns, from stored labels or straight from bytes, whose
// labels it stores.

#include <cstdint>
#include "kernels/histogram/compact/planes.hpp"
#include "kernels/histogram/compact/tiles.hpp"
#include "kernels/primitives/counted_image.hpp"
#include "kernels/primitives/elements.hpp"
#include "kernels/primitives/machine.hpp"

namespace areal::kernels {

/// from_bytes: the pixels are bytes of one channel, and so are their labels.
template <int bits, bool from_bytes_>
struct CompactSource : CompactBins<bits> {
  static constexpr bool from_bytes = from_bytes_;
};

/// A block has a tile and a group of bins. Reads each pixel or label once; writes 2 K'/128 bytes a pixel, and of bytes
/// a label a pixel.
template <class M, class C>
struct CompactCount {
  using Args = CompactArgs;
  static constexpr int warps = 16, threads = warps * warp_size, resident = 2;
  static constexpr int lines = compact_tile / warps;  ///< of a warp
  struct Shared {
    CompactNumbers numbers;
    CompactPlanes planes[2];
    std::uint32_t cells[2][compact_chunks][C::bins];
    ByteBins<C::from_bytes ? 1 : 2> bin_of;
  };
  M m;
  const Args& a;

  AREAL_DEVICE void operator()() {
    m.trigger_next_launch();
    Shared& s = m.template shared<Shared>();
    if constexpr (C::from_bytes)
      if (a.scale == 0) s.bin_of.fill(m, a.image, threads);
    for (int i = m.thread(); i < 2 * compact_chunks * C::bins; i += threads)
      m.put(s.cells[i / (compact_chunks * C::bins)][i / C::bins % compact_chunks][i % C::bins], 0u);
    const CompactSpot spot = compact_spot(m, a.groups, a.tiles_x, a.tiles_y);
    if constexpr (C::from_bytes)
      label(s, spot);
    else
      load(s, spot);
    m.sync();
    make_planes<warps>(m, s.numbers, s.planes);
    m.sync();
    AREAL_NO_UNROLL
    for (int direction = 0; direction < 2; ++direction) count(s, spot, direction);
    m.sync();
    store_cells(s, spot);
  }

  AREAL_DEVICE void load(Shared& s, const CompactSpot& spot) {
    m.wait_previous_launch();
    AREAL_UNROLL
    for (int k = 0; k < compact_squares; k += warps) {
      const int square = k + m.warp();
      m.put(s.numbers.at[square][m.lane()],
            stored_numbers(m, a, spot.group, spot.image, spot.y * compact_tile + square * 4,
                           spot.x * compact_tile + m.lane() * 4));
    }
  }

  // ---- bytes

  AREAL_DEVICE void label(Shared& s, const CompactSpot& spot) {
    Square pixels[compact_squares / warps];
    const std::int64_t x = spot.x * compact_tile + m.lane() * 4;
    AREAL_UNROLL
    for (int k = 0; k < compact_squares / warps; ++k)
      pixels[k] = load_pixels(spot.image, spot.y * compact_tile + (k * warps + m.warp()) * 4, x);
    m.sync();  // the table is complete
    AREAL_UNROLL
    for (int k = 0; k < compact_squares / warps; ++k) {
      const int square = k * warps + m.warp();
      const std::int64_t y = spot.y * compact_tile + square * 4;
      Square labels;
      AREAL_UNROLL
      for (int i = 0; i < 4; ++i) labels.at[i] = label_of(s, pixels[k].at[i]);
      if (a.mask) labels = masked(labels, spot.image, y, x);
      labels = inside_image(a, labels, y, x);
      if (spot.group == 0 && y >> 2 < a.c.square_rows() && x >> 2 < a.c.square_columns())
        m.store(reinterpret_cast<Square*>(a.store + a.c.labels_at() + a.c.label(spot.image, y, x)), labels);
      m.put(s.numbers.at[square][m.lane()],
            inside_image(a, numbers_of_bytes(labels, spot.group, a.c.bins < 256), y, x));
    }
  }
  AREAL_DEVICE std::uint32_t label_of(Shared& s, std::uint32_t pixels) const {
    std::uint32_t labels = 0;
    AREAL_UNROLL
    for (int v = 0; v < 4; ++v) {
      const std::uint32_t value = pixels >> (8 * v) & 0xffu;
      const std::uint32_t bin = a.scale != 0 ? value * a.scale >> 16 : m.get(s.bin_of.of[value]);
      labels |= (bin & 0xffu) << (8 * v);
    }
    return labels;
  }
  AREAL_DEVICE Square load_pixels(std::int64_t image, std::int64_t y, std::int64_t x) const {
    Square pixels{};
    const char* from = a.image.data + image * a.image.in.batch + y * a.image.in.row + x * a.image.in.column;
    AREAL_UNROLL
    for (int i = 0; i < 4; ++i, from += a.image.in.row) {
      if (y + i >= a.c.height) continue;
      if (a.words && x + 4 <= a.c.width) {
        pixels.at[i] = word_of(m.load(reinterpret_cast<const Vec<std::uint8_t, 4>*>(from)));
        continue;
      }
      AREAL_UNROLL
      for (int v = 0; v < 4; ++v)
        if (x + v < a.c.width)
          pixels.at[i] |= std::uint32_t{m.load(reinterpret_cast<const std::uint8_t*>(from + v * a.image.in.column))}
                          << (8 * v);
    }
    return pixels;
  }
  AREAL_DEVICE Square masked(Square labels, std::int64_t image, std::int64_t y, std::int64_t x) const {
    const char* const from = a.mask + image * a.mask_in.batch + y * a.mask_in.row + x * a.mask_in.column;
    AREAL_UNROLL
    for (int i = 0; i < 4; ++i) AREAL_UNROLL
    for (int v = 0; v < 4; ++v)
      if (y + i < a.c.height && x + v < a.c.width &&
          m.load(reinterpret_cast<const std::uint8_t*>(from + i * a.mask_in.row + v * a.mask_in.column)) == 0)
        labels.at[i] |= 0xffu << (8 * v);
    return labels;
  }

  // ---- counts

  AREAL_DEVICE void count(Shared& s, const CompactSpot& spot, int direction) {
    const std::int64_t bins = a.c.padded_bins();
    const int lane = m.lane() % C::lanes, part = m.lane() / C::lanes;
    const LaneBins<C> mine(lane);
    std::uint8_t* const to = a.counts[direction] + a.tile(spot.image, spot.y, spot.x) * compact_tile * bins;
    const std::int64_t first = spot.group * C::bins + 2 * lane;
    LaneCounts<C> all;
    AREAL_NO_UNROLL
    for (int k = 0; k < lines; k += C::lines) {
      const int line = m.warp() * lines + k + part;
      LaneCounts<C> counts;
      AREAL_UNROLL
      for (int chunk = 0; chunk < compact_chunks; ++chunk) counts.add(mine.counts(m, s.planes[direction], chunk, line));
      AREAL_UNROLL
      for (int p = 0; p < C::pairs; ++p)
        if (first + p * C::step < bins)
          m.store(reinterpret_cast<std::uint16_t*>(to + line * bins + first + p * C::step),
                  static_cast<std::uint16_t>(counts.low[p] | counts.high[p] << 8));
      all.add(counts);
    }
    AREAL_UNROLL
    for (int p = 0; p < C::pairs; ++p) {
      auto& cells = s.cells[direction][m.warp() * lines / warp_size];
      m.shared_add(cells[2 * lane + p * C::step], all.low[p]);
      m.shared_add(cells[2 * lane + p * C::step + 1], all.high[p]);
    }
  }
  AREAL_DEVICE void store_cells(Shared& s, const CompactSpot& spot) {
    const std::int64_t bins = a.c.padded_bins();
    AREAL_UNROLL
    for (int direction = 0; direction < 2; ++direction) {
      const int entries = CompactArgs::entries(direction);
      std::uint32_t* const to =
          a.cells[direction] + a.tile_before(direction, spot.image, spot.y, spot.x) * entries * bins;
      for (int i = m.thread(); i < entries * C::bins; i += threads) {
        const int entry = i / C::bins, k = i % C::bins;
        const std::int64_t bin = spot.group * C::bins + k;
        std::uint32_t sum = 0;
        if (entry < compact_chunks)
          sum = m.get(s.cells[direction][entry][k]);
        else
          AREAL_UNROLL
        for (int chunk = 0; chunk < compact_chunks; ++chunk) sum += m.get(s.cells[direction][chunk][k]);
        if (bin < bins) m.store(to + entry * bins + bin, sum);
      }
    }
  }
};

}  // namespace areal::kernels
