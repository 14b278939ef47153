#pragma once
// count-then-write, first launch: the bin numbers of each tile's pixels, and the counts of each bin in each of its
// columns; if a row has several blocks, also in each of its rows.

#include <cstdint>
#include <type_traits>
#include "kernels/histogram/count_then_write/tiles.hpp"
#include "kernels/histogram/count_then_write/warp_add.hpp"
#include "kernels/primitives/elements.hpp"
#include "kernels/primitives/machine.hpp"
#include "kernels/primitives/pixel_bin.hpp"
#include "kernels/primitives/warp/warp.hpp"

namespace areal::kernels {

/// sides: rows are counted too.
template <bool sides_>
struct CountThenWriteCounts {
  static constexpr bool sides = sides_;
};

/// Shared memory adds of adjacent lanes never conflict: a lane counts its own 4 columns, then its own 4 rows.
template <class M, class C>
struct CountThenWriteCount {
  using Args = CountThenWriteArgs;
  static constexpr int warps = 8, threads = warps * warp_size, resident = C::sides ? 4 : 6;
  static constexpr int row_words = segment_width / 4;

  struct Columns {
    std::uint32_t cells[(no_number + 1) * warp_size];  // a cell for each number and lane, a byte for each column or row
    std::uint8_t number_of[256];
  };
  struct Sides : Columns {
    std::uint32_t tile[most_band_rows][row_words + 1];  // 33 words: lanes also read down a column
  };
  using Shared = std::conditional_t<C::sides, Sides, Columns>;

  struct Spot {
    std::int64_t image;
    int group, band, segment, rows, first, count;  // rows of the band; bins of the group
    std::int64_t x;                                // of the lane's first column
  };

  M m;
  Args a;

  AREAL_DEVICE void operator()() {
    Shared& s = m.template shared<Shared>();
    m.trigger_next_launch();
    const Spot spot = find();
    const auto value = static_cast<std::uint8_t>(m.thread());
    m.put(s.number_of[value], number(spot, bin_of_value<std::uint8_t>(m, a.rule, value)));
    clear(s, spot);
    m.sync();
    for (int quad = m.warp(); quad * 4 < spot.rows; quad += 2 * warps) {
      std::uint32_t words[2][4];
      AREAL_UNROLL
      for (int k = 0; k < 2; ++k) AREAL_UNROLL
      for (int i = 0; i < 4; ++i) words[k][i] = pixels(spot, (quad + k * warps) * 4 + i);
      AREAL_UNROLL
      for (int k = 0; k < 2; ++k)
        if ((quad + k * warps) * 4 < spot.rows) count_columns(s, spot, quad + k * warps, words[k]);
    }
    m.sync();
    store_columns(s, spot);
    if constexpr (C::sides) {
      clear(s, spot);  // each thread clears what it has stored itself
      m.sync();
      count_rows(s, spot);
      m.sync();
      store_rows(s, spot);
    }
  }

  AREAL_DEVICE Spot find() const {
    auto at = static_cast<std::uint32_t>(m.block());  // a grid has fewer blocks than 2^31
    Spot spot;
    spot.segment = static_cast<int>(at % a.segments), at /= a.segments;
    spot.band = static_cast<int>(at % a.bands), at /= a.bands;
    spot.group = static_cast<int>(at % a.groups), spot.image = at / a.groups;
    spot.rows = a.rows_of(spot.band);
    spot.first = spot.group * a.group;
    spot.count = a.bins - spot.first < a.group ? a.bins - spot.first : a.group;
    spot.x = static_cast<std::int64_t>(spot.segment) * segment_width + m.lane() * 4;
    return spot;
  }
  AREAL_DEVICE static std::uint8_t number(const Spot& spot, int bin) {
    const auto n = static_cast<std::uint32_t>(bin - spot.first);
    return static_cast<std::uint8_t>(n < static_cast<std::uint32_t>(spot.count) ? n : no_number);
  }
  AREAL_DEVICE void clear(Shared& s, const Spot& spot) const {
    static constexpr int none = static_cast<int>(no_number);
    for (int bin = m.warp(); bin < spot.count; bin += warps) m.put(s.cells[bin * warp_size + m.lane()], 0u);
    if (spot.count <= none && m.warp() == none % warps) m.put(s.cells[none * warp_size + m.lane()], 0u);
  }

  /// 4 unconverted pixels of a row of the tile; 0 outside the image.
  AREAL_DEVICE std::uint32_t pixels(const Spot& spot, int y) const {
    std::uint32_t word = 0;
    if (y >= spot.rows || spot.x >= a.width) return word;
    const char* const from = a.image + spot.image * a.in.batch +
                             (static_cast<std::int64_t>(spot.band) * a.rows + y) * a.in.row + spot.x * a.in.column;
    if (spot.x + 4 <= a.width && a.in.alignment == Alignment::vectors)
      return word_of(m.load(reinterpret_cast<const Vec<std::uint8_t, 4>*>(from)));
    for (int v = 0; v < 4; ++v)
      if (spot.x + v < a.width)
        word |= std::uint32_t{m.load(reinterpret_cast<const std::uint8_t*>(from + v * a.in.column))} << (8 * v);
    return word;
  }

  AREAL_DEVICE void count_columns(Shared& s, const Spot& spot, int quad, const std::uint32_t (&words)[4]) {
    Square numbers;
    AREAL_UNROLL
    for (int i = 0; i < 4; ++i) {
      std::uint32_t word = no_number * 0x01010101u;
      if (quad * 4 + i < spot.rows) AREAL_UNROLL
      for (int v = 0; v < 4; ++v)
        if (spot.x + v < a.width) {
          const std::uint32_t n = m.get(s.number_of[words[i] >> (8 * v) & 0xffu]);
          word ^= (n ^ no_number) << (8 * v);
          m.shared_add(s.cells[n * warp_size + m.lane()], 1u << (8 * v));
        }
      numbers.at[i] = word;
      if constexpr (C::sides) m.put(s.tile[quad * 4 + i][m.lane()], word);
    }
    const std::int64_t at = static_cast<std::int64_t>(quad) * a.segments + spot.segment;
    m.store(a.numbers_of(spot.image, spot.group, spot.band) + at * warp_size + m.lane(), numbers);
  }
  AREAL_DEVICE void count_rows(Shared& s, const Spot& spot) {
    static constexpr int words = row_words / warps;  // of a warp
    for (int i = 0; i * warp_size < spot.rows; ++i) {
      const int y = i * warp_size + m.lane();
      if (y < spot.rows)
        for (int k = 0; k < words; ++k) {
          const std::uint32_t word = m.get(s.tile[y][m.warp() * words + k]);
          AREAL_UNROLL
          for (int v = 0; v < 4; ++v)
            m.shared_add(s.cells[(word >> (8 * v) & 0xffu) * warp_size + m.lane()], 1u << (8 * i));
        }
    }
  }

  AREAL_DEVICE void store_columns(Shared& s, const Spot& spot) {
    for (int bin = m.warp(); bin < spot.count; bin += warps) {
      const std::uint32_t word = m.get(s.cells[bin * warp_size + m.lane()]);
      const std::int64_t tile = a.tile(spot.image, spot.band, spot.first + bin, spot.segment);
      m.store(a.columns + tile * warp_size + m.lane(), word);
      if constexpr (C::sides) {
        const std::uint32_t total = warp_add(m, m.dot4(word, 0x01010101u, 0));
        if (m.lane() == 0) m.store(a.totals + tile, total);
      }
    }
  }
  AREAL_DEVICE void store_rows(Shared& s, const Spot& spot) {
    for (int bin = m.warp(); bin < spot.count; bin += warps)
      m.store(a.sides + a.tile(spot.image, spot.band, spot.first + bin, spot.segment) * warp_size + m.lane(),
              m.get(s.cells[bin * warp_size + m.lane()]));
  }
};

}  // namespace areal::kernels
