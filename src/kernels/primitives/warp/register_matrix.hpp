#pragma once
// The register cache of Chen 2018 (IV): a warp holds 32 x 32 elements, 32 registers a thread. Loads, stores,
// transposes, and adds the sums of the warps before.

#include "kernels/primitives/matrix.hpp"

namespace areal::kernels {

/// Registers of a thread that hold elements: the paper's C. Equal to the lanes, as transposing needs.
inline constexpr int cached = warp_size;

/// Threads of a block whose registers hold 4096 bytes of each of its 32 lines: 512 for sums of 8 bytes, else 1024.
template <class T>
inline constexpr int row_threads = 4096 / static_cast<int>(sizeof(T));

/// One pass over a matrix of height x width elements: `from` becomes `to`, which may be transposed.
struct PassArgs {
  Matrix from, to;
  std::int64_t height = 0, width = 0;
};

/// Global addresses of a thread's registers: row j of `place` is register j; only the first `count` have one.
struct Strip {
  Matrix place;
  int count = 0;
  bool whole = false;  ///< all registers of all lanes have aligned addresses
};

/// The lines of a thread or block that handles at most `most` of the `left` ones.
AREAL_DEVICE int at_most(std::int64_t left, int most) {
  return left >= most ? most : left > 0 ? static_cast<int>(left) : 0;
}

/// A lane's column of the warp's 32 x 32 elements from (y, x) on, in a matrix of height x width.
template <class T, class M>
AREAL_DEVICE Strip column_strip(const M& m, const Matrix& of, std::int64_t y, std::int64_t x, std::int64_t height,
                                std::int64_t width) {
  const int rows = at_most(height - y, cached);
  return {{of.at(y, x + m.lane(), sizeof(T)), of.pitch, of.aligned},
          x + m.lane() < width ? rows : 0,
          of.aligned && rows == cached && x + warp_size <= width};
}

/// Every 32nd of the 1024 elements of row y from x on.
template <class T, class M>
AREAL_DEVICE Strip row_strip(const M& m, const Matrix& of, std::int64_t y, std::int64_t x, std::int64_t width) {
  const std::int64_t left = width - x - m.lane();
  return {{of.at(y, x + m.lane(), sizeof(T)), warp_size * static_cast<std::int64_t>(sizeof(T)), of.aligned},
          at_most((left + warp_size - 1) / warp_size, cached),
          of.aligned && x + cached * warp_size <= width};
}

/// Registers without an element become 0. 32 coalesced reads of a warp.
template <class From, class T, class M>
AREAL_DEVICE void load_registers(const M& m, const Strip& from, T (&data)[cached], Site site = AREAL_HERE) {
  if (from.whole) {  // branch-free, so that all loads are in flight at once
    const Matrix place{from.place.first, from.place.pitch, true};
    AREAL_UNROLL
    for (int j = 0; j < cached; ++j) data[j] = load<T, From>(m, place, j, 0, site);
    return;
  }
  AREAL_UNROLL
  for (int j = 0; j < cached; ++j) data[j] = j < from.count ? load<T, From>(m, from.place, j, 0, site) : T(0);
}

template <class T, class M>
AREAL_DEVICE void store_registers(const M& m, const Strip& to, const T (&data)[cached], Site site = AREAL_HERE) {
  if (to.whole) {
    const Matrix place{to.place.first, to.place.pitch, true};
    AREAL_UNROLL
    for (int j = 0; j < cached; ++j) store(m, place, j, 0, data[j], site);
    return;
  }
  AREAL_UNROLL
  for (int j = 0; j < cached; ++j)
    if (j < to.count) store(m, to.place, j, 0, data[j], site);
}

/// Algorithm 2 in each lane: 31 additions.
template <class T>
AREAL_DEVICE void serial_scan(T (&data)[cached]) {
  AREAL_UNROLL
  for (int j = 1; j < cached; ++j) data[j] += data[j - 1];
}

/// Shared memory of the block-register-local-transpose: S matrices, used by S warps at a time.
template <class T>
struct TransposeBuffers {
  static constexpr int count = 32 / static_cast<int>(sizeof(T));  // S
  T at[count][cached][warp_size + 1];                             // 33, not 32: a column would be in one bank
};

/// Algorithm 5, the block-register-local-transpose, by all threads of a block. A matrix costs 1024 writes and 1024
/// reads of shared memory without a conflict; the block ceil(warps / S) barriers. The paper's barrier is in a branch
/// that some warps skip; here all warps reach it, also those without a matrix.
template <int warps, class T, class M>
AREAL_DEVICE void transpose_registers(const M& m, TransposeBuffers<T>& buffers, T (&data)[cached], bool mine) {
  constexpr int at_a_time = TransposeBuffers<T>::count;
  for (int first = 0; first < warps; first += at_a_time) {
    if (mine && first <= m.warp() && m.warp() < first + at_a_time) {
      auto& buffer = buffers.at[m.warp() - first];
      AREAL_UNROLL
      for (int j = 0; j < cached; ++j) m.put(buffer[j][m.lane()], data[j]);
      m.sync_warp();  // lanes of a warp do not run in lockstep since Volta
      AREAL_UNROLL
      for (int j = 0; j < cached; ++j) data[j] = m.get(buffer[m.lane()][j]);
    }
    m.sync();
  }
}

/// Figure 3c, by all threads of a block whose first `here` warps hold a matrix, summed in each lane: adds the sums of
/// the warps before, and `carry`, the lane's sum over the block's previous columns, which the first warp keeps. 2
/// barriers; a matrix costs 64 writes and 64 reads of shared memory. The paper leaves open how the sums of the warps
/// are summed: here one warp does it, serially, a lane for each line.
template <int warps, class T, class M>
AREAL_DEVICE void add_warps_before(const M& m, T (&partial)[warps][warp_size], T (&data)[cached], int here, T& carry) {
  if (m.warp() < here) m.put(partial[m.warp()][m.lane()], data[cached - 1]);
  m.sync();
  if (m.warp() == 0)
    for (int i = 0; i < here; ++i) {
      T& cell = partial[i][m.lane()];
      const T more = m.get(cell);
      m.put(cell, carry);
      carry += more;
    }
  m.sync();
  if (m.warp() >= here) return;
  const T before = m.get(partial[m.warp()][m.lane()]);
  AREAL_UNROLL
  for (int j = 0; j < cached; ++j) data[j] += before;
}

}  // namespace areal::kernels
