#pragma once
// The votes of 40 fragments on the places of a tracker's search: two kernels, for any tensor and for that of 16 bins of
// 32-bit counts. A block has up to 16 neighbouring places of one row, in one scale of one box, and writes the best.

#include "kernels/query/fragment_search.hpp"

namespace areal::kernels {

/// Byte offsets of a window's corners from the tensor's first element; -1 where the tensor has no element, which counts
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

/// Any number of bins of any type. A thread a place and fragment, twice; reads 8 elements a bin (4 for the last one)
/// and the shares. Block of 320 threads: 2 barriers.
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
    m.wait_previous_launch();
    m.trigger_next_launch();
    TrackedBox from;
    const PlacesOfBlock p = places_of_block(m, a, from);
    if (p.count == 0) return store_none(m, a);
    const int place = m.thread() % places_of_a_block;
    if (place < p.count)
      for (int i = m.thread() / places_of_a_block; i < fragments_of_a_box; i += threads / places_of_a_block)
        m.put(s.votes.at[i][place], distance(p, from, place, i));
    store_best<threads>(m, a, p, s.votes);
  }

  AREAL_DEVICE double distance(const PlacesOfBlock& p, const TrackedBox& from, int place, int i) {
    Region window = formulas::fragment(from.width, from.height, formulas::fragment_place(i));
    window.x += p.left + place, window.y += p.top;
    const WindowCorners at = window_corners(a.first, window);
    const double* const shares = a.shares + (box_of_block(a, m.block()) * fragments_of_a_box + i) * a.bins;
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

/// 16 bins of 32-bit counts, of an image of less than 2^32 pixels. The fragments' edges are 11 + 3 lines along each
/// axis: their corners are 33 + 33 points, whose elements a block reads once for its places, bin by bin (16 * 66 a
/// place). It keeps the differences between opposite points, cumulative over the bins: a fragment's cumulative
/// histogram is then the difference of two of 44 lines. One warp computes the fragments' positions from the box and the
/// scale; the others fetch the shares (640). Reads of adjacent places are coalesced. Block of 352 threads, one for each
/// fine edge and place, then one for each two fragments and place: 4 barriers. Before sm_80 a multiprocessor has
/// threads for two blocks, and ptxas warns.
template <class M, class C>
struct FragmentVotes16 {
  using Args = FragmentsArgs;
  static constexpr int bins = 16;
  static constexpr int fine = formulas::fine_pieces + 1, coarse = formulas::coarse_pieces + 1;
  static constexpr int threads = 2 * fine * places_of_a_block, resident = 3;
  static constexpr int strip_count = 2 * formulas::coarse_pieces, pairs = formulas::fine_pieces / 2;
  static constexpr int cells = 2 * pairs + 2;  // of the fine edges: the even ones, a gap, the odd ones
  struct Strip {
    std::uint32_t counts[bins][cells][places_of_a_block];  // cumulative
    std::uint32_t gap[places_of_a_block];                  // a warp reads two strips' at once
  };
  struct Shared {
    Strip strips[strip_count];
    double shares[fragments_of_a_box][bins + 1];  // 17, not 16: a warp reads two lines of them at once
    VotesOfBlock votes;
    double inverse[fragments_of_a_box];  // of a fragment's pixels
    std::uint32_t pixels[fragments_of_a_box];
    std::int32_t edge[2 * (fine + coarse)];  // the fine ones along x and y, then the coarse ones
    std::int64_t left, top, dx, dy;
    double factor;
    int scale, count;
  };
  M m;
  Args a;

  AREAL_DEVICE void operator()() {
    Shared& s = m.template shared<Shared>();
    m.wait_previous_launch();
    m.trigger_next_launch();
    if (m.warp() == 0)
      lay_out(s);
    else
      fetch_shares(s);
    m.sync();
    const PlacesOfBlock p{m.get(s.left),   m.get(s.top),   m.get(s.dx),   m.get(s.dy),
                          m.get(s.factor), m.get(s.scale), m.get(s.count)};
    if (p.count == 0) return store_none(m, a);
    count_pixels(s);
    sum_up(s, p);
    m.sync();
    vote(s, p);
    store_best<threads>(m, a, p, s.votes);
  }

  AREAL_DEVICE void lay_out(Shared& s) {
    TrackedBox from;
    const PlacesOfBlock p = places_of_block(m, a, from);
    const int t = m.lane(), i = t < 2 * fine ? t : t - 2 * fine;
    const int edges = t < 2 * fine ? fine : coarse;
    if (t < 2 * (fine + coarse))
      m.put(s.edge[t], static_cast<std::int32_t>(
                           formulas::piece_edge(i < edges ? from.width : from.height, i % edges, edges - 1)));
    if (t != 0) return;
    m.put(s.left, p.left);
    m.put(s.top, p.top);
    m.put(s.dx, p.dx);
    m.put(s.dy, p.dy);
    m.put(s.factor, p.factor);
    m.put(s.scale, p.scale);
    m.put(s.count, p.count);
  }
  AREAL_DEVICE void fetch_shares(Shared& s) {
    const double* const shares = a.shares + box_of_block(a, m.block()) * fragments_of_a_box * bins;
    for (int i = m.thread() - warp_size; i < fragments_of_a_box * bins; i += threads - warp_size)
      m.put(s.shares[i / bins][i % bins], m.load(shares + i));
  }
  AREAL_DEVICE std::int32_t fine_edge(Shared& s, int axis, int index) { return m.get(s.edge[axis * fine + index]); }
  AREAL_DEVICE std::int32_t coarse_edge(Shared& s, int axis, int index) {
    return m.get(s.edge[2 * fine + axis * coarse + index]);
  }

  AREAL_DEVICE void count_pixels(Shared& s) {
    const int i = m.thread();
    if (i >= fragments_of_a_box) return;
    const formulas::FragmentPlace at = formulas::fragment_place(i);
    const std::int32_t along = fine_edge(s, at.is_line, at.piece + 1) - fine_edge(s, at.is_line, at.piece);
    const std::int32_t across = coarse_edge(s, !at.is_line, at.half + 1) - coarse_edge(s, !at.is_line, at.half);
    const auto pixels = static_cast<std::uint32_t>(along) * static_cast<std::uint32_t>(across);
    m.put(s.pixels[i], pixels);
    m.put(s.inverse[i], formulas::inverse_of(pixels));
  }

  /// Where a fine edge's counts lie: those that a warp reads or writes at once have different banks.
  AREAL_DEVICE static int cell(int edge) { return edge % 2 == 0 ? edge / 2 : pairs + 2 + edge / 2; }

  /// A thread handles a fine edge of columns or of rows, and its points on the three coarse edges.
  AREAL_DEVICE void sum_up(Shared& s, const PlacesOfBlock& p) {
    const int place = m.thread() % places_of_a_block, line = m.thread() / places_of_a_block;
    if (place >= p.count) return;
    const bool is_line = line >= fine;
    const int e = !is_line ? line : line == fine ? fine - 1 : line - fine - 1;  // even and odd ones in a warp
    std::int64_t at[coarse];
    const std::int64_t along = fine_edge(s, is_line, e);
    AREAL_UNROLL
    for (int k = 0; k < coarse; ++k) {
      const std::int64_t across = coarse_edge(s, !is_line, k);
      const std::int64_t x = p.left + place + (is_line ? across : along) - a.first.shift;
      const std::int64_t y = p.top + (is_line ? along : across) - a.first.shift;
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
      m.put(s.strips[2 * is_line].counts[bin][cell(e)][place], first);
      m.put(s.strips[2 * is_line + 1].counts[bin][cell(e)][place], second);
    }
  }

  /// A thread handles two adjacent fragments, which share an edge.
  AREAL_DEVICE void vote(Shared& s, const PlacesOfBlock& p) {
    const int place = m.thread() % places_of_a_block, pair = m.thread() / places_of_a_block;
    if (place >= p.count || pair >= strip_count * pairs) return;
    const int strip = pair / pairs, left = pair % pairs, middle = cell(2 * left + 1), right = left + 1, i = 2 * pair;
    struct Two {
      std::uint32_t first, second;
    };
    const auto counts = [&](int bin) {
      const std::uint32_t between = m.get(s.strips[strip].counts[bin][middle][place]);
      return Two{between - m.get(s.strips[strip].counts[bin][left][place]),
                 m.get(s.strips[strip].counts[bin][right][place]) - between};
    };
    const Two total = counts(bins - 1);
    const double first_inverse = inverse(s, i, total.first), second_inverse = inverse(s, i + 1, total.second);
    double first = 0, second = 0;
    AREAL_UNROLL
    for (int bin = 0; bin < bins - 1; ++bin) {
      const Two count = counts(bin);
      first = formulas::with_emd_bin(first, count.first, first_inverse, m.get(s.shares[i][bin]));
      second = formulas::with_emd_bin(second, count.second, second_inverse, m.get(s.shares[i + 1][bin]));
    }
    m.put(s.votes.at[i][place], distance(s, i, first, total.first));
    m.put(s.votes.at[i + 1][place], distance(s, i + 1, second, total.second));
  }
  /// Precomputed for the usual case, in which every pixel is counted.
  AREAL_DEVICE double inverse(Shared& s, int i, std::uint32_t total) {
    return total == m.get(s.pixels[i]) ? m.get(s.inverse[i]) : formulas::inverse_of(total);
  }
  AREAL_DEVICE double distance(Shared& s, int i, double sum, std::uint32_t total) {
    return formulas::emd_of(sum, total == 0, !(m.get(s.shares[i][bins - 1]) > 0), bins - 1);
  }
};

}  // namespace areal::kernels
