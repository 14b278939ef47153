#pragma once
// The kernel of bands. Its grid fills the machine once, in clusters of blocks. Each block has a band of rows and walks
// along it, some columns a step; the bands of a cluster's blocks lie one below the other. Four kinds of warps work in
// parallel, each on a different step:
//   fetch     copies the step's pixels into a ring in shared memory
//   sum       sums the columns of each writer's rows and of the whole band, and sends them to the
//             cluster's blocks, each of which owns some of the columns
//   exchange  sums, for the block's own columns, all bands above: those of the cluster, and those of the
//             clusters above, which publish their sums without waiting; then sends the results back to the cluster's
//             blocks
//   write     writes the band's rows, adding the sums above. The sums to the left stay in registers
// Bands are assigned by the cluster's number. All blocks of the grid are resident at once (the launch ensures it), and
// a cluster waits only for bands above its own.

#include <cstdint>
#include <type_traits>
#include "kernels/primitives/elements.hpp"
#include "kernels/primitives/machine.hpp"
#include "kernels/primitives/tile_state.hpp"
#include "kernels/sat/bands/part.hpp"
#include "kernels/sat/bands/write.hpp"
#include "kernels/sat/mirror.hpp"

namespace areal::kernels {

template <class T>
struct BandsArgs {
  const char* image;           ///< its first pixel; if columns are walked backwards, the end of its first row
  std::int64_t image_row;      ///< bytes from one row to the next, a multiple of 16
  char* table;                 ///< the first entry
  std::int64_t table_row;      ///< bytes from one row to the next, a multiple of 16
  std::int64_t width, height;  ///< of the image
  int cluster_blocks;          ///< a power of two
  int band;                    ///< rows of a block, at most C::writers * C::rows
  int steps, slots;            ///< of a band, and of the ring
  int supers;                  ///< bands of clusters in the image
  int round;                   ///< of these, a prefix of the sums is published
  // The workspace:
  std::uint32_t* launches;  ///< launches so far, of each exchanging warp
  TileState<T>* sums;       ///< [supers][steps][columns] of a cluster's bands
  TileState<T>* prefixes;   ///< [supers][steps][columns] of all rows down to here, for every `round`-th
};

template <class M, class C>
struct Bands {
  using Machine = M;
  using In = typename C::In;
  using T = typename C::T;
  using Args = BandsArgs<T>;
  static constexpr bool reverse = C::reverse;  // columns from the last on
  static constexpr int columns = C::columns;   // of a step
  static constexpr int fetchers = C::fetchers, summers = C::summers, writers = C::writers;
  static constexpr int exchangers = C::exchangers;
  static constexpr int threads = (fetchers + exchangers + summers + writers) * warp_size, resident = 1;
  static constexpr int rows = C::rows;      // of a writer, at most
  static constexpr int group = C::group;    // of these, scanned together
  static constexpr int depth = exchangers;  // steps between sum and write
  static constexpr int most_slots = 32;
  static_assert(writers % summers == 0);
  using Part = BandsPart<In, T, columns, writers * rows>;

  struct Steps {
    Vec<typename Part::Cell, Part::V> strips[depth][writers]
                                            [Part::vectors];  // columns of a writer's rows, then of all rows above
    Vec<T, Part::V> totals[depth][Part::vectors];             // of the cluster's bands, in this block's columns
    Vec<T, Part::V> above[depth][Part::vectors];              // of all rows above the band
    Mbarrier received[depth], ready[depth];
    Mbarrier full[most_slots], empty[most_slots], summed[depth], done[depth];
  };
  /// A row of the ring is copied in units.
  static constexpr int unit_pixels = 16 / static_cast<int>(sizeof(In)), units = columns / unit_pixels;
  static constexpr int ring_lines = static_cast<int>((C::shared_bytes - sizeof(Steps)) / (columns * sizeof(In)));
  struct Shared : Steps {
    Vec<In, unit_pixels> ring[ring_lines][units];
  };
  static_assert(sizeof(Shared) <= C::shared_bytes);

  M m;
  Args a;

  /// A warp's position: the bands of a cluster, and counters of the ring and the steps.
  struct Place {
    int slot = 0, q = 0;         // in the ring, and among the steps in flight
    unsigned turn = 0, lap = 0;  // how often the ring, and the steps in flight, have wrapped around
    int super = 0;               // which bands
    int rows = 0;                // rows of the band that lie in the image
  };
  AREAL_DEVICE void next_step(Place& k) const {
    if (++k.slot == a.slots) k.slot = 0, ++k.turn;
    if (++k.q == depth) k.q = 0, ++k.lap;
  }
  /// f(k) for each of the cluster's bands.
  template <class F>
  AREAL_DEVICE void for_deals(F&& f) const {
    Place k;
    for (k.super = static_cast<int>(m.cluster()); k.super < a.supers; k.super += static_cast<int>(m.clusters())) {
      const std::int64_t left = a.height - top_of(k);
      k.rows = static_cast<int>(left < 0 ? 0 : left < a.band ? left : a.band);
      f(k);
    }
  }

  /// Each exchanging warp of each block counts launches separately.
  AREAL_DEVICE std::uint32_t count_launch(int exchanger) const {
    std::uint32_t* const count = a.launches + m.block() * exchangers + exchanger;
    const std::uint32_t before = m.load_relaxed(count);
    m.sync_warp();
    if (m.lane() == 0) m.store_relaxed(count, before + 1);
    return before + 1;
  }

  AREAL_DEVICE std::int64_t top_of(const Place& k) const {
    return (static_cast<std::int64_t>(k.super) * a.cluster_blocks + m.cluster_rank()) * a.band;
  }
  /// The first of a writer's rows, of `count` in all; they end where the next writer's begin.
  AREAL_DEVICE static int first_row(int writer, int count) { return writer * count / writers; }

  AREAL_DEVICE void operator()() {
    Shared& s = m.template shared<Shared>();
    if (m.thread() == 0) {
      for (int i = 0; i < a.slots; ++i) m.init(s.full[i], fetchers * warp_size), m.init(s.empty[i], writers);
      for (int i = 0; i < depth; ++i) {
        m.init(s.summed[i], 1), m.init(s.done[i], writers);
        m.init(s.received[i], 1), m.init(s.ready[i], 1);
      }
      m.fence_init();
    }
    const int warp = m.warp();
    m.sync();  // fetching needs only the block's own barriers, as it sends nothing
    if (warp >= fetchers) m.sync_cluster();
    if (warp < fetchers)
      fetch(s, warp);
    else if (warp < fetchers + exchangers)
      exchange(s, warp - fetchers);
    else if (warp < fetchers + exchangers + summers)
      sum(s, warp - fetchers - exchangers);
    else
      write(s, warp - fetchers - exchangers - summers);
    // Each block has waited for everything sent to it.
  }

  // ---------------------------------------------------------------- fetch

  AREAL_DEVICE void fetch(Shared& s, int nth) const {
    static constexpr int side = units < warp_size ? units : warp_size;  // lanes that share a row
    static constexpr int down = warp_size / side, each = units / side;
    static_assert(side * each == units && side * down == warp_size);
    int until_cluster = C::early;
    const int y0 = nth * down + m.lane() / side, unit = m.lane() % side;
    const std::int64_t line = fetchers * down * a.image_row;
    for_deals([&](Place& k) {
      const char* const row = a.image + (top_of(k) + y0) * a.image_row;
      for (int step = 0; step < a.steps; ++step, next_step(k)) {
        if (until_cluster-- == 0) m.sync_cluster();
        if (k.turn > 0) m.wait(s.empty[k.slot], (k.turn - 1) & 1);
        AREAL_UNROLL
        for (int i = 0; i < each; ++i) {
          const int at = unit + i * side;
          // Of a row that is walked backwards, a step has the same pixels in memory order.
          const std::int64_t x = static_cast<std::int64_t>(step) * columns +
                                 (reverse ? columns - (at + 1) * unit_pixels : at * unit_pixels);
          const std::int64_t more = a.width - x;
          if (more <= 0) continue;
          const char* from = row + (reverse ? -(x + unit_pixels) : x) * static_cast<std::int64_t>(sizeof(In));
          Vec<In, unit_pixels>* to = &s.ring[k.slot * a.band + y0][at];
          if (reverse || more >= unit_pixels) {
            for (int y = y0; y < k.rows; y += fetchers * down, from += line, to += fetchers * down * units)
              m.copy_async(*to, reinterpret_cast<const Vec<In, unit_pixels>*>(from));
          } else {
            using Piece = Vec<In, 4 / (sizeof(In) < 4 ? sizeof(In) : 4)>;
            static constexpr int pixels = sizeof(Piece) / sizeof(In);
            for (int y = y0; y < k.rows; y += fetchers * down, from += line, to += fetchers * down * units)
              for (int n = 0; n < more / pixels; ++n)
                m.copy_async(reinterpret_cast<Piece*>(to)[n], reinterpret_cast<const Piece*>(from) + n);
          }
        }
        m.arrive_copies(s.full[k.slot]);
      }
    });
    if (until_cluster >= 0) m.sync_cluster();
  }

  /// A lane's pixels of a row of the band: the n-th vector of the step.
  AREAL_DEVICE typename Part::Line line(const Shared& s, const Place& k, int y, int n) const {
    using Line = typename Part::Line;
    const Line* const row = reinterpret_cast<const Line*>(&s.ring[k.slot * a.band + y][0]);
    return mirrored<reverse>(m.get(row[reverse ? Part::vectors - 1 - n : n]));
  }

  // ---------------------------------------------------------------- sum

  AREAL_DEVICE void sum(Shared& s, int nth) const {
    int turn = 0;  // the summer of this step
    for_deals([&](Place& k) {
      for (int step = 0; step < a.steps; ++step, next_step(k)) {
        if (k.lap > 0) m.wait(s.done[k.q], (k.lap - 1) & 1);
        m.wait(s.full[k.slot], k.turn & 1);
        sum_columns(s, k, nth, step);
        m.sync(1, summers * warp_size);
        if (nth == turn) {
          add_strips(s, k);
          m.sync_warp();
          if (m.lane() == 0) m.arrive(s.summed[k.q]);
        }
        if (++turn == summers) turn = 0;
      }
    });
  }

  AREAL_DEVICE void sum_columns(Shared& s, const Place& k, int nth, int step) const {
    using P = Part;
    AREAL_UNROLL
    for (int i = 0; i < writers / summers; ++i) {
      const int w = nth * (writers / summers) + i;
      const int first = first_row(w, k.rows), down = first_row(w + 1, k.rows) - first;
      AREAL_UNROLL
      for (int p = 0; p < P::strips; ++p) {
        const int n = p * warp_size + m.lane();
        const bool here = static_cast<std::int64_t>(step) * columns + n * P::V < a.width;
        Vec<typename P::Local, P::V> column{};
        AREAL_UNROLL
        for (int y = 0; y < rows; ++y)
          if (y < down && here) add_columns<P>(m, column, line(s, k, first + y, n));
        m.put(s.strips[k.q][w][n], cells(column));
      }
    }
  }
  AREAL_DEVICE static Vec<typename Part::Cell, Part::V> cells(const Vec<typename Part::Local, Part::V>& sums) {
    Vec<typename Part::Cell, Part::V> cells;
    AREAL_UNROLL
    for (int v = 0; v < Part::V; ++v) cells.at[v] = static_cast<typename Part::Cell>(sums.at[v]);
    return cells;
  }

  AREAL_DEVICE void add_strips(Shared& s, const Place& k) const {
    using P = Part;
    static constexpr int at_once = writers < 4 ? writers : 4;
    static_assert(writers % at_once == 0);
    AREAL_UNROLL
    for (int p = 0; p < P::strips; ++p) {
      const int n = p * warp_size + m.lane();
      Vec<typename P::Local, P::V> total{};
      AREAL_UNROLL
      for (int w = 0; w < writers; w += at_once) {
        Vec<typename P::Cell, P::V> strips[at_once];
        AREAL_UNROLL
        for (int i = 0; i < at_once; ++i) strips[i] = m.get(s.strips[k.q][w + i][n]);
        AREAL_UNROLL
        for (int i = 0; i < at_once; ++i) {
          m.put(s.strips[k.q][w + i][n], cells(total));
          add(total, strips[i]);
        }
      }
      Vec<typename P::T, P::V> sums{};
      add(sums, total);
      // The block that owns these columns has consumed the slot's previous contents: it has since sent the sums for
      // which this block's writers waited.
      const int each = vectors_each();
      m.send(s.totals[k.q][m.cluster_rank() * each + n % each], sums, n / each, s.received[k.q]);
    }
  }

  // ---------------------------------------------------------------- exchange

  /// Vectors of a step's columns that one block owns.
  AREAL_DEVICE int vectors_each() const { return Part::vectors / a.cluster_blocks; }

  /// The words of a vector's columns.
  struct Words {
    using Word = TileState<T>;
    using Epoch = typename Word::Epoch;
    static constexpr int together = 16 / static_cast<int>(sizeof(Word)), accesses = Part::V / together;
    Vec<Word, together> at[accesses];
    AREAL_DEVICE bool are_of(Epoch epoch) const {
      bool all = true;
      AREAL_UNROLL
      for (int v = 0; v < Part::V; ++v) all = all && at[v / together].at[v % together].epoch == epoch;
      return all;
    }
    AREAL_DEVICE Vec<T, Part::V> values() const {
      Vec<T, Part::V> values;
      AREAL_UNROLL
      for (int v = 0; v < Part::V; ++v) values.at[v] = at[v / together].at[v % together].value;
      return values;
    }
  };
  AREAL_DEVICE Words load(const TileState<T>* from) const {
    Words words;
    AREAL_UNROLL
    for (int i = 0; i < Words::accesses; ++i)
      words.at[i] = m.load_relaxed(reinterpret_cast<const Vec<TileState<T>, Words::together>*>(from) + i);
    return words;
  }
  AREAL_DEVICE void store(TileState<T>* to, const Vec<T, Part::V>& sums, typename Words::Epoch epoch) const {
    AREAL_UNROLL
    for (int i = 0; i < Words::accesses; ++i) {
      Vec<TileState<T>, Words::together> words;
      AREAL_UNROLL
      for (int v = 0; v < Words::together; ++v) words.at[v] = {sums.at[i * Words::together + v], epoch};
      m.store_relaxed(reinterpret_cast<Vec<TileState<T>, Words::together>*>(to) + i, words);
    }
  }

  /// Every `depth`-th step. A lane has some of this block's columns, for the b-th block of the cluster.
  AREAL_DEVICE void exchange(Shared& s, int q) const {
    const auto epoch = static_cast<typename Words::Epoch>(count_launch(q));
    for_deals([&](Place& k) {
      for (int step = 0; step < a.steps; ++step, next_step(k))
        if (k.q == q) exchange_step(s, k, step, epoch);
    });
  }

  AREAL_DEVICE void exchange_step(Shared& s, const Place& k, int step, typename Words::Epoch epoch) const {
    using P = Part;
    using Sums = Vec<typename P::T, P::V>;
    static constexpr int V = P::V, each_lane = P::strips;
    const int q = k.q;
    const int each = warp_size / a.cluster_blocks, b = m.lane() / each, h = m.lane() % each;
    const std::int64_t row = static_cast<std::int64_t>(a.steps) * columns;
    // What the clusters above have published: the last prefix, and the sums since.
    const int begin = k.super / a.round * a.round, words = k.super - begin + (begin > 0 ? 1 : 0);
    const int mine = m.cluster_rank() * vectors_each() + h;  // the first of the lane's vectors, `each` apart
    const std::int64_t at = static_cast<std::int64_t>(step) * columns + mine * V;
    const auto word = [&](int n, int i) {
      n -= begin > 0 ? 1 : 0;
      return (n < 0 ? a.prefixes + (begin - 1) * row : a.sums + (begin + n) * row) + at + i * each * V;
    };
    Words above[each_lane] = {};
    if (b < words) {  // usually they have arrived already
      AREAL_UNROLL
      for (int i = 0; i < each_lane; ++i) above[i] = load(word(b, i));
    }
    if (k.lap > 0) m.wait(s.done[q], (k.lap - 1) & 1);
    if (m.lane() == 0) {
      m.arrive_expect(s.received[q], static_cast<int>(sizeof(s.totals[q])));
      m.arrive_expect(s.ready[q], static_cast<int>(sizeof(s.above[q])));
    }
    m.wait(s.received[q], k.lap & 1);
    Sums total[each_lane];  // of this band and all above it in the cluster
    AREAL_UNROLL
    for (int i = 0; i < each_lane; ++i) total[i] = m.get(s.totals[q][b * vectors_each() + i * each + h]);
    for (int n = each; n < warp_size; n *= 2) {
      AREAL_UNROLL
      for (int i = 0; i < each_lane; ++i) {
        AREAL_UNROLL
        for (int v = 0; v < V; ++v) {
          const auto more = m.shuffle_up(total[i].at[v], n);
          if (m.lane() >= n) total[i].at[v] += more;
        }
      }
    }
    const bool last = b == a.cluster_blocks - 1, below = k.super + 1 < a.supers;
    if (last && below) {
      AREAL_UNROLL
      for (int i = 0; i < each_lane; ++i) store(a.sums + k.super * row + at + i * each * V, total[i], epoch);
    }
    Sums up[each_lane] = {};
    if (words > 0) {
      for (int n = b; n < words; n += a.cluster_blocks) {
        AREAL_UNROLL
        for (int i = 0; i < each_lane; ++i) {
          if (n != b) above[i] = load(word(n, i));
          poll(
              m, [&] { return above[i].are_of(epoch); }, [&] { above[i] = load(word(n, i)); });
          add(up[i], above[i].values());
        }
      }
      m.sync_warp();
      for (int n = each; n < warp_size; n *= 2) {
        AREAL_UNROLL
        for (int i = 0; i < each_lane; ++i) {
          AREAL_UNROLL
          for (int v = 0; v < V; ++v) up[i].at[v] += m.shuffle_xor(up[i].at[v], n);
        }
      }
    }
    AREAL_UNROLL
    for (int i = 0; i < each_lane; ++i) {
      if (last && below && k.super + 1 == begin + a.round) {
        Sums all = up[i];
        add(all, total[i]);
        store(a.prefixes + k.super * row + at + i * each * V, all, epoch);
      }
      // Of the bands above only.
      AREAL_UNROLL
      for (int v = 0; v < V; ++v) {
        const auto before = m.shuffle_up(total[i].at[v], each);
        if (b > 0) up[i].at[v] += before;
      }
      m.send(s.above[q][mine + i * each], up[i], b, s.ready[q]);
    }
  }

  // ---------------------------------------------------------------- write

  AREAL_DEVICE void write(Shared& s, int nth) const {
    BandsWriter<Bands> writer(*this);
    for_deals([&](Place& k) {
      const int first = first_row(nth, k.rows), down = first_row(nth + 1, k.rows) - first;
      writer.begin(top_of(k) + first, down);
      for (int step = 0; step < a.steps; ++step, next_step(k)) {
        m.wait(s.full[k.slot], k.turn & 1);
        m.wait(s.summed[k.q], k.lap & 1);
        m.wait(s.ready[k.q], k.lap & 1);
        writer.step(s, k, nth, first, static_cast<std::int64_t>(step) * columns + m.lane() * Part::V, [&] {
          m.sync_warp();
          if (m.lane() == 0) m.arrive(s.empty[k.slot]), m.arrive(s.done[k.q]);
        });
      }
    });
  }
};

}  // namespace areal::kernels
