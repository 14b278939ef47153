#pragma once
// The kernel of relay. Each image is cut into units of 256 columns and C::unit_rows rows, which are assigned to the
// blocks in row-major order, image by image. One block fills a multiprocessor; its warps have five roles, and work on
// different units in parallel:
//   fetch           copies units into a ring in shared memory, where they stay bytes until they are written
//   sum             publishes a unit's sums of rows and columns as soon as the unit has arrived
//   carry rows      sums, for 32 rows of the image, the columns left of each unit, and publishes the sums
//   carry columns   sums, for the block's strips of 256 columns, the rows above each band of C::band units. Several
//                   warps take turns along the strip, so that each has its summands ready when its turn comes
//   write           gets the sums left of and above its unit, and writes the unit's entries
// So writers pass nothing on: dedicated warps relay the sums, and the ring holds the units that wait for them. All
// blocks are resident at once (the launch ensures it). There are at least as many blocks as strips, so a block has at
// most one unit of each row of units. A writer waits for sums of its own row of units and of rows above. The first
// unwritten unit always gets them: for every other unit in its row, the same block's unit before that one lies in a row
// above and is written, so the ring has a free slot for it.

#include <cstdint>
#include <type_traits>
#include "kernels/primitives/elements.hpp"
#include "kernels/primitives/machine.hpp"
#include "kernels/primitives/tile_state.hpp"
#include "kernels/primitives/warp/warp.hpp"
#include "kernels/sat/mirror.hpp"
#include "kernels/sat/relay/words.hpp"
#include "kernels/sat/relay/write.hpp"

namespace areal::kernels {

template <class T>
struct RelayArgs {
  const char* image;                    ///< its first pixel; if columns are walked backwards, the end of its first row
  std::int64_t image_row, image_batch;  ///< bytes from one row, and one image, to the next: multiples of 16
  char* table;                          ///< where the first sum goes
  std::int64_t table_row, table_batch;
  int images, width, height;  ///< the width is a multiple of 16
  bool edge;                  ///< zeros go left of and above the first sum
  int strips, groups, bands;  ///< of an image: columns and rows of units, and rows of bands
  // The workspace, in this order:
  std::uint32_t* launches;      ///< launches so far, of each warp of each block
  RowWord* rows;                ///< [images][groups][strips][unit rows] of a unit
  SumWord* left;                ///< the same, of all units left of it
  Vec<ColumnPair, 2>* columns;  ///< [images][groups][strips][64] of a unit, four columns each
  Vec<SumWord, 4>* above;       ///< [images][bands][strips][64] of all bands above
  TileState<T>* corners;        ///< [images][bands][strips] of everything above the band and left of the strip
};

template <class M, class C>
struct Relay {
  using Machine = M;
  using Tuning = C;
  using T = typename C::T;
  using Args = RelayArgs<T>;
  static constexpr bool reverse = C::reverse;  // columns from the last on
  static constexpr int columns = 256, unit_rows = C::unit_rows, parts = unit_rows / warp_size, band = C::band;
  static constexpr int slots = C::slots, summers = C::summers, writers = C::writers;
  static constexpr int carriers = C::columns_carriers;
  static constexpr int warps = 1 + summers + writers + 1 + carriers, threads = warps * warp_size, resident = 1;
  static_assert(unit_rows * 255 <= static_cast<int>(ColumnPair::most));

  using Bytes = Vec<std::uint8_t, 16>;
  /// The sums of a strip's columns in a writer's layout: four columns of each half.
  struct Chain {
    std::uint32_t above[8][warp_size];
    T corner;
  };
  struct Shared {
    Bytes ring[slots][unit_rows][columns / 16];
    Chain chain[carriers];
    Mbarrier full[slots], empty[slots], ready[carriers];
  };

  M m;
  Args a;

  /// The block's n-th unit: its place in the ring, and in the image.
  struct Unit {
    int slot, turn;
    int at;  // among all units
    int image, group, strip;
    int rows, columns;  // that lie in the image
    AREAL_DEVICE bool whole() const { return rows == unit_rows && columns == Relay::columns; }
  };
  AREAL_DEVICE bool unit_of(int n, Unit& u) const {
    u.at = n * static_cast<int>(m.blocks()) + static_cast<int>(m.block());
    const int row = u.at / a.strips;
    u.image = row / a.groups;
    if (u.image >= a.images) return false;
    u.group = row - u.image * a.groups, u.strip = u.at - row * a.strips;
    u.slot = n % slots, u.turn = n / slots;
    const int down = a.height - u.group * unit_rows, right = a.width - u.strip * columns;
    u.rows = down < unit_rows ? down : unit_rows, u.columns = right < columns ? right : columns;
    return true;
  }

  /// No code for machines without barriers in shared memory, which never launch it.
  AREAL_DEVICE void operator()() {
    if constexpr (requires(const M& machine, Mbarrier& b) { machine.init(b, 1); }) work();
  }

  AREAL_DEVICE void work() {
    Shared& s = m.template shared<Shared>();
    if (m.thread() == 0) {
      for (int i = 0; i < slots; ++i) m.init(s.full[i], warp_size), m.init(s.empty[i], 2);
      for (int i = 0; i < carriers; ++i) m.init(s.ready[i], warp_size);
      m.fence_init();
    }
    bring_words();
    m.sync();
    const int warp = m.warp();
    if (warp == 0) return fetch(s);
    const RelayTags tags{count_launch()};
    if (warp <= summers)
      sum(s, warp - 1, tags);
    else if (warp <= summers + writers)
      write(s, warp - 1 - summers, tags);
    else if (warp > summers + writers + 1)
      carry_columns(s, warp - 2 - summers - writers, tags);
    else if (a.strips <= C::few_units)
      carry_rows<C::few_units>(tags);
    else
      carry_rows<C::units_at_once>(tags);
  }

  /// Prefetches all words, which other work may have evicted from the L2: polling one too early would wait for DRAM.
  AREAL_DEVICE void bring_words() const {
    if constexpr (requires(const M& machine, const char* p) { machine.prefetch(p); }) {
      static constexpr std::int64_t line = 128;
      const auto* const first = reinterpret_cast<const char*>(a.rows);
      const std::int64_t bytes = reinterpret_cast<const char*>(a.corners) - first;
      for (std::int64_t at = (m.block() * threads + m.thread()) * line; at < bytes; at += m.blocks() * threads * line)
        m.prefetch(first + at);
    }
  }

  /// Each warp counts launches separately.
  AREAL_DEVICE std::uint32_t count_launch() const {
    std::uint32_t* const count = a.launches + m.block() * warps + m.warp();
    const std::uint32_t before = m.load_relaxed(count);
    m.sync_warp();
    if (m.lane() == 0) m.store_relaxed(count, before + 1);
    return before + 1;
  }

  // ---------------------------------------------------------------- fetch, sum

  AREAL_DEVICE void fetch(Shared& s) const {
    static constexpr int across = columns / 16, down = warp_size / across;  // lanes
    const int x = m.lane() % across, y0 = m.lane() / across;
    Unit u;
    for (int n = 0; unit_of(n, u); ++n) {
      const std::int64_t first = static_cast<std::int64_t>(u.strip) * columns + x * 16;
      const char* from = a.image + u.image * a.image_batch +
                         (static_cast<std::int64_t>(u.group) * unit_rows + y0) * a.image_row +
                         (reverse ? -(first + 16) : first);
      if (u.turn > 0) m.wait(s.empty[u.slot], (u.turn - 1) & 1);
      const bool here = x * 16 < u.columns;
      AREAL_UNROLL
      for (int y = 0; y < unit_rows; y += down, from += down * a.image_row)
        if (here && y + y0 < u.rows)
          m.copy_async(s.ring[u.slot][y + y0][reverse ? across - 1 - x : x], reinterpret_cast<const Bytes*>(from));
      m.arrive_copies(s.full[u.slot]);
    }
  }

  /// dot4 factors for four columns in a word of the ring, whose order a reversed row mirrors: column v alone, and all
  /// up to it.
  AREAL_DEVICE static constexpr std::uint32_t only(int v) { return 1u << 8 * (reverse ? 3 - v : v); }
  AREAL_DEVICE static constexpr std::uint32_t up_to(int v) {
    return reverse ? 0x01010101u << (24 - 8 * v) : 0x01010101u >> (24 - 8 * v);
  }
  /// The n-th N columns of a unit's row, four in a word.
  template <int N>
  AREAL_DEVICE Vec<std::uint32_t, N / 4> columns_of(const Shared& s, const Unit& u, int y, int n) const {
    using Words = Vec<std::uint32_t, N / 4>;
    const auto* const row = reinterpret_cast<const Words*>(&s.ring[u.slot][y][0]);
    return mirrored<reverse>(m.get(row[reverse ? columns / N - 1 - n : n]));
  }

  AREAL_DEVICE void sum(Shared& s, int nth, RelayTags tags) const {
    Unit u;
    for (int n = nth; unit_of(n, u); n += summers) {
      m.wait(s.full[u.slot], u.turn & 1);
      if (u.whole())
        sum_unit<true>(s, u, tags);
      else
        sum_unit<false>(s, u, tags);
      m.sync_warp();
      if (m.lane() == 0) m.arrive(s.empty[u.slot]);
    }
  }

  /// A lane has eight columns; sums of two rows share a word, as they fit 16 bits.
  template <bool whole>
  AREAL_DEVICE void sum_unit(const Shared& s, const Unit& u, RelayTags tags) const {
    static constexpr std::uint32_t each = 0x01010101u;
    std::uint32_t column[8] = {};
    const bool here = m.lane() * 8 < u.columns;
    const std::int64_t at = u.at;
    for (int part = 0; part < parts; ++part) {
      std::uint32_t row[warp_size / 2];
      AREAL_UNROLL
      for (int i = 0; i < warp_size; ++i) {
        const int y = part * warp_size + i;
        Vec<std::uint32_t, 2> pixels{};
        if (whole || (here && y < u.rows)) pixels = columns_of<8>(s, u, y, m.lane());
        AREAL_UNROLL
        for (int v = 0; v < 8; ++v) column[v] = m.dot4(pixels.at[v / 4], only(v % 4), column[v]);
        const std::uint32_t all = m.dot4(pixels.at[0], each, m.dot4(pixels.at[1], each, 0u));
        row[i % 16] = i < 16 ? all : row[i % 16] + (all << 16);
      }
      sum_halves<8>(row);
      const std::uint32_t two = row[0] + m.shuffle_xor(row[0], 1);  // of rows lane / 2, and that and 16
      const bool second = m.lane() % 2 == 1;
      m.store_relaxed(a.rows + at * unit_rows + part * warp_size + m.lane() / 2 + (second ? 16 : 0),
                      RowWord{(second ? two >> 16 : two & 0xffffu) | tags.row()});
    }
    Vec<ColumnPair, 4> words;
    AREAL_UNROLL
    for (int v = 0; v < 4; ++v) words.at[v] = {column[2 * v] | column[2 * v + 1] << 14 | tags.pair()};
    m.store_relaxed(reinterpret_cast<Vec<ColumnPair, 4>*>(a.columns + at * 64) + m.lane(), words);
  }

  /// Lanes that are 2 `left` apart split 2 `left` values: each continues with the sums of `left` of them.
  template <int left>
  AREAL_DEVICE void sum_halves(std::uint32_t (&values)[warp_size / 2]) const {
    const bool upper = (m.lane() & 2 * left) != 0;
    AREAL_UNROLL
    for (int i = 0; i < left; ++i) {
      const std::uint32_t keep = upper ? values[i + left] : values[i], give = upper ? values[i] : values[i + left];
      values[i] = keep + m.shuffle_xor(give, 2 * left);
    }
    if constexpr (left > 1) sum_halves<left / 2>(values);
  }

  // ---------------------------------------------------------------- carry

  /// Some adjacent units of 32 rows of an image.
  struct RowStep {
    std::int64_t item;  // of the rows
    int strip;          // the first
  };
  /// A lane has a row. A step's words are loading while those of the step before are summed.
  template <int units>
  AREAL_DEVICE void carry_rows(RelayTags tags) const {
    RowWord words[2][units];
    RowStep step{m.block(), 0};
    std::uint32_t sum = 0;
    load_rows(words[0], step);
    while (is_there(step)) {
      const RowStep next = after<units>(step);
      load_rows(words[1], next);
      add_rows(words[0], step, sum, tags);
      if (!is_there(next)) return;
      step = after<units>(next);
      load_rows(words[0], step);
      add_rows(words[1], next, sum, tags);
    }
  }
  AREAL_DEVICE bool is_there(const RowStep& step) const {
    return step.item < static_cast<std::int64_t>(a.images) * a.groups * parts;
  }
  template <int units>
  AREAL_DEVICE RowStep after(const RowStep& step) const {
    if (step.strip + units < a.strips) return {step.item, step.strip + units};
    return {step.item + m.blocks(), 0};
  }
  /// The address of the word of the step's i-th unit, in this lane's row.
  AREAL_DEVICE std::int64_t row_word(const RowStep& step, int i) const {
    return (step.item / parts * a.strips + step.strip + i) * unit_rows + step.item % parts * warp_size + m.lane();
  }
  template <int units>
  AREAL_DEVICE void load_rows(RowWord (&words)[units], const RowStep& step) const {
    if (!is_there(step)) return;
    AREAL_UNROLL
    for (int i = 0; i < units; ++i)
      if (step.strip + i < a.strips) words[i] = m.load_relaxed(a.rows + row_word(step, i));
  }
  template <int units>
  AREAL_DEVICE void add_rows(RowWord (&words)[units], const RowStep& step, std::uint32_t& sum, RelayTags tags) const {
    const std::uint32_t tag = tags.row();
    const auto are_there = [&] {
      bool there = true;
      AREAL_UNROLL
      for (int i = 0; i < units; ++i) there = there && (step.strip + i >= a.strips || words[i].is_of(tag));
      return m.all(there);
    };
    poll(m, are_there, [&] { load_rows(words, step); });
    if (step.strip == 0) sum = 0;
    AREAL_UNROLL
    for (int i = 0; i < units; ++i) {
      if (step.strip + i < a.strips) {
        m.store_relaxed(a.left + row_word(step, i), SumWord{sum | tags.sum()});
        sum += words[i].value();
      }
    }
  }

  /// The words of a band's units, one below the other: a writer's columns, and the sums left of each row.
  struct BandWords {
    Vec<ColumnPair, 2> half[band][2];
    SumWord left[band][parts];
  };
  AREAL_DEVICE void load_unit(BandWords& words, int i, std::int64_t at) const {
    AREAL_UNROLL
    for (int h = 0; h < 2; ++h) words.half[i][h] = m.load_relaxed(a.columns + at * 64 + h * warp_size + m.lane());
    AREAL_UNROLL
    for (int p = 0; p < parts; ++p)
      words.left[i][p] = m.load_relaxed(a.left + at * unit_rows + p * warp_size + m.lane());
  }
  /// The number of an image's band among all bands of strips, and that of its i-th unit among all units.
  AREAL_DEVICE std::int64_t band_at(int image, int k, int strip) const {
    return (static_cast<std::int64_t>(image) * a.bands + k) * a.strips + strip;
  }
  AREAL_DEVICE std::int64_t unit_at(int image, int k, int i, int strip) const {
    return (static_cast<std::int64_t>(image) * a.groups + k * band + i) * a.strips + strip;
  }
  AREAL_DEVICE void load_band(BandWords& words, int image, int k, int strip) const {
    AREAL_UNROLL
    for (int i = 0; i < band; ++i) load_unit(words, i, unit_at(image, k, i, strip));
  }
  /// True if the first `count` units' words have arrived.
  AREAL_DEVICE static bool are_there(const BandWords& words, int count, RelayTags tags) {
    const std::uint32_t pair = tags.pair(), sum = tags.sum();
    bool there = true;
    AREAL_UNROLL
    for (int i = 0; i < band; ++i) {
      AREAL_UNROLL
      for (int v = 0; v < 4; ++v) there = there && (i >= count || words.half[i][v / 2].at[v % 2].is_of(pair));
      AREAL_UNROLL
      for (int p = 0; p < parts; ++p) there = there && (i >= count || words.left[i][p].is_of(sum));
    }
    return there;
  }
  /// Adds the first `count` units' columns, and the sums left of their rows, which differ between lanes.
  AREAL_DEVICE static void add_band(const BandWords& words, int count, std::uint32_t (&column)[8],
                                    std::uint32_t& left) {
    AREAL_UNROLL
    for (int i = 0; i < band; ++i) {
      if (i < count) {
        AREAL_UNROLL
        for (int v = 0; v < 4; ++v) {
          column[2 * v] += words.half[i][v / 2].at[v % 2].first();
          column[2 * v + 1] += words.half[i][v / 2].at[v % 2].second();
        }
        AREAL_UNROLL
        for (int p = 0; p < parts; ++p) left += words.left[i][p].value();
      }
    }
  }

  /// A strip of an image, and a band with another one below it.
  struct Turn {
    int image = 0, strip = 0, k = 0;  // the band
  };
  /// The block's j-th turn: its strips are those whose number among all images' strips is the block's, modulo the
  /// number of blocks.
  AREAL_DEVICE bool turn_of(int j, Turn& t) const {
    const int last = a.bands - 1;  // nothing lies below it
    if (last == 0) return false;
    const int nth = j / last, strip = nth * static_cast<int>(m.blocks()) + static_cast<int>(m.block());
    t.image = strip / a.strips, t.strip = strip - t.image * a.strips, t.k = j - nth * last;
    return t.image < a.images;
  }
  /// The nth carrier has each carriers-th turn.
  AREAL_DEVICE void carry_columns(Shared& s, int nth, RelayTags tags) const {
    const int before = (nth + carriers - 1) % carriers;
    BandWords words;
    Turn t, next;
    if (!turn_of(nth, t)) return;
    load_band(words, t.image, t.k, t.strip);
    for (int j = nth;; j += carriers, t = next) {
      poll(
          m, [&] { return m.all(are_there(words, band, tags)); }, [&] { load_band(words, t.image, t.k, t.strip); });
      std::uint32_t column[8] = {}, left = 0;
      add_band(words, band, column, left);
      const bool more = turn_of(j + carriers, next);
      if (more) load_band(words, next.image, next.k, next.strip);
      T corner = static_cast<T>(warp_sum(m, left));
      // Also for the first band: the readers of this warp's sums are done when its turn comes again.
      if (j > 0) m.wait(s.ready[before], (j - 1) / carriers & 1);
      if (t.k > 0) {
        AREAL_UNROLL
        for (int v = 0; v < 8; ++v) column[v] += m.get(s.chain[before].above[v][m.lane()]);
        corner += m.get(s.chain[before].corner);
      }
      AREAL_UNROLL
      for (int v = 0; v < 8; ++v) m.put(s.chain[nth].above[v][m.lane()], column[v]);
      if (m.lane() == 0) m.put(s.chain[nth].corner, corner);
      m.arrive(s.ready[nth]);
      publish(column, corner, band_at(t.image, t.k + 1, t.strip), tags);
      if (!more) return;
    }
  }
  AREAL_DEVICE void publish(const std::uint32_t (&column)[8], T corner, std::int64_t at, RelayTags tags) const {
    AREAL_UNROLL
    for (int h = 0; h < 2; ++h) {
      Vec<SumWord, 4> words;
      AREAL_UNROLL
      for (int v = 0; v < 4; ++v) words.at[v] = {column[4 * h + v] | tags.sum()};
      m.store_relaxed(a.above + at * 64 + h * warp_size + m.lane(), words);
    }
    if (m.lane() == 0) m.store_relaxed(a.corners + at, TileState<T>{corner, tags.launch});
  }

  // ---------------------------------------------------------------- write

  AREAL_DEVICE void write(Shared& s, int nth, RelayTags tags) const {
    RelayWriter<Relay> writer(*this);
    Unit u;
    for (int n = nth; unit_of(n, u); n += writers) {
      m.wait(s.full[u.slot], u.turn & 1);
      gather(writer, u, tags);
      if (u.whole())
        writer.template write<true>(s, u);
      else
        writer.template write<false>(s, u);
      m.sync_warp();
      if (m.lane() == 0) m.arrive(s.empty[u.slot]);
    }
  }

  /// Gets the sums left of the unit's rows, and the table's row above it.
  AREAL_DEVICE void gather(RelayWriter<Relay>& writer, const Unit& u, RelayTags tags) const {
    const int k = u.group / band, count = u.group % band;
    const std::int64_t at = band_at(u.image, k, u.strip), mine = u.at;
    SumWord left[parts];
    Vec<SumWord, 4> above[2] = {};
    TileState<T> corner{};
    BandWords words;
    const std::uint32_t tag = tags.sum();
    const auto load = [&] {
      AREAL_UNROLL
      for (int p = 0; p < parts; ++p) left[p] = m.load_relaxed(a.left + mine * unit_rows + p * warp_size + m.lane());
      AREAL_UNROLL
      for (int i = 0; i < band - 1; ++i) {
        if (i < count) load_unit(words, i, unit_at(u.image, k, i, u.strip));
      }
      if (k == 0) return;
      AREAL_UNROLL
      for (int h = 0; h < 2; ++h) above[h] = m.load_relaxed(a.above + at * 64 + h * warp_size + m.lane());
      corner = m.load_relaxed(a.corners + at);
    };
    const auto all_there = [&] {
      bool there = k == 0 || corner.epoch == tags.launch;
      AREAL_UNROLL
      for (int v = 0; v < 8; ++v) there = there && (k == 0 || above[v / 4].at[v % 4].is_of(tag));
      AREAL_UNROLL
      for (int p = 0; p < parts; ++p) there = there && left[p].is_of(tag);
      return m.all(there && are_there(words, count, tags));
    };
    load();
    poll(m, all_there, load);
    std::uint32_t column[8], left_sum = 0;
    AREAL_UNROLL
    for (int v = 0; v < 8; ++v) column[v] = above[v / 4].at[v % 4].value();
    add_band(words, count, column, left_sum);
    AREAL_UNROLL
    for (int p = 0; p < parts; ++p) writer.left[p] = left[p].value();
    writer.begin(column, u.group == 0, static_cast<T>(warp_sum(m, left_sum)) + corner.value);
  }
};

}  // namespace areal::kernels
