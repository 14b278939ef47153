#pragma once
// Scans of the rows of matrices, in place, by a block's scan in shared memory (tree.hpp), which is exclusive: threads
// add back the elements, which they kept. Reads 1, writes 1 per element, coalesced: thread t moves the elements t, t +
// threads, .. of its piece, whose length is a power of two; zeros fill its end. Longer lines are several pieces: of one
// block, one after another (Poostchi 2017), or of several blocks, which add their sums in two more launches (Lee, Choe
// 2014).

#include <algorithm>
#include <bit>
#include "kernels/primitives/line/tree.hpp"
#include "kernels/primitives/planes.hpp"

namespace areal::kernels {

struct PrescanArgs {
  Planes of;
  std::int64_t height = 0;  ///< rows of a matrix
  std::int64_t length = 0;  ///< of a row
  std::int64_t first = 0;   ///< the first block's row, of those of all matrices
  std::int64_t pieces = 1, pieces_a_block = 1;
  int piece = 1;           ///< elements, a power of two
  bool exclusive = false;  ///< the elements are not added back
  Matrix sums;             ///< [row][piece], if not empty: each block's total
};

/// T: the elements' type; threads, and elements of each of them at most.
template <class T_, class Map_, int threads_, int per_>
struct PrescanConfig {
  using T = T_;
  using Map = Map_;
  static constexpr int threads = threads_, per = per_;
};

template <class M, class C>
struct Prescan {
  using T = typename C::T;
  using A = Added<T>;
  using Map = typename C::Map;
  using Args = PrescanArgs;
  static constexpr int threads = C::threads, resident = 1;
  struct Shared {
    A cell[Map::cells(threads * C::per)];
    A total;
  };
  M m;
  Args a;

  AREAL_DEVICE void operator()() {
    Shared& s = m.template shared<Shared>();
    const std::int64_t blocks_a_row = (a.pieces + a.pieces_a_block - 1) / a.pieces_a_block;
    const std::int64_t line = a.first + m.block() / blocks_a_row, begin = m.block() % blocks_a_row * a.pieces_a_block;
    const std::int64_t end = begin + a.pieces_a_block < a.pieces ? begin + a.pieces_a_block : a.pieces;
    const Matrix matrix = a.of.of(line / a.height);
    const std::int64_t y = line % a.height;
    A before = 0;  // the sum of this block's pieces
    for (std::int64_t piece = begin; piece < end; ++piece) {
      if (piece > begin) m.sync();  // all threads have read the previous piece
      before += scan(s, matrix, y, piece * a.piece, before, piece + 1 < end);
    }
    if (a.sums.first != nullptr && m.thread() == 0) store(m, a.sums, line, begin, static_cast<T>(m.get(s.total)));
  }

  /// Scans one piece; returns its sum to all threads if it is needed.
  AREAL_DEVICE A scan(Shared& s, const Matrix& matrix, std::int64_t y, std::int64_t x, A before, bool sum) {
    A own[C::per];
    AREAL_UNROLL
    for (int k = 0; k < C::per; ++k) {
      const int i = m.thread() + k * threads;
      own[k] = i < a.piece && x + i < a.length ? load<A, T>(m, matrix, y, x + i) : A(0);
      if (i < a.piece) m.put(s.cell[Map::at(i)], own[k]);
    }
    exclusive_scan<Map, threads>(m, s.cell, a.piece, s.total);
    AREAL_UNROLL
    for (int k = 0; k < C::per; ++k) {
      const int i = m.thread() + k * threads;
      if (i >= a.piece || x + i >= a.length) continue;
      const A scanned = before + m.get(s.cell[Map::at(i)]);
      store(m, matrix, y, x + i, static_cast<T>(a.exclusive ? scanned : scanned + own[k]));
    }
    return sum ? m.get(s.total) : A(0);
  }
};

/// f.operator()<threads>(), for the smallest of most / 16, most / 4, most / 2 and most threads that have two elements
/// each of a row.
template <int most, class F>
void with_threads(std::int64_t length, const F& f) {
  if (length <= most / 8)
    f.template operator()<most / 16>();
  else if (length <= most / 2)
    f.template operator()<most / 4>();
  else if (length <= most)
    f.template operator()<most / 2>();
  else
    f.template operator()<most>();
}
/// The elements of a piece: the row's, up to the next power of two, or as many as a block holds.
inline int piece_of(std::int64_t length, int most) {
  return static_cast<int>(std::bit_ceil(static_cast<std::uint64_t>(std::min<std::int64_t>(length, most))));
}

/// A block a row, from row `first` on, for `count` rows or all. Harris' padding.
template <class T, int most, class Launcher>
void prescan(Launcher& launcher, const Planes& of, std::int64_t height, std::int64_t length, std::int64_t first,
             std::int64_t count) {
  with_threads<most>(length, [&]<int threads>() {
    PrescanArgs a;
    a.of = of, a.height = height, a.length = length, a.first = first;
    a.piece = piece_of(length, 2 * threads);
    a.pieces = a.pieces_a_block = blocks_of(length, a.piece);
    launcher.template launch<Prescan, PrescanConfig<T, PaddedBanks<>, threads, 2>>(count, a, false);
  });
}

}  // namespace areal::kernels
