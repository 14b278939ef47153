#pragma once
// The write role of bands: a writer walks along its rows, and keeps the sum left of each.

#include <cstdint>
#include <type_traits>
#include "kernels/primitives/elements.hpp"
#include "kernels/primitives/machine.hpp"
#include "kernels/sat/bands/part.hpp"
#include "kernels/sat/mirror.hpp"

namespace areal::kernels {

/// K: the kernel.
template <class K>
class BandsWriter {
  using P = typename K::Part;
  using T = typename P::T;
  using Local = typename P::Local;
  using Sums = Vec<T, P::V>;
  static constexpr int V = P::V, strips = P::strips, rows = K::rows;
  static constexpr int group = K::group;  // rows that are scanned together
  static constexpr int size = static_cast<int>(sizeof(T)), direction = K::reverse ? -1 : 1;
  static constexpr bool columns_first = !P::by_rows;

 public:
  AREAL_DEVICE explicit BandsWriter(const K& k) : k_(k), m_(k.m), a_(k.a) {}

  /// Starts a band: the writer's `down` rows, from table row `first` on.
  AREAL_DEVICE void begin(std::int64_t first, int down) {
    down_ = down, corner_ = 0;
    row_ = a_.table + first * a_.table_row;
    AREAL_UNROLL
    for (int y = 0; y < rows; ++y) left_[y] = 0;
  }

  /// Writes one step, whose pixels and sums have arrived; calls `release` after reading them.
  template <class Shared, class Release>
  AREAL_DEVICE void step(Shared& s, const typename K::Place& at, int writer, int first, std::int64_t x,
                         const Release& release) {
    Sums above[strips];
    AREAL_UNROLL
    for (int p = 0; p < strips; ++p) {
      above[p] = m_.get(s.above[at.q][p * warp_size + m_.lane()]);
      add(above[p], m_.get(s.strips[at.q][writer][p * warp_size + m_.lane()]));
    }
    if constexpr (columns_first)
      by_columns(s, at, first, x, above, release);
    else
      by_rows(s, at, first, x, above, release);
  }

 private:
  AREAL_DEVICE bool here(int y) const { return y < rows && y < down_; }

  /// For entries of at least 32 bits for each pixel: columns first, then along the rows.
  template <class Shared, class Release>
  AREAL_DEVICE void by_columns(Shared& s, const typename K::Place& at, int first, std::int64_t x, Sums (&above)[strips],
                               const Release& release) {
    AREAL_UNROLL
    for (int top = 0; top < rows; top += group) {
      Sums sums[group][strips];
      T scan[group][strips] = {};
      AREAL_UNROLL
      for (int i = 0; i < group; ++i)
        if (here(top + i)) {
          AREAL_UNROLL
          for (int p = 0; p < strips; ++p) {
            if (x + p * P::strip < a_.width)
              add_columns<P>(m_, above[p], k_.line(s, at, first + top + i, p * warp_size + m_.lane()));
            T run = 0;
            AREAL_UNROLL
            for (int v = 0; v < V; ++v) sums[i][p].at[v] = run += above[p].at[v];
            scan[i][p] = run;
          }
        }
      if (top + group >= rows) release();
      scan_all(scan);
      AREAL_UNROLL
      for (int i = 0; i < group; ++i)
        if (here(top + i)) {
          AREAL_UNROLL
          for (int p = 0; p < strips; ++p) {
            T before = m_.shuffle_up(scan[i][p], 1);
            if (m_.lane() == 0) before = 0;
            before += left_[top + i];
            AREAL_UNROLL
            for (int v = 0; v < V; ++v) sums[i][p].at[v] += before;
            store(top + i, sums[i][p], x + p * P::strip);
            left_[top + i] = m_.shuffle(sums[i][p].at[V - 1], warp_size - 1);
          }
        }
    }
  }

  /// For small integers: keeps the table's row above; each row adds its own prefixes, which are scanned in 32 bits,
  /// those of bytes two strips at a time.
  template <class Shared, class Release>
  AREAL_DEVICE void by_rows(Shared& s, const typename K::Place& at, int first, std::int64_t x, Sums (&table)[strips],
                            const Release& release) {
    static constexpr int words = P::packed ? strips / 2 : strips;
    add_left_of_columns(table);
    AREAL_UNROLL
    for (int top = 0; top < rows; top += group) {
      typename P::Line lines[group][strips];
      Local own[group][words], scan[group][words];
      AREAL_UNROLL
      for (int i = 0; i < group; ++i) {
        AREAL_UNROLL
        for (int n = 0; n < words; ++n) own[i][n] = 0;
        AREAL_UNROLL
        for (int p = 0; p < strips; ++p) {
          lines[i][p] = {};
          if (here(top + i) && x + p * P::strip < a_.width)
            lines[i][p] = k_.line(s, at, first + top + i, p * warp_size + m_.lane());
          if constexpr (P::packed)
            own[i][p / 2] |= sum_of<P>(m_, lines[i][p]) << (p % 2 * 16);
          else
            own[i][p] = sum_of<P>(m_, lines[i][p]);
        }
        AREAL_UNROLL
        for (int n = 0; n < words; ++n) scan[i][n] = own[i][n];
      }
      if (top + group >= rows) release();
      scan_all(scan);
      AREAL_UNROLL
      for (int i = 0; i < group; ++i)
        if (here(top + i)) {
          Local beyond = 0;  // sum of the row's strips before
          AREAL_UNROLL
          for (int p = 0; p < strips; ++p) {
            const int n = P::packed ? p / 2 : p;
            Local before = scan[i][n] - own[i][n], last = m_.shuffle(scan[i][n], warp_size - 1);
            if constexpr (P::packed) {
              before = p % 2 == 0 ? before & 0xffffu : before >> 16;
              last = p % 2 == 0 ? last & 0xffffu : last >> 16;
            }
            const Vec<Local, V> sums = prefixes_of<P>(m_, lines[i][p], before + beyond);
            AREAL_UNROLL
            for (int v = 0; v < V; ++v) table[p].at[v] += left_[top + i] + static_cast<T>(sums.at[v]);
            store(top + i, table[p], x + p * P::strip);
            beyond += last;
          }
          left_[top + i] += static_cast<T>(beyond);
        }
    }
  }

  /// Turns the column sums above the rows into the table's row above.
  AREAL_DEVICE void add_left_of_columns(Sums (&table)[strips]) {
    T total[strips];
    AREAL_UNROLL
    for (int p = 0; p < strips; ++p) {
      T run = 0;
      AREAL_UNROLL
      for (int v = 0; v < V; ++v) table[p].at[v] = run += table[p].at[v];
      total[p] = run;
    }
    AREAL_UNROLL
    for (int n = 1; n < warp_size; n *= 2) {
      AREAL_UNROLL
      for (int p = 0; p < strips; ++p) {
        const T more = m_.shuffle_up(total[p], n);
        if (m_.lane() >= n) total[p] += more;
      }
    }
    AREAL_UNROLL
    for (int p = 0; p < strips; ++p) {
      T before = m_.shuffle_up(total[p], 1);
      if (m_.lane() == 0) before = 0;
      before += corner_;
      AREAL_UNROLL
      for (int v = 0; v < V; ++v) table[p].at[v] += before;
      corner_ += m_.shuffle(total[p], warp_size - 1);
    }
  }

  template <class S, int n_words>
  AREAL_DEVICE void scan_all(S (&scan)[group][n_words]) const {
    AREAL_UNROLL
    for (int n = 1; n < warp_size; n *= 2) {
      AREAL_UNROLL
      for (int y = 0; y < group; ++y) {
        AREAL_UNROLL
        for (int i = 0; i < n_words; ++i) {
          const S more = m_.shuffle_up(scan[y][i], n);
          if (m_.lane() >= n) scan[y][i] += more;
        }
      }
    }
  }

  /// Stores the sums from column x on, in row y.
  AREAL_DEVICE void store(int y, const Sums& sums, std::int64_t x) {
    char* const to = row_ + y * a_.table_row + direction * x * size - (K::reverse ? (V - 1) * size : 0);
    if (x < a_.width) m_.store_streaming(reinterpret_cast<Sums*>(to), mirrored<K::reverse>(sums));
  }

  const K& k_;
  const typename K::Machine& m_;
  const typename K::Args& a_;
  char* row_ = nullptr;  // the first entry of the writer's first row
  int down_ = 0;         // rows
  T corner_ = 0;         // the sum left of the step and above these rows
  T left_[rows] = {};    // sums left of the step, of each row's pixels or of all rows above too
};

}  // namespace areal::kernels
