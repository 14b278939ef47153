#pragma once
// The kernel of bands. Its grid fills the machine once, in clusters of blocks. Each block has a band of rows and walks
// along it, 128 columns a step; the bands of a cluster's blocks lie one below the other. Four kinds of warps work at
// the same time, each on a different step:
//   fetch     copies the step's pixels into a ring in shared memory
//   sum       adds up the columns of each writer's rows and of the whole band. Each block of the cluster is responsible
//             for some of the 128 columns, and is sent their sums
//   exchange  adds up, for the block's own columns, all bands above: those of the cluster, and those of the clusters
//             above, which publish their sums without waiting. It sends the results back to the cluster's blocks
//   write     writes the band's rows with all that is above added. The sums to the left stay in registers
// A cluster takes a ticket for its next bands while it works on the current ones. It waits only for bands with smaller
// tickets, and those belong to clusters that are running. All blocks of a cluster are resident at once.

#include <cstdint>
#include "kernels/primitives/elements.hpp"
#include "kernels/primitives/machine.hpp"
#include "kernels/primitives/strides.hpp"
#include "kernels/primitives/tile_state.hpp"
#include "kernels/primitives/warp/warp.hpp"

namespace areal::kernels {

template <class In, class T>
struct BandsArgs {
  const char* image;
  char* table;                 ///< where the first sum goes
  Strides in, out;             ///< rows of aligned vectors, whole ones
  std::int64_t width, height;  ///< of what is summed
  int cluster_blocks;          ///< a power of two
  int band;                    ///< rows of a block, at most C::writers * C::rows
  int steps, slots;            ///< of a band, and of the ring
  int supers;                  ///< bands of clusters in the image
  int round;                   ///< of these, a prefix of the sums is published; at most the clusters on the machine
  // The workspace:
  std::uint64_t* ticket;   ///< bands are dealt from it; what it is worth tells the launch as well
  TileState<T>* sums;      ///< [supers][steps][128] columns of a cluster's bands
  TileState<T>* prefixes;  ///< [supers][steps][128] of all down to here, of every `round`-th
};

template <class M, class C>
struct Bands {
  using In = typename C::In;
  using T = typename C::T;
  using Args = BandsArgs<In, T>;
  using Word = TileState<T>;
  using Epoch = typename Word::Epoch;
  static constexpr int columns = 128, V = 4;  // of a step, and of a lane
  static constexpr int fetchers = C::fetchers, exchangers = C::exchangers, summers = 8, writers = 16;
  static constexpr int threads = (fetchers + exchangers + summers + writers) * warp_size, resident = 1;
  static constexpr int rows = C::rows;      // of a writer, at most
  static constexpr int depth = exchangers;  // steps that are between sum and write
  static constexpr int most_slots = 32;
  /// Deals that are kept. One is written again when the first fetcher is that many deals further, by when every warp of
  /// the cluster has read it: none is behind by more than the steps that are fetched, and twice those under way.
  static constexpr int deals = 64;
  static_assert(deals > most_slots + 2 * depth + 1);
  static_assert(sizeof(In) == 4 && sizeof(T) == 4 && writers % summers == 0);

  struct Steps {
    Vec<T, V> strips[depth][writers][warp_size];  // columns of a writer's rows, then of all rows above these
    Vec<T, V> totals[depth][warp_size];           // of the cluster's bands, in this block's columns
    Vec<T, V> above[depth][warp_size];            // of all above the band
    Vec<std::uint32_t, 2> dealt[deals];           // which bands of clusters, and the launch's number
    Mbarrier full[most_slots], empty[most_slots], summed[depth], received[depth], ready[depth], done[depth],
        dealing[deals];
  };
  static constexpr int ring_lines = static_cast<int>((C::shared_bytes - sizeof(Steps)) / (columns * sizeof(In)));
  struct Shared : Steps {
    Vec<In, V> ring[ring_lines][warp_size];
  };
  static_assert(sizeof(Shared) <= C::shared_bytes);

  M m;
  Args a;

  /// Where a warp is: which bands of a cluster, and what is kept in turns.
  struct Place {
    int slot = 0, q = 0;         // in the ring, and among the steps that are under way
    unsigned turn = 0, lap = 0;  // how often the ring, and these, have come round
    int deal = 0;                // how many have been before
    int super = 0;               // which bands
    int rows = 0;                // of the band, those that lie in the image
    Epoch epoch = 0;
  };
  AREAL_DEVICE void next_step(Place& k) const {
    if (++k.slot == a.slots) k.slot = 0, ++k.turn;
    if (++k.q == depth) k.q = 0, ++k.lap;
  }
  /// f(k) for each deal.
  template <class F>
  AREAL_DEVICE void for_deals(Shared& s, F&& f) const {
    Place k;
    for (take_deal(s, k); k.super < a.supers; ++k.deal, take_deal(s, k)) f(k);
  }
  AREAL_DEVICE void take_deal(Shared& s, Place& k) const {
    const int at = k.deal % deals;
    m.wait(s.dealing[at], static_cast<unsigned>(k.deal / deals) & 1);
    const Vec<std::uint32_t, 2> dealt = m.get(s.dealt[at]);
    k.super = static_cast<int>(dealt.at[0]), k.epoch = dealt.at[1];
    const std::int64_t left = a.height - top_of(k);
    k.rows = static_cast<int>(left < 0 ? 0 : left < a.band ? left : a.band);
  }

  /// By one thread of each block, before any waits for that deal, and when that of `deals` ago has been read.
  AREAL_DEVICE void expect_deal(Shared& s, int nth) const {
    m.arrive_expect(s.dealing[nth % deals], static_cast<int>(sizeof(s.dealt[0])));
  }
  /// A launch takes as many tickets as there are bands of clusters, and one more for each cluster: no more bands.
  AREAL_DEVICE Vec<std::uint32_t, 2> draw() const {
    std::uint64_t turn;
    const std::uint64_t launch =
        divide(m.atomic_add(a.ticket, std::uint64_t{1}), static_cast<std::uint64_t>(a.supers + m.clusters()), turn);
    return {static_cast<std::uint32_t>(turn), static_cast<std::uint32_t>(launch * 2 + 2)};
  }
  AREAL_DEVICE void deal(Shared& s, int nth, const Vec<std::uint32_t, 2>& drawn) const {
    for (int b = 0; b < a.cluster_blocks; ++b) m.send(s.dealt[nth % deals], drawn, b, s.dealing[nth % deals]);
  }

  AREAL_DEVICE std::int64_t top_of(const Place& k) const {
    return (static_cast<std::int64_t>(k.super) * a.cluster_blocks + m.cluster_rank()) * a.band;
  }
  /// A writer's first row of so many; the next writer's is where its rows end.
  AREAL_DEVICE static int first_row(int writer, int count) { return writer * count / writers; }

  AREAL_DEVICE void operator()() {
    Shared& s = m.template shared<Shared>();
    const bool dealer = m.thread() == 0 && m.cluster_rank() == 0;
    Vec<std::uint32_t, 2> drawn{};
    if (dealer) drawn = draw();
    if (m.thread() == 0) {
      for (int i = 0; i < a.slots; ++i) m.init(s.full[i], fetchers * warp_size), m.init(s.empty[i], writers);
      for (int i = 0; i < depth; ++i)
        m.init(s.summed[i], 1), m.init(s.received[i], 1), m.init(s.ready[i], 1), m.init(s.done[i], writers);
      for (int i = 0; i < deals; ++i) m.init(s.dealing[i], 1);
      m.fence_init();
    }
    m.sync_cluster();
    if (m.thread() == 0) expect_deal(s, 0);
    if (dealer) deal(s, 0, drawn);
    m.sync_warp();
    const int warp = m.warp();
    if (warp < fetchers)
      fetch(s, warp);
    else if (warp < fetchers + exchangers)
      exchange(s, warp - fetchers);
    else if (warp < fetchers + exchangers + summers)
      sum(s, warp - fetchers - exchangers);
    else
      write(s, warp - fetchers - exchangers - summers);
    // Each block has waited for all that is sent to it.
  }

  // ---------------------------------------------------------------- fetch

  AREAL_DEVICE void fetch(Shared& s, int nth) const {
    for_deals(s, [&](Place& k) {
      if (m.thread() == 0) {
        expect_deal(s, k.deal + 1);
        if (m.cluster_rank() == 0) deal(s, k.deal + 1, draw());
      }
      const char* const row = a.image + (top_of(k) + nth) * a.in.row;
      const std::int64_t line = fetchers * a.in.row;
      std::int64_t x = m.lane() * V;
      for (int step = 0; step < a.steps; ++step, x += columns, next_step(k)) {
        if (k.turn > 0) m.wait(s.empty[k.slot], (k.turn - 1) & 1);
        if (x < a.width) {
          const char* from = row + x * static_cast<std::int64_t>(sizeof(In));
          Vec<In, V>* to = &s.ring[k.slot * a.band + nth][m.lane()];
          for (int y = nth; y < k.rows; y += fetchers, from += line, to += fetchers * warp_size)
            m.copy_async(*to, reinterpret_cast<const Vec<In, V>*>(from));
        }
        m.arrive_copies(s.full[k.slot]);
      }
    });
  }

  // ---------------------------------------------------------------- sum

  AREAL_DEVICE void sum(Shared& s, int nth) const {
    int turn = 0;  // the summer that adds up this step
    for_deals(s, [&](Place& k) {
      std::int64_t x = m.lane() * V;
      for (int step = 0; step < a.steps; ++step, x += columns, next_step(k)) {
        if (k.lap > 0) m.wait(s.done[k.q], (k.lap - 1) & 1);
        m.wait(s.full[k.slot], k.turn & 1);
        AREAL_UNROLL
        for (int i = 0; i < writers / summers; ++i) {
          const int w = nth * (writers / summers) + i;
          const int first = first_row(w, k.rows), down = first_row(w + 1, k.rows) - first;
          const Vec<In, V>* const from = &s.ring[k.slot * a.band + first][m.lane()];
          Vec<T, V> column{};
          AREAL_UNROLL
          for (int y = 0; y < rows; ++y)
            if (y < down && x < a.width) add(column, m.get(from[y * warp_size]));
          m.put(s.strips[k.q][w][m.lane()], column);
        }
        m.sync(1, summers * warp_size);
        if (nth == turn) add_strips(s, k);
        if (++turn == summers) turn = 0;
      }
    });
  }

  AREAL_DEVICE void add_strips(Shared& s, const Place& k) const {
    static constexpr int at_once = 4;
    Vec<T, V> total{};
    AREAL_UNROLL
    for (int w = 0; w < writers; w += at_once) {
      Vec<T, V> strips[at_once];
      AREAL_UNROLL
      for (int i = 0; i < at_once; ++i) strips[i] = m.get(s.strips[k.q][w + i][m.lane()]);
      AREAL_UNROLL
      for (int i = 0; i < at_once; ++i) {
        m.put(s.strips[k.q][w + i][m.lane()], total);
        add(total, strips[i]);
      }
    }
    // The block that has these columns has consumed what was here a lap ago: it has sent what made this block's writers
    // go on.
    m.send(s.totals[k.q][m.cluster_rank() * lanes_each() + m.lane() % lanes_each()], total, m.lane() / lanes_each(),
           s.received[k.q]);
    m.sync_warp();
    if (m.lane() == 0) m.arrive(s.summed[k.q]);
  }

  template <class S>
  AREAL_DEVICE static void add(Vec<T, V>& sum, const Vec<S, V>& more) {
    AREAL_UNROLL
    for (int v = 0; v < V; ++v) sum.at[v] += term<T>(more.at[v]);
  }

  // ---------------------------------------------------------------- exchange

  /// Lanes that have one block's columns.
  AREAL_DEVICE int lanes_each() const { return warp_size / a.cluster_blocks; }

  /// Every `depth`-th step. A lane has the columns h of those of this block, for the b-th block of the cluster.
  AREAL_DEVICE void exchange(Shared& s, int q) const {
    for_deals(s, [&](Place& k) {
      for (int step = 0; step < a.steps; ++step, next_step(k))
        if (k.q == q) exchange_step(s, k, step);
    });
  }

  AREAL_DEVICE void exchange_step(Shared& s, const Place& k, int step) const {
    const int q = k.q;
    const Epoch epoch = k.epoch;
    const int each = lanes_each(), b = m.lane() / each, h = m.lane() % each;
    const std::int64_t row = static_cast<std::int64_t>(a.steps) * columns;
    // What clusters above have published: the last prefix, and sums since.
    const int begin = k.super / a.round * a.round, words = k.super - begin + (begin > 0 ? 1 : 0);
    const std::int64_t at = static_cast<std::int64_t>(step) * columns + (m.cluster_rank() * each + h) * V;
    const auto word = [&](int n) {
      n -= begin > 0 ? 1 : 0;
      return (n < 0 ? a.prefixes + (begin - 1) * row : a.sums + (begin + n) * row) + at;
    };
    Words above;
    if (b < words) above = load(word(b));  // most often they are there already
    if (k.lap > 0) m.wait(s.done[q], (k.lap - 1) & 1);
    if (m.lane() == 0) {
      m.arrive_expect(s.received[q], static_cast<int>(sizeof(s.totals[q])));
      m.arrive_expect(s.ready[q], static_cast<int>(sizeof(s.above[q])));
    }
    m.wait(s.received[q], k.lap & 1);
    const Vec<T, V> own = m.get(s.totals[q][m.lane()]);
    Vec<T, V> total = own;  // of this band and all above it in the cluster
    for (int n = each; n < warp_size; n *= 2) {
      AREAL_UNROLL
      for (int v = 0; v < V; ++v) {
        const T more = m.shuffle_up(total.at[v], n);
        if (m.lane() >= n) total.at[v] += more;
      }
    }
    const bool last = b == a.cluster_blocks - 1, below = k.super + 1 < a.supers;
    if (last && below) store(a.sums + k.super * row + at, total, epoch);
    Vec<T, V> up{};
    if (words > 0) {
      for (int n = b; n < words; n += a.cluster_blocks) {
        if (n != b) above = load(word(n));
        while (!above.are_of(epoch)) {
          m.pause();
          above = load(word(n));
        }
        add(up, above.values());
      }
      m.sync_warp();
      for (int n = each; n < warp_size; n *= 2) {
        AREAL_UNROLL
        for (int v = 0; v < V; ++v) up.at[v] += m.shuffle_xor(up.at[v], n);
      }
    }
    if (last && below && k.super + 1 == begin + a.round) {
      Vec<T, V> all = up;
      add(all, total);
      store(a.prefixes + k.super * row + at, all, epoch);
    }
    // Of the bands above alone.
    AREAL_UNROLL
    for (int v = 0; v < V; ++v) {
      const T before = m.shuffle_up(total.at[v], each);
      if (b > 0) up.at[v] += before;
    }
    m.send(s.above[q][m.cluster_rank() * each + h], up, b, s.ready[q]);
  }

  /// Four words of neighbouring columns.
  struct Words {
    Vec<Word, 2> low, high;
    AREAL_DEVICE bool are_of(Epoch epoch) const {
      return low.at[0].epoch == epoch && low.at[1].epoch == epoch && high.at[0].epoch == epoch &&
             high.at[1].epoch == epoch;
    }
    AREAL_DEVICE Vec<T, V> values() const {
      return {low.at[0].value, low.at[1].value, high.at[0].value, high.at[1].value};
    }
  };
  AREAL_DEVICE Words load(const Word* from) const {
    return {m.load_relaxed(reinterpret_cast<const Vec<Word, 2>*>(from)),
            m.load_relaxed(reinterpret_cast<const Vec<Word, 2>*>(from + 2))};
  }
  AREAL_DEVICE void store(Word* to, const Vec<T, V>& sums, Epoch epoch) const {
    AREAL_UNROLL
    for (int v = 0; v < V; v += 2)
      m.store_relaxed(reinterpret_cast<Vec<Word, 2>*>(to + v),
                      Vec<Word, 2>{{{sums.at[v], epoch}, {sums.at[v + 1], epoch}}});
  }

  // ---------------------------------------------------------------- write

  AREAL_DEVICE void write(Shared& s, int nth) const {
    for_deals(s, [&](Place& k) {
      const int first = first_row(nth, k.rows), down = first_row(nth + 1, k.rows) - first;
      char* to = a.table + (top_of(k) + first) * a.out.row + m.lane() * static_cast<int>(sizeof(Vec<T, V>));
      std::int64_t x = m.lane() * V;
      T left[rows];  // of each row's steps so far
      AREAL_UNROLL
      for (int y = 0; y < rows; ++y) left[y] = 0;
      for (int step = 0; step < a.steps; ++step, x += columns, to += columns * sizeof(T), next_step(k)) {
        const Vec<In, V>* const from = &s.ring[k.slot * a.band + first][m.lane()];
        m.wait(s.full[k.slot], k.turn & 1);
        m.wait(s.summed[k.q], k.lap & 1);
        m.wait(s.ready[k.q], k.lap & 1);
        Vec<T, V> column = m.get(s.above[k.q][m.lane()]);
        add(column, m.get(s.strips[k.q][nth][m.lane()]));
        Vec<T, V> sums[rows];
        AREAL_UNROLL
        for (int y = 0; y < rows; ++y)
          if (y < down) {
            if (x < a.width) add(column, m.get(from[y * warp_size]));
            T run = 0;
            AREAL_UNROLL
            for (int v = 0; v < V; ++v) sums[y].at[v] = run += column.at[v];
          }
        m.sync_warp();
        if (m.lane() == 0) m.arrive(s.empty[k.slot]), m.arrive(s.done[k.q]);
        T scan[rows];
        AREAL_UNROLL
        for (int y = 0; y < rows; ++y) scan[y] = y < down ? sums[y].at[V - 1] : T(0);
        AREAL_UNROLL
        for (int n = 1; n < warp_size; n *= 2) {
          AREAL_UNROLL
          for (int y = 0; y < rows; ++y) {
            const T more = m.shuffle_up(scan[y], n);
            if (m.lane() >= n) scan[y] += more;
          }
        }
        AREAL_UNROLL
        for (int y = 0; y < rows; ++y)
          if (y < down) {
            T before = m.shuffle_up(scan[y], 1);
            if (m.lane() == 0) before = 0;
            before += left[y];
            AREAL_UNROLL
            for (int v = 0; v < V; ++v) sums[y].at[v] += before;
            if (x < a.width) m.store_streaming(reinterpret_cast<Vec<T, V>*>(to + y * a.out.row), sums[y]);
            left[y] = m.shuffle(sums[y].at[V - 1], warp_size - 1);
          }
      }
    });
  }
};

}  // namespace areal::kernels
