#pragma once
// The compact store of up to 32 bins and blocks of 32: labels, row strips and column strips in one walk along bands.

#include <cstdint>
#include "kernels/histogram/bin_numbers.hpp"
#include "kernels/histogram/compact/planes.hpp"
#include "kernels/histogram/compact/tiles.hpp"
#include "kernels/primitives/machine.hpp"

namespace areal::kernels {

/// Lines of a band.
inline constexpr int compact_band = 16;

struct CompactBandArgs {
  formulas::Compact c;
  const char* image = nullptr;  ///< bytes, whose rows are aligned vectors
  std::int64_t row = 0, batch = 0;
  std::uint32_t scale = 0;  ///< a byte's bin is byte * scale / 65536
  int shift = -1;           ///< if not negative, it is byte >> shift
  char* store = nullptr;
  int bands[2] = {};        ///< of columns, of rows
  int unit_step[2] = {};    ///< bytes of the strips of columns, of rows: from a lattice line to the next,
  int eight_lines[2] = {};  ///< and from a line to the eighth after it
  bool by_rows = false;     ///< bands of rows leave totals, else those of columns
  /// [image][band][lattice line across][32]: the band's pixels of each bin before that line; less one in odd bands.
  std::uint32_t* totals = nullptr;

  AREAL_BOTH std::int64_t lattice(bool rows) const { return rows ? c.rows() : c.columns(); }
};

/// from_bytes: labels are found from the image, else those of the store are read. by_rows: see CompactBandArgs.
template <bool from_bytes_, bool by_rows_>
struct CompactBandConfig {
  static constexpr bool from_bytes = from_bytes_, by_rows = by_rows_;
};

/// A block has a band: 16 rows of the whole width, or 16 columns of the whole height, half a block of the store on one
/// side of a lattice line. It walks along the band in units of 32 columns or rows. Eight warps turn the labels of a
/// unit into masks: a bit a pixel for each value of the number's lower three and of its higher two bits. Two warps have
/// 16 bins each and keep, for every line of the band, the counts of the pixels between it and the lattice line in all
/// units so far: the product of a triangle of lines and the masks adds a unit's. These counts are the strips. The
/// longer bands begin first; the others also leave totals, for the anchors.
///
/// Reads each pixel or label twice; writes 4 K'/32 bytes a pixel, K'/128 of bands' totals, and of bytes a label a
/// pixel. Blocks do not wait for each other.
template <class M, class C>
struct CompactBands {
  using Args = CompactBandArgs;
  static constexpr int counters = 2, makers = 8;  ///< warps
  static constexpr int threads = (counters + makers) * warp_size, resident = 3;
  static constexpr int units = 8;                                        ///< of a stage
  static constexpr int together = units / 2, turns = makers / together;  ///< makers of a stage; stages made at once
  static constexpr int meeting = (counters + together) * warp_size;      ///< threads of a stage
  static constexpr int ring = 4;                                         ///< stages in shared memory
  static constexpr int kinds = 12, words = 16;                           ///< masks of a unit, words of a mask
  /// Words of a unit: 8 and 16 more than its own, as the makers' stores would hit the same banks.
  AREAL_BOTH static constexpr int pitch(bool rows) { return kinds * words + (rows ? 8 : 16); }
  struct Shared {
    alignas(16) std::uint32_t masks[ring][units * pitch(false)];
    FourWords triangle[counters][warp_size];
  };
  M m;
  const Args& a;

  AREAL_DEVICE void operator()() {
    m.trigger_next_launch();
    Shared& s = m.template shared<Shared>();
    const auto block = static_cast<std::uint32_t>(m.block());  // a grid has fewer blocks than 2^31
    const auto bands = static_cast<std::uint32_t>(a.bands[0] + a.bands[1]);
    const std::uint32_t image = block / bands;
    const int band = static_cast<int>(block - image * bands), long_bands = a.bands[!C::by_rows];
    if (band < long_bands)
      walk<!C::by_rows>(s, image, band);
    else
      walk<C::by_rows>(s, image, band - long_bands);
  }

  template <bool rows>
  AREAL_DEVICE void walk(Shared& s, std::int64_t image, int band) {
    const int length = static_cast<int>(rows ? a.c.width : a.c.height);
    const int stages = (length + units * warp_size - 1) / (units * warp_size);
    write_edge<rows>(image, band);
    if (m.warp() < counters)
      count<rows>(s, image, band, stages);
    else
      make_masks<rows>(s, image, band * compact_band, stages);
  }

  // ---- masks

  /// 32 neighbouring pixels in 8 words of four columns: 8 rows of a band of rows, from (y, x) on, or 2 rows of all 16
  /// columns of a band of columns, word after word. Bytes of the image are not yet labels.
  template <bool rows>
  AREAL_DEVICE void load(std::uint32_t (&w)[8], std::int64_t image, int y, int x) const {
    if constexpr (C::from_bytes) {
      const char* from = a.image + image * a.batch + y * a.row + x;
      AREAL_UNROLL
      for (int i = 0; i < (rows ? 8 : 2); ++i, from += a.row) {
        const bool is_inside = y + i < a.c.height && x < a.c.width;
        if constexpr (rows) {
          w[i] = is_inside ? m.load(reinterpret_cast<const std::uint32_t*>(from)) : 0;
        } else {
          const FourWords row = is_inside ? m.load(reinterpret_cast<const FourWords*>(from)) : FourWords{};
          AREAL_UNROLL
          for (int v = 0; v < 4; ++v) w[4 * i + v] = row.at[v];
        }
      }
    } else {
      const auto* const from = reinterpret_cast<const Square*>(a.store + a.c.labels_at() + a.c.label(image, y & -4, x));
      AREAL_UNROLL
      for (int i = 0; i < (rows ? 2 : 4); ++i) {
        if constexpr (rows) {
          const bool is_there = y + 4 * i < a.c.height && x < 4 * a.c.square_columns();
          const Square square = is_there ? m.load(from + i * a.c.square_columns()) : Square{{~0u, ~0u, ~0u, ~0u}};
          AREAL_UNROLL
          for (int v = 0; v < 4; ++v) w[4 * i + v] = square.at[v];
        } else {
          using TwoRows = Vec<std::uint32_t, 2>;
          const auto* const two = reinterpret_cast<const TwoRows*>(from + i) + (y / 2 & 1);
          const TwoRows words_of_two = y < a.c.height ? m.load(two) : TwoRows{{~0u, ~0u}};
          w[i] = words_of_two.at[0], w[4 + i] = words_of_two.at[1];
        }
      }
    }
  }
  /// Bytes of the image become labels, which a band of rows stores.
  template <bool rows>
  AREAL_DEVICE void label(std::uint32_t (&w)[8], std::int64_t image, int y, int x) const {
    if (a.shift >= 0) {
      const std::uint32_t mask = (0xffu >> a.shift) * 0x01010101u;
      AREAL_UNROLL
      for (int i = 0; i < 8; ++i) w[i] = w[i] >> a.shift & mask;
    } else {
      AREAL_UNROLL
      for (int i = 0; i < 8; ++i) {
        std::uint32_t scaled[4];
        AREAL_UNROLL
        for (int v = 0; v < 4; ++v) scaled[v] = (w[i] >> (8 * v) & 0xffu) * a.scale;
        w[i] = m.permute(m.permute(scaled[0], scaled[1], 0x0062), m.permute(scaled[2], scaled[3], 0x0062), 0x5410);
      }
    }
    if (y + (rows ? 8 : 2) > a.c.height || x >= a.c.width) AREAL_UNROLL
    for (int i = 0; i < 8; ++i)
      if (y + (rows ? i : i / 4) >= a.c.height || x >= a.c.width) w[i] = ~0u;
    if constexpr (rows) {
      char* const to = a.store + a.c.labels_at() + a.c.label(image, y, x);
      const bool has_squares = x < 4 * a.c.square_columns();
      if (has_squares && y < a.c.height) m.store(reinterpret_cast<Square*>(to), Square{{w[0], w[1], w[2], w[3]}});
      if (has_squares && y + 4 < a.c.height)
        m.store(reinterpret_cast<Square*>(to) + a.c.square_columns(), Square{{w[4], w[5], w[6], w[7]}});
    }
  }

  template <bool rows>
  AREAL_DEVICE void make_masks(Shared& s, std::int64_t image, int first, int stages) {
    const int lane = m.lane(), pass = (m.warp() - counters) % together, turn = (m.warp() - counters) / together;
    const int unit = rows ? pass / 2 * 4 + lane / 8 : pass * 2 + lane / 16;
    const int word = rows ? pass % 2 * 8 + lane % 8 : lane % 16;
    static constexpr int step = turns * units * warp_size;
    int y = rows ? first + pass % 2 * 8 : pass * 64 + 2 * lane, x = rows ? pass / 2 * 128 + 4 * lane : first;
    int& along = rows ? x : y;
    along += turn * units * warp_size;
    if constexpr (!C::from_bytes) m.wait_previous_launch();
    std::uint32_t next[8];
    load<rows>(next, image, y, x);
    AREAL_NO_UNROLL
    for (int stage = turn; stage < stages; stage += turns, along += step) {
      std::uint32_t w[8];
      AREAL_UNROLL
      for (int i = 0; i < 8; ++i) w[i] = next[i];
      if (stage + turns < stages) load<rows>(next, image, rows ? y : y + step, rows ? x + step : x);
      m.sync_warp();  // the loads begin here: the compiler would move them behind what follows
      if constexpr (C::from_bytes) label<rows>(w, image, y, x);
      transpose_bits(w);
      const int slot = stage % ring;
      if (stage >= ring) m.sync(1 + ring + slot, meeting);
      std::uint32_t* const to = s.masks[slot] + unit * pitch(rows) + word;
      AREAL_UNROLL
      for (int i = 0; i < 8; ++i)
        m.put(to[i * words], (i & 1 ? w[0] : ~w[0]) & (i & 2 ? w[1] : ~w[1]) & (i & 4 ? w[2] : ~w[2]));
      AREAL_UNROLL
      for (int i = 0; i < 4; ++i)  // numbers above 127 have no bin
        m.put(to[(8 + i) * words], ~w[7] & (i & 1 ? w[3] : ~w[3]) & (i & 2 ? w[4] : ~w[4]));
      m.arrive(1 + slot, meeting);
    }
  }

  // ---- counts

  template <bool rows>
  AREAL_DEVICE void count(Shared& s, std::int64_t image, int band, int stages) {
    // Lanes 4 g + t have lines g and g + 8 of the band, and bins 4 t to 4 t + 3 of the warp's 16.
    const int lane = m.lane(), t = lane % 4, g = lane / 4, half = m.warp(), first = band * compact_band;
    const bool backwards = band % 2 != 0;  // the lattice line follows the band
    {
      // Lines that count for lines g and g + 8. The lattice line itself has the total instead of its strip of zeros.
      std::uint32_t low = 0, high = 0;
      AREAL_NO_UNROLL
      for (int bit = 0; bit < 32; ++bit) {
        const int line = rows ? t / 2 * 8 + bit % 8 : bit % 4 * 4 + bit / 8;
        if (backwards ? line >= g : line < g || g == 0) low |= 1u << bit;
        if (backwards ? line >= g + 8 : line < g + 8) high |= 1u << bit;
      }
      // Through shared memory: copies of equal numbers would be made before every product.
      m.put(s.triangle[half][lane], FourWords{{low, high, low, high}});
      m.sync_warp();
    }
    const FourWords triangle = m.get(s.triangle[half][lane]);
    // Backwards, -n is ~(n - 1): the counts begin at -1, and strips are complements.
    const std::uint32_t flip = backwards ? ~0u : 0u, keep = !backwards && g == 0 ? 0u : ~0u;
    FourWords even[2], odd[2];  // two chains of products; [j]: bins 2 j and 2 j + 1 of both lines
    AREAL_UNROLL
    for (int j = 0; j < 2; ++j) AREAL_UNROLL
    for (int i = 0; i < 4; ++i) even[j].at[i] = flip, odd[j].at[i] = 0;
    const int bins = static_cast<int>(a.c.padded_bins()), bin = 16 * half + 4 * t;
    const int last = static_cast<int>(rows ? a.c.height : a.c.width);
    const bool has_bins = bin < bins, has_low = has_bins && first + g <= last,
               has_high = has_bins && first + g + 8 <= last;
    const bool has_total = has_bins && g == 0;
    char* line = a.store + (rows ? a.c.row_strips_at() + a.c.row_strip(image, first + g, 0) * 2
                                 : a.c.column_strips_at() + a.c.column_strip(image, 0, first + g) * 2);
    line += 2 * bin;
    char* eighth = line + a.eight_lines[rows];
    std::uint32_t* total = a.totals + (image * a.bands[rows] + band) * a.lattice(!rows) * warp_size + bin;
    const auto write = [&] {
      std::uint32_t v[2][4];
      AREAL_UNROLL
      for (int j = 0; j < 2; ++j) AREAL_UNROLL
      for (int i = 0; i < 4; ++i) v[j][i] = even[j].at[i] + odd[j].at[i];
      using Pair = Vec<std::uint32_t, 2>;
      if constexpr (rows == C::by_rows) {
        m.store_if(has_total, reinterpret_cast<FourWords*>(total), {{v[0][0], v[0][1], v[1][0], v[1][1]}});
        total += warp_size;
      }
      m.store_if(
          has_low, reinterpret_cast<Pair*>(line),
          {{(m.permute(v[0][0], v[0][1], 0x5410) ^ flip) & keep, (m.permute(v[1][0], v[1][1], 0x5410) ^ flip) & keep}});
      m.store_if(has_high, reinterpret_cast<Pair*>(eighth),
                 {{m.permute(v[0][2], v[0][3], 0x5410) ^ flip, m.permute(v[1][2], v[1][3], 0x5410) ^ flip}});
      line += a.unit_step[rows], eighth += a.unit_step[rows];
    };
    // A column of a product's right side: a bin.
    const int higher = (8 + 2 * half + g / 4) * words + 4 * t, lower = (g / 2 % 2 * 4 + g % 2) * words + 4 * t;
    const int steps = static_cast<int>(a.lattice(!rows)) - 1;
    AREAL_NO_UNROLL
    for (int stage = 0; stage < stages; ++stage) {
      const int slot = stage % ring;
      m.sync(1 + slot, meeting);
      const std::uint32_t* masks = s.masks[slot];
      const auto unit = [&](int u) {
        const auto at = [&](int word) {
          return m.get(reinterpret_cast<const FourWords&>(masks[u * pitch(rows) + word]));
        };
        const FourWords high = at(higher), low[2] = {at(lower), at(lower + 2 * words)};
        write();
        AREAL_UNROLL
        for (int j = 0; j < 2; ++j) {
          even[j] = m.multiply_bits(triangle.at, {high.at[0] & low[j].at[0], high.at[1] & low[j].at[1]}, even[j]);
          odd[j] = m.multiply_bits(triangle.at, {high.at[2] & low[j].at[2], high.at[3] & low[j].at[3]}, odd[j]);
        }
      };
      const int left = steps - stage * units;
      if (left >= units) {
        AREAL_UNROLL
        for (int u = 0; u < units; ++u) unit(u);
      } else {
        AREAL_NO_UNROLL
        for (int u = 0; u < left; ++u, masks += pitch(rows)) unit(0);
      }
      if (stage + ring < stages) m.arrive(1 + ring + slot, meeting);
    }
    write();
  }

  /// The strip behind the last pixel, if no band has it: the image's edge is its lattice line.
  template <bool rows>
  AREAL_DEVICE void write_edge(std::int64_t image, int band) const {
    const std::int64_t size = rows ? a.c.height : a.c.width;
    if ((band + 1) * compact_band != size) return;
    const std::int64_t vectors = a.c.padded_bins() / 8, entries = a.lattice(!rows);
    for (std::int64_t i = m.thread(); i < entries * vectors; i += threads) {
      const std::int64_t entry = i / vectors;
      const std::int64_t at = rows ? a.c.row_strips_at() + a.c.row_strip(image, size, entry) * 2
                                   : a.c.column_strips_at() + a.c.column_strip(image, entry, size) * 2;
      m.store(reinterpret_cast<FourWords*>(a.store + at) + (i - entry * vectors), FourWords{});
    }
  }
};

}  // namespace areal::kernels
