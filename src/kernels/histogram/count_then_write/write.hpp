#pragma once
// count-then-write, second launch: the tensor. A block writes one bin of a band of rows over a chunk of columns, row by
// row; each warp has a segment of it.

#include <cstdint>
#include "kernels/histogram/count_then_write/tiles.hpp"
#include "kernels/histogram/count_then_write/warp_add.hpp"
#include "kernels/primitives/machine.hpp"
#include "kernels/primitives/warp/warp.hpp"

namespace areal::kernels {

/// sides: a row has several blocks. A multiprocessor of 64 Ki registers holds blocks of 64 registers a thread.
template <class T_, int warps_, bool sides_>
struct CountThenWriteOutput {
  using T = T_;
  static constexpr int warps = warps_;
  static constexpr bool sides = sides_;
};

template <class M, class C>
struct CountThenWriteWrite {
  using T = typename C::T;
  using Args = CountThenWriteArgs;
  static constexpr int warps = C::warps, threads = warps * warp_size;
  static constexpr int resident = most_segments * 2 / warps < 8 ? most_segments * 2 / warps : 8;
  static constexpr int step = 8, quads = step / 4;  // rows for each barrier
  static constexpr int ahead = 16;                  // bands whose counts are loaded at once
  /// From this number of bins on, the bands of a bin follow each other, which lie together in the tensor. One H200,
  /// fractions of a memset, bins and bands first: 1920x1080x32 0.84, 0.84; x128 0.87, 0.89; 3840x2160x32 0.83, 0.82;
  /// x256 0.82, 0.85.
  static constexpr int many_bins = 128;

  /// The counts that warps exchange, and each lane's own numbers of this step and the next.
  struct Columns {
    Square ring[2][warps][quads][warp_size];
    std::uint32_t totals[2][quads][warps];  // of a segment's 4 rows, a byte each
    std::uint32_t anchors[warps];
  };
  struct Sides : Columns {
    std::uint32_t left[most_band_rows];  // of the chunk, in each row of the band
    std::uint32_t corners[warps];
  };
  using Shared = std::conditional_t<C::sides, Sides, Columns>;

  struct Place {
    std::int64_t image;
    int bin, band, chunk, segment, rows;  // segment: the warp's, of the row
    bool mine;                            // this warp has a segment
    std::int64_t x;                       // of the lane's first column
  };

  M m;
  Args a;

  AREAL_DEVICE void operator()() {
    Shared& s = m.template shared<Shared>();
    const Place place = find();
    if constexpr (C::sides) {
      for (int y = m.thread(); y < most_band_rows; y += threads) m.put(s.left[y], 0u);
      m.sync();
    }
    m.wait_previous_launch();
    const Square* const numbers = a.numbers_of(place.image, place.bin / a.group, place.band) +
                                  static_cast<std::int64_t>(place.segment) * warp_size + m.lane();
    fetch(s, place, numbers, 0);
    std::uint32_t sum[4];  // the tensor's row above, then each row
    anchor(s, place, sum);
    char* to = a.tensor + place.image * a.out.batch + place.bin * a.out.channel +
               static_cast<std::int64_t>(place.band) * a.rows * a.out.row +
               place.x * static_cast<std::int64_t>(sizeof(T));
    const std::uint32_t key = static_cast<std::uint32_t>(place.bin % a.group) * 0x01010101u;
    for (int y = 0; y < place.rows; y += step) {
      std::uint32_t before[quads];
      if (place.mine) {
        m.template wait_copies<0>();
        AREAL_UNROLL
        for (int q = 0; q < quads; ++q) before[q] = y + q * 4 < place.rows ? scan(s, y, q, key) : 0;
        fetch(s, place, numbers, y + step);  // overwrites what only this thread has read, in the step before
      }
      m.sync();
      if (place.mine) AREAL_UNROLL
      for (int q = 0; q < quads; ++q)
        if (y + q * 4 < place.rows) write_quad(s, place, y, q, key, before[q], sum, to);
    }
  }

  AREAL_DEVICE Place find() const {
    auto at = static_cast<std::uint32_t>(m.block());  // a grid has fewer blocks than 2^31
    Place place;
    if (a.bins < many_bins) {
      place.chunk = static_cast<int>(at % a.chunks), at /= a.chunks;
      place.bin = static_cast<int>(at % a.bins), at /= a.bins;  // all bins of a band while its numbers are cached
      place.band = static_cast<int>(at % a.bands), at /= a.bands;
    } else {
      place.band = static_cast<int>(at % a.bands), at /= a.bands;
      place.bin = static_cast<int>(at % a.bins), at /= a.bins;
      place.chunk = static_cast<int>(at % a.chunks), at /= a.chunks;
    }
    place.image = at;
    place.rows = a.rows_of(place.band);
    place.segment = place.chunk * a.chunk + m.warp();
    place.mine = m.warp() < a.chunk && place.segment < a.segments;
    place.x = static_cast<std::int64_t>(place.segment) * segment_width + m.lane() * 4;
    return place;
  }

  AREAL_DEVICE void fetch(Shared& s, const Place& place, const Square* numbers, int y) {
    if (place.mine) AREAL_UNROLL
    for (int q = 0; q < quads; ++q)
      if (y + q * 4 < place.rows)
        m.copy_async(s.ring[y / step % 2][m.warp()][q][m.lane()],
                     numbers + static_cast<std::int64_t>(y / 4 + q) * a.segments * warp_size);
    m.commit_copies();
  }

  /// The finished row above the band: the column counts of the bands above, then summed along the row.
  AREAL_DEVICE void anchor(Shared& s, const Place& place, std::uint32_t (&sum)[4]) {
    const std::int64_t band = static_cast<std::int64_t>(a.bins) * a.segments;  // from one to the next
    if (place.mine) {
      ByteSums above;
      const std::uint32_t* from = a.columns + a.tile(place.image, 0, place.bin, place.segment) * warp_size + m.lane();
      for (int k = 0; k < place.band; k += ahead, from += ahead * band * warp_size) {
        std::uint32_t words[ahead] = {};
        AREAL_UNROLL
        for (int i = 0; i < ahead; ++i)
          if (k + i < place.band) words[i] = m.load(from + i * band * warp_size);
        AREAL_UNROLL
        for (int i = 0; i < ahead; ++i) above.add(words[i]);
      }
      AREAL_UNROLL
      for (int v = 0; v < 4; ++v) sum[v] = above.of(v) + (v > 0 ? sum[v - 1] : 0u);
      const std::uint32_t all = warp_scan(m, sum[3]), before = all - sum[3];
      AREAL_UNROLL
      for (int v = 0; v < 4; ++v) sum[v] += before;
      if (m.lane() == warp_size - 1) m.put(s.anchors[m.warp()], all);
    }
    if constexpr (C::sides) sum_left_of_chunk(s, place, band);
    m.sync();
    if (!place.mine) return;
    std::uint32_t left = m.lane() < m.warp() ? m.get(s.anchors[m.lane()]) : 0u;
    if constexpr (C::sides) left += m.lane() < warps ? m.get(s.corners[m.lane()]) : 0u;
    left = warp_add(m, left);
    AREAL_UNROLL
    for (int v = 0; v < 4; ++v) sum[v] += left;
  }

  /// The counts left of the chunk, in each row of the band and in all bands above.
  AREAL_DEVICE void sum_left_of_chunk(Shared& s, const Place& place, std::int64_t band) {
    if constexpr (C::sides) {
      const int first = place.chunk * a.chunk;
      ByteSums rows;
      for (int k = m.warp(); k < first; k += warps)
        rows.add(m.load(a.sides + a.tile(place.image, place.band, place.bin, k) * warp_size + m.lane()));
      if (m.warp() < first) AREAL_UNROLL
      for (int i = 0; i < most_band_rows / warp_size; ++i) m.shared_add(s.left[i * warp_size + m.lane()], rows.of(i));
      const std::uint32_t* const totals = a.totals + a.tile(place.image, 0, place.bin, 0);
      std::uint32_t corner = 0;
      for (int k = m.warp(); k < place.band; k += warps)
        for (int i = m.lane(); i < first; i += warp_size) corner += m.load(totals + k * band + i);
      corner = warp_add(m, corner);
      if (m.lane() == 0) m.put(s.corners[m.warp()], corner);
    }
  }

  /// The pixels of the bin left of the lane's columns in each of 4 rows, a byte each, within the segment.
  AREAL_DEVICE std::uint32_t scan(Shared& s, int y, int q, std::uint32_t key) {
    const Square numbers = m.get(s.ring[y / step % 2][m.warp()][q][m.lane()]);
    std::uint32_t own = 0;
    AREAL_UNROLL
    for (int i = 3; i >= 0; --i) own = m.dot4(equal_numbers(numbers.at[i], key), 0x01010101u, own << 8);
    const std::uint32_t all = warp_scan(m, own);
    if (m.lane() == warp_size - 1) m.put(s.totals[y / step % 2][q][m.warp()], all);
    return all - own;
  }

  AREAL_DEVICE void write_quad(Shared& s, const Place& place, int y, int q, std::uint32_t key, std::uint32_t before,
                               std::uint32_t (&sum)[4], char*& to) {
    // 16 segments of 128 columns fit 16 bits.
    const std::uint32_t total = m.lane() < m.warp() ? m.get(s.totals[y / step % 2][q][m.lane()]) : 0u;
    ByteSums left_sums;
    left_sums.add(total);
    left_sums.even = warp_add(m, left_sums.even), left_sums.odd = warp_add(m, left_sums.odd);
    const Square numbers = m.get(s.ring[y / step % 2][m.warp()][q][m.lane()]);
    AREAL_UNROLL
    for (int i = 0; i < 4; ++i, to += a.out.row) {
      const int row = y + q * 4 + i;
      if (row >= place.rows) return;
      std::uint32_t left = left_sums.of(i);
      if constexpr (C::sides) left += m.get(s.left[row]);
      left = m.dot4(before, 1u << (8 * i), left);
      const std::uint32_t equal = equal_numbers(numbers.at[i], key);
      AREAL_UNROLL
      for (int v = 0; v < 4; ++v) sum[v] = m.dot4(equal, 0x01010101u >> (24 - 8 * v), sum[v] + left);
      store(place, to, sum);
    }
  }
  AREAL_DEVICE void store(const Place& place, char* to, const std::uint32_t (&sum)[4]) {
    if (place.x + 4 <= a.width) {
      Vec<T, 4> line;
      AREAL_UNROLL
      for (int v = 0; v < 4; ++v) line.at[v] = static_cast<T>(sum[v]);
      m.store_streaming(reinterpret_cast<Vec<T, 4>*>(to), line);
    } else {
      AREAL_UNROLL
      for (int v = 0; v < 3; ++v)
        if (place.x + v < a.width) m.store_streaming(reinterpret_cast<T*>(to) + v, static_cast<T>(sum[v]));
    }
  }
};

}  // namespace areal::kernels
