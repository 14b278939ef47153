#pragma once
// The votes of 40 fragments on the places of a tracker's search: two kernels, for any tensor and for that of 16 bins of
// 32-bit counts. A block has up to 16 neighbouring places of one row, in one scale of one box, and writes the best.

#include "kernels/query/fragment_search.hpp"

namespace areal::kernels {

/// Bytes from the tensor's first element to the corners of a window; -1 where the tensor has no element, which counts
/// 0.
struct WindowCorners {
  std::int64_t top_left, top_right, bottom_left, bottom_right;
};
AREAL_DEVICE WindowCorners window_corners(const TableArgs& table, const Region& window) {
  const std::int64_t x = window.x - table.shift, y = window.y - table.shift;
  const std::int64_t at = y * table.row + x * table.column;
  const std::int64_t right = window.width * table.column, down = window.height * table.row;
  return {x >= 0 && y >= 0 ? at : -1, y >= 0 ? at + right : -1, x >= 0 ? at + down : -1, at + down + right};
}

/// A window's count in one bin, in the order of the CPU's subtractions: integers modulo 2^k, floats rounded alike.
template <class T, class M>
AREAL_DEVICE T window_count(const M& m, const TableArgs& table, const WindowCorners& at, std::int64_t plane,
                            Site site = AREAL_HERE) {
  const auto element = [&](std::int64_t offset) {
    return offset < 0 ? T(0) : load_element<M, T>(m, table.data + plane + offset, table.aligned, site);
  };
  const T top_left = element(at.top_left), top_right = element(at.top_right);
  const T bottom_left = element(at.bottom_left), bottom_right = element(at.bottom_right);
  return static_cast<T>(bottom_right - bottom_left - top_right + top_left);
}

/// Any number of bins of any type. A thread a place and fragment, twice; reads 8 elements a bin of those but the last,
/// of that 4, and the shares. Block of 320 threads: 2 barriers.
template <class M, class C>
struct FragmentVotes {
  using T = typename C::T;
  using Args = FragmentsArgs;
  static constexpr int threads = 320, resident = 2;
  struct Shared {
    VotesOfBlock votes;
  };
  M m;
  Args a;

  AREAL_DEVICE void operator()() {
    Shared& s = m.template shared<Shared>();
    const PlacesOfBlock p = places_of_block(m, a);
    if (p.count == 0) return store_none(m, a);
    const int place = m.thread() % places_of_a_block;
    if (place < p.count)
      for (int i = m.thread() / places_of_a_block; i < fragments_of_a_box; i += threads / places_of_a_block)
        m.put(s.votes.at[i][place], distance(p, place, i));
    store_best<threads>(m, a, p, s.votes);
  }

  AREAL_DEVICE double distance(const PlacesOfBlock& p, int place, int i) {
    Region window = formulas::fragment(p.from.width, p.from.height, formulas::fragment_place(i));
    window.x += p.left + place, window.y += p.top;
    const WindowCorners at = window_corners(a.first, window);
    const double* const shares = a.shares + (static_cast<std::int64_t>(p.box) * fragments_of_a_box + i) * a.bins;
    double total = 0;
    for (int bin = 0; bin < a.bins; ++bin) total += static_cast<double>(window_count<T>(m, a.first, at, bin * a.plane));
    const double inverse = formulas::inverse_of(total);
    double count = 0, sum = 0;
    for (int bin = 0; bin + 1 < a.bins; ++bin) {
      count += static_cast<double>(window_count<T>(m, a.first, at, bin * a.plane));
      sum = formulas::with_emd_bin(sum, count, inverse, m.load(shares + bin));
    }
    return formulas::emd_of(sum, !(inverse > 0), !(m.load(shares + a.bins - 1) > 0), a.bins - 1);
  }
};

/// 16 bins of 32-bit counts, of an image of less than 2^32 pixels. The fragments meet in 11 + 3 edges along each axis:
/// their corners are 33 + 33 points, whose elements a block reads once for its places, bin by bin (16 * 66 a place). Of
/// points opposite to one another it keeps the difference, summed up over the bins: a fragment's cumulative histogram
/// is then the difference of two of 44 lines. Reads beside these the box, the scale and the shares (640). Neighbouring
/// places are read side by side. Block of 352 threads, one for each fine edge and place: 4 barriers. Three blocks need 56
/// registers a thread; before sm_80 a multiprocessor has threads for two, and ptxas says so.
template <class M, class C>
struct FragmentVotes16 {
  using Args = FragmentsArgs;
  static constexpr int bins = 16;
  static constexpr int fine = formulas::fine_pieces + 1, coarse = formulas::coarse_pieces + 1;
  static constexpr int threads = 2 * fine * places_of_a_block, resident = 3;
  static constexpr int strips = 2 * formulas::coarse_pieces;
  struct Shared {
    std::uint32_t counts[strips][bins][fine][places_of_a_block];  // cumulative
    double shares[fragments_of_a_box][bins + 1];  // 17, not 16: a warp reads those of two fragments at once
    VotesOfBlock votes;
    double inverse[fragments_of_a_box];  // of a fragment's pixels
    std::uint32_t pixels[fragments_of_a_box];
    std::int32_t fine_edge[2][fine], coarse_edge[2][coarse];  // along x and y
  };
  M m;
  Args a;

  AREAL_DEVICE void operator()() {
    Shared& s = m.template shared<Shared>();
    const PlacesOfBlock p = places_of_block(m, a);
    if (p.count == 0) return store_none(m, a);
    lay_out(s, p);
    m.sync();
    sum_up(s, p);
    m.sync();
    vote(s, p);
    store_best<threads>(m, a, p, s.votes);
  }

  AREAL_DEVICE void lay_out(Shared& s, const PlacesOfBlock& p) {
    const int t = m.thread();
    if (t < 2 * fine) {
      m.put(s.fine_edge[t / fine][t % fine], edge(p, t / fine, t % fine, formulas::fine_pieces));
    } else if (t >= warp_size && t < warp_size + 2 * coarse) {
      const int i = t - warp_size;
      m.put(s.coarse_edge[i / coarse][i % coarse], edge(p, i / coarse, i % coarse, formulas::coarse_pieces));
    } else if (t >= 2 * warp_size && t < 2 * warp_size + fragments_of_a_box) {
      const int i = t - 2 * warp_size;
      const Region r = formulas::fragment(p.from.width, p.from.height, formulas::fragment_place(i));
      const auto pixels = static_cast<std::uint32_t>(r.width * r.height);
      m.put(s.pixels[i], pixels);
      m.put(s.inverse[i], formulas::inverse_of(pixels));
    }
    const double* const shares = a.shares + static_cast<std::int64_t>(p.box) * fragments_of_a_box * bins;
    for (int i = t; i < fragments_of_a_box * bins; i += threads)
      m.put(s.shares[i / bins][i % bins], m.load(shares + i));
  }
  AREAL_DEVICE std::int32_t edge(const PlacesOfBlock& p, int axis, int index, int pieces) {
    return static_cast<std::int32_t>(formulas::piece_edge(axis == 0 ? p.from.width : p.from.height, index, pieces));
  }

  /// A thread has a fine edge of columns or of lines, and on it the three coarse edges' points.
  AREAL_DEVICE void sum_up(Shared& s, const PlacesOfBlock& p) {
    const int place = m.thread() % places_of_a_block, line = m.thread() / places_of_a_block;
    if (place >= p.count) return;
    const bool is_line = line >= fine;
    const int e = is_line ? line - fine : line;
    std::int64_t at[coarse];
    const std::int64_t fine_edge = m.get(s.fine_edge[is_line][e]);
    AREAL_UNROLL
    for (int k = 0; k < coarse; ++k) {
      const std::int64_t coarse_edge = m.get(s.coarse_edge[!is_line][k]);
      const std::int64_t x = p.left + place + (is_line ? coarse_edge : fine_edge) - a.first.shift;
      const std::int64_t y = p.top + (is_line ? fine_edge : coarse_edge) - a.first.shift;
      at[k] = x < 0 || y < 0 ? -1 : y * a.first.row + x * a.first.column;
    }
    std::uint32_t first = 0, second = 0;
    const char* plane = a.first.data;
    AREAL_UNROLL
    for (int bin = 0; bin < bins; ++bin, plane += a.plane) {
      std::uint32_t point[coarse];
      AREAL_UNROLL
      for (int k = 0; k < coarse; ++k)
        point[k] = at[k] < 0 ? 0 : m.load(reinterpret_cast<const std::uint32_t*>(plane + at[k]));
      first += point[1] - point[0];
      second += point[2] - point[1];
      m.put(s.counts[2 * is_line][bin][e][place], first);
      m.put(s.counts[2 * is_line + 1][bin][e][place], second);
    }
  }

  AREAL_DEVICE void vote(Shared& s, const PlacesOfBlock& p) {
    const int place = m.thread() % places_of_a_block;
    if (place >= p.count) return;
    for (int i = m.thread() / places_of_a_block; i < fragments_of_a_box; i += threads / places_of_a_block) {
      const int strip = i / formulas::fine_pieces, piece = i % formulas::fine_pieces;
      const auto count = [&](int bin) {
        return m.get(s.counts[strip][bin][piece + 1][place]) - m.get(s.counts[strip][bin][piece][place]);
      };
      const std::uint32_t total = count(bins - 1);
      // Nearly always every pixel is counted.
      const double inverse = total == m.get(s.pixels[i]) ? m.get(s.inverse[i]) : formulas::inverse_of(total);
      double sum = 0;
      AREAL_UNROLL
      for (int bin = 0; bin < bins - 1; ++bin)
        sum = formulas::with_emd_bin(sum, static_cast<double>(count(bin)), inverse, m.get(s.shares[i][bin]));
      m.put(s.votes.at[i][place], formulas::emd_of(sum, total == 0, !(m.get(s.shares[i][bins - 1]) > 0), bins - 1));
    }
  }
};

}  // namespace areal::kernels
