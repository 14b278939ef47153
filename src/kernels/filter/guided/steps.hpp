#pragma once
// Both passes of guided filters of bytes to bytes in one launch, with sums that follow from each other.
//
// A block of 256 threads walks down a strip of 256 columns, 8 rows a step. Down, a thread has a column: it keeps the
// sums of the window's rows of p, I, I p and I^2, integers, and then of a and b. Along, a warp has a row, a lane 8
// columns: the windows' sums follow from each other by the column that enters and the one that leaves. Both ways meet
// in shared memory, in lines of every eighth column, so that neither has bank conflicts. Rows of a and b wait for the
// windows that they leave in a ring, in shared memory or, of high windows, in the workspace.
//
// a and b are fixed-point numbers of 32 bits there, so that their sums are exact in double, in any order. The output's
// distance from the CPU's has a bound. Where the output is that close to the middle between two integers, the block
// computes it again, with the CPU's additions in their order.
//
// Reads: 2 S + 3 height rows of image and guide for each segment of S rows, in bytes; the guide's pixel of each output;
// for high windows, the rows of a and b in the workspace. Writes: each output once, and a second time if it is computed
// again; in the workspace, the rows of a and b of high windows, and a word for each group of 8 outputs with one of
// these.

#include <cmath>
#include <cstdint>
#include "formulas/guided.hpp"
#include "formulas/rounding.hpp"
#include "kernels/filter/axis.hpp"
#include "kernels/filter/guided/integers.hpp"
#include "kernels/filter/units.hpp"
#include "kernels/primitives/machine.hpp"
#include "kernels/primitives/strides.hpp"

namespace areal::kernels {

struct GuidedStepsArgs {
  FilterAxis columns, rows;  ///< the windows of the first pass; the second one's are reversed
  const char *image, *guide;
  char* out;
  char* far;             ///< rows of a and b, of each block of the grid, if they are not in shared memory
  std::uint32_t* close;  ///< of each block of the grid: row, lane and those of its 8 outputs to compute again
  Strides image_strides, guide_strides, to;
  std::int64_t units;
  int strips, segments, segment_rows, channels;
  int strip_columns;                 ///< outputs of a strip
  int lead;                          ///< line rows that only fill steps, before the first that windows need
  int ring;                          ///< rows of the ring
  int outside;                       ///< a pixel beyond the edge
  int line_beyond;                   ///< b beyond the edge, in fixed point
  bool copies;                       ///< lines beyond the edge are those of copies of the image
  bool vectors;                      ///< guide and outputs of a lane are vectors
  double eps, least, share, beyond;  ///< of whole windows: eps count^2, 1 / count; b beyond the edge
  double scale_a, scale_b;           ///< 2^ the bits of a and b behind the point
  double share_a, share_b;           ///< from their sums to outputs with 32 bits behind the point, of whole windows
  double units_a, units_b;           ///< the same, times count
  std::uint32_t near;                ///< outputs this close to the middle are computed again, in units of 2^-32
};

template <bool self_, int rows_>
struct GuidedBySteps {
  static constexpr bool self = self_;
  static constexpr int rows = rows_;          ///< of the ring in shared memory; 0: it is in the workspace
  static constexpr int terms = self ? 2 : 4;  ///< I, I^2, p, I p
};

template <class M, class C>
struct GuidedSteps {
  using Args = GuidedStepsArgs;
  static constexpr int block = 8, threads = 256, resident = 2, terms = C::terms;
  static constexpr int most_width = 65;
  static constexpr bool far = C::rows == 0;
  static constexpr int held_rows = far ? block : C::rows;
  // Places of a row of elements of `bytes`: column c is at c % 8 * pitch + c / 8.
  static constexpr int pitch = C::self ? 34 : 33, line_pitch = 33;
  using Term = Vec<std::uint32_t, terms>;
  using Sum = Vec<double, 2>;
  using Fixed = Vec<std::int32_t, 2>;
  using Fixeds = Vec<std::int32_t, 4>;

  struct alignas(16) Shared {
    Term columns[block][block * pitch];
    Sum lines[block][block * line_pitch];
    Fixed kept[held_rows][threads];
    Sum shares[most_width + 1];  // n^2 and 1 / n of windows of n columns
    std::uint32_t close_count;
    Sum down[threads];  // of an output that is computed again: sums of its columns of lines
  };
  struct Place {
    const char *image, *guide;                // the planes
    const char *image_column, *guide_column;  // at the thread's column
    char *out, *far;
    int x, first;  // the strip's first column of pixels, and the first line of the thread's lane
    bool shows;    // the thread's column shows pixels
    bool whole;    // the lane's lines are those of the image, and their windows have as many columns as any
    int y, rows;   // outputs
    int complete;  // the lane, or the last one with a complete window
  };
  struct Bytes {
    std::uint32_t p[block], guide[block];
  };

  M m;
  Args a;

  AREAL_DEVICE void operator()() {
    Shared& s = m.template shared<Shared>();
    if (m.thread() < block) {  // columns that no complete window has
      const int t = m.thread();
      for (int r = 0; r < block; ++r) {
        for (int i = warp_size; i < pitch; ++i) m.put(s.columns[r][t * pitch + i], Term{});
        for (int i = warp_size; i < line_pitch; ++i) m.put(s.lines[r][t * line_pitch + i], Sum{});
      }
    }
    if (m.thread() == 0) m.put(s.close_count, 0u);
    if (m.thread() >= 1 && m.thread() <= most_width) {
      const double n = m.thread();
      m.put(s.shares[m.thread()], Sum{{n * n, 1 / n}});
    }
    AREAL_NO_UNROLL
    for (std::int64_t unit = m.block(); unit < a.units; unit += m.blocks()) {
      walk(s, place_of(unit));
      if (m.get(s.close_count) > 0) again(m, a, s, unit);
    }
  }

  AREAL_DEVICE Place place_of(std::int64_t number) const {
    const FilterUnit unit = FilterUnit::at(number, a);
    Place at;
    at.image = a.image + unit.plane_in(a.image_strides);
    at.guide = a.guide + unit.plane_in(a.guide_strides);
    at.out = a.out + unit.plane_in(a.to);
    at.far = a.far + m.block() * a.ring * std::int64_t{sizeof(Fixed) * threads};
    at.y = unit.y;
    at.rows = a.rows.outputs - unit.y < a.segment_rows ? a.rows.outputs - unit.y : a.segment_rows;
    at.x = unit.strip * a.strip_columns - (a.columns.size - 1);
    const int shown = pixel(a.columns, at.x + m.thread());
    at.shows = shown >= 0;
    at.image_column = at.image + (at.shows ? shown : 0) * a.image_strides.column;
    at.guide_column = at.guide + (at.shows ? shown : 0) * a.guide_strides.column;
    at.first = at.x + a.columns.before + block * m.lane();
    const bool shrinks = a.columns.edge == Edge::shrink;
    const int before = shrinks ? a.columns.before : 0, after = shrinks ? a.columns.after() : 0;
    at.whole = a.copies || (at.first >= before && at.first + block - 1 + after < a.columns.extent);
    const int complete = (threads - a.columns.size) / block;
    at.complete = m.lane() < complete ? m.lane() : complete;
    return at;
  }

  /// A step's lines begin at row `v`; the first outputs follow when h - 1 of them and those that fill the step are
  /// there.
  AREAL_DEVICE void walk(Shared& s, const Place& at) const {
    const int height = a.rows.size, before = a.rows.before;
    const int first = at.y - a.rows.after() - a.lead;
    std::uint32_t sums[terms] = {};
    if constexpr (!far)
      for (int i = 0; i < a.ring; ++i) m.put(s.kept[i][m.thread()], Fixed{});
    start(at, first - before - 1, height, sums);
    Bytes entering, leaving;
    fetch(at, first - before + height - 1, entering), fetch(at, first - before - 1, leaving);
    down(s, sums, entering, leaving);
    m.sync();
    along(s, at, first, 0);
    m.sync();
    double sum_a = 0, sum_b = 0;
    Fixed old[block] = {};
    int slot = 0;  // of the step's first line
    const int warm = height - 1 + a.lead, steps = (warm + at.rows + block - 1) / block;
    AREAL_NO_UNROLL
    for (int step = 0; step < steps; ++step) {
      const int v = first + block * step;
      const bool more = step + 1 < steps;
      if (more) {
        fetch(at, v + block - before + height - 1, entering), fetch(at, v + block - before - 1, leaving);
      }
      a.rows.size >= block ? sum_down<false>(s, old, slot, sum_a, sum_b) : sum_down<true>(s, old, slot, sum_a, sum_b);
      const int next = slot_after(slot, block);
      if (more) {
        hold_leaving(s, at, block * (step + 1), next, old);
        down(s, sums, entering, leaving);
      }
      m.sync();
      const int y = at.y + block * step - warm;
      if (y >= at.y) outputs(s, at, y);
      slot = next;
      if (more) along(s, at, v + block, slot);
      m.sync();
    }
  }
  AREAL_DEVICE int slot_after(int slot, int n) const {
    slot += n;
    return slot >= a.ring ? slot - a.ring : slot;
  }

  // ---------------------------------------------------------------- pixels, down the columns

  AREAL_DEVICE std::uint32_t byte(const char* from, bool shows) const {
    return shows ? m.load(reinterpret_cast<const std::uint8_t*>(from)) : static_cast<std::uint32_t>(a.outside);
  }
  /// FilterAxis::pixel of a place less than the extent beyond the edge.
  AREAL_DEVICE static int pixel(const FilterAxis& axis, int i) {
    if (i >= 0 && i < axis.extent) return i;
    if (!axis.copies()) return -1;
    if (axis.edge == Edge::wrap) return i < 0 ? i + axis.extent : i - axis.extent;
    const int again = axis.edge == Edge::reflect ? 1 : 0;
    return i < 0 ? again - 1 - i : 2 * axis.extent - 1 - again - i;
  }
  /// The thread's column in 8 rows from y on.
  AREAL_DEVICE void fetch(const Place& at, int y, Bytes& to) const {
    if (y >= 0 && y + block <= a.rows.extent) {
      const char *guide = at.guide_column + y * a.guide_strides.row, *p = at.image_column + y * a.image_strides.row;
      AREAL_UNROLL
      for (int j = 0; j < block; ++j) {
        to.guide[j] = byte(guide, at.shows);
        to.p[j] = C::self ? 0 : byte(p, at.shows);
        guide += a.guide_strides.row, p += a.image_strides.row;
      }
    } else {
      AREAL_UNROLL
      for (int j = 0; j < block; ++j) {
        const int row = pixel(a.rows, y + j);
        const bool shows = at.shows && row >= 0;
        to.guide[j] = byte(at.guide_column + row * a.guide_strides.row, shows);
        to.p[j] = C::self ? 0 : byte(at.image_column + row * a.image_strides.row, shows);
      }
    }
  }
  AREAL_DEVICE static void add(std::uint32_t (&sums)[terms], std::uint32_t p, std::uint32_t guide, std::uint32_t by) {
    sums[0] += guide * by, sums[1] += guide * guide * by;
    if constexpr (!C::self) sums[2] += p * by, sums[3] += guide * p * by;
  }
  AREAL_DEVICE void start(const Place& at, int y, int n, std::uint32_t (&sums)[terms]) const {
    AREAL_NO_UNROLL
    for (int i = 0; i < n; i += block) {
      Bytes rows;
      fetch(at, y + i, rows);
      AREAL_UNROLL
      for (int j = 0; j < block; ++j)
        if (i + j < n) add(sums, rows.p[j], rows.guide[j], 1);
    }
  }
  AREAL_DEVICE void down(Shared& s, std::uint32_t (&sums)[terms], const Bytes& entering, const Bytes& leaving) const {
    const int place = m.thread() % block * pitch + m.thread() / block;
    AREAL_UNROLL
    for (int j = 0; j < block; ++j) {
      add(sums, entering.p[j], entering.guide[j], 1);
      add(sums, leaving.p[j], leaving.guide[j], ~0u);
      Term term;
      AREAL_UNROLL
      for (int t = 0; t < terms; ++t) term.at[t] = sums[t];
      m.put(s.columns[j][place], term);
    }
  }

  // ---------------------------------------------------------------- pixels, along the row

  /// Where the column `n` columns on from a lane's first is, from the place of the lane.
  AREAL_DEVICE static int distance(int n, int pitch_) { return n % block * pitch_ + n / block; }

  /// a and b of the warp's row of the step's lines, which begin at v.
  AREAL_DEVICE void along(Shared& s, const Place& at, int v, int slot) const {
    const int y = v + m.warp(), width = a.columns.size;
    int own = slot + m.warp();
    if (own >= a.ring) own -= a.ring;
    const Term* const row = s.columns[m.warp()];
    Fixed line[block];
    const std::int32_t beyond = a.line_beyond;
    const bool inside = a.copies || (y >= 0 && y < a.rows.extent);
    if (inside) {
      Term starts[block];
      std::uint32_t sum[terms];
      AREAL_UNROLL
      for (int j = 0; j < block; ++j) starts[j] = m.get(row[j * pitch + m.lane()]);
      AREAL_UNROLL
      for (int t = 0; t < terms; ++t) {
        sum[t] = 0;
        AREAL_UNROLL
        for (int j = 0; j < block; ++j) sum[t] += starts[j].at[t];
      }
      const int whole = width / block;
      std::uint32_t own_sum[terms];
      AREAL_UNROLL
      for (int t = 0; t < terms; ++t) own_sum[t] = sum[t], sum[t] = whole > 0 ? sum[t] : 0;
      AREAL_NO_UNROLL
      for (int i = 1; i < whole; ++i) AREAL_UNROLL
      for (int t = 0; t < terms; ++t) sum[t] += m.shuffle_down(own_sum[t], i);
      AREAL_NO_UNROLL
      for (int j = whole * block; j < width; ++j) {
        const Term one = m.get(row[distance(j, pitch) + at.complete]);
        AREAL_UNROLL
        for (int t = 0; t < terms; ++t) sum[t] += one.at[t];
      }
      const bool shrinks = a.columns.edge == Edge::shrink;
      const int high = shrinks ? a.rows.inside(y) : a.rows.size;
      const double share_down = inverse(high), least_down = a.eps * (static_cast<double>(high) * high);
      const auto lines = [&]<bool all>() {
        AREAL_UNROLL
        for (int j = 0; j < block; ++j) {
          const int n = all || !shrinks ? width : a.columns.inside(at.first + j);
          const Sum one = all ? Sum{} : m.get(s.shares[n]);
          line[j] =
              line_of(sum, n * high, all ? a.share : one.at[1] * share_down, all ? a.least : one.at[0] * least_down);
          if (!all && !a.copies && (at.first + j < 0 || at.first + j >= a.columns.extent)) line[j] = Fixed{{0, beyond}};
          if (j + 1 == block) continue;
          const Term end = m.get(row[distance(j + width, pitch) + at.complete]);
          AREAL_UNROLL
          for (int t = 0; t < terms; ++t) sum[t] += end.at[t] - starts[j].at[t];
        }
      };
      if (m.all(at.whole && high == a.rows.size, full_mask))
        lines.template operator()<true>();
      else
        lines.template operator()<false>();
    } else {
      AREAL_UNROLL
      for (int j = 0; j < block; ++j) line[j] = Fixed{{0, beyond}};
    }
    AREAL_UNROLL
    for (int k = 0; k < block / 2; ++k) {
      Fixed* const to = &s.kept[far ? m.warp() : own][pair_place(m.lane(), k)];
      const Fixeds two = {{line[2 * k].at[0], line[2 * k].at[1], line[2 * k + 1].at[0], line[2 * k + 1].at[1]}};
      m.put(*reinterpret_cast<Fixeds*>(to), two);
      if constexpr (far) m.store(reinterpret_cast<Fixeds*>(far_row(at, own) + block * m.lane() + 2 * k), two);
    }
  }
  AREAL_DEVICE Fixed* far_row(const Place& at, int slot) const {
    return reinterpret_cast<Fixed*>(at.far) + slot * threads;
  }
  /// The nearest integer, of a number below 2^31.
  AREAL_DEVICE static std::int32_t nearest(double value, double scale) {
    return static_cast<std::int32_t>(__builtin_bit_cast(std::uint64_t, std::fma(value, scale, 0x1.8p52)));
  }
  /// 1 / x within 2^-44 of it.
  AREAL_DEVICE double inverse(double x) const {
    const double estimate = m.inverse_estimate(static_cast<float>(x));
    return std::fma(estimate, std::fma(-x, estimate, 1.0), estimate);
  }
  AREAL_DEVICE Fixed line_of(const std::uint32_t (&sum)[terms], int pixels, double share, double least) const {
    const auto n = static_cast<std::uint32_t>(pixels);
    const std::uint32_t p = sum[C::self ? 0 : 2], cross = sum[C::self ? 1 : 3];
    const double variance = difference_of_products(m, n, sum[1], sum[0], sum[0]);
    const double covariance = C::self ? variance : difference_of_products(m, n, cross, sum[0], p);
    const double slope = covariance * inverse(variance + least);
    const double b = std::fma(-slope, as_double(sum[0]), as_double(p)) * share;
    return {{nearest(slope, a.scale_a), nearest(b, a.scale_b)}};
  }

  // ---------------------------------------------------------------- lines, down the columns

  /// Where two columns of a row of the ring lie, the k-th of a lane's eight: without bank conflicts for both ways.
  AREAL_DEVICE static int pair_place(int lane, int k) { return block * lane + ((k ^ (lane >> 1 & 3)) << 1); }
  AREAL_DEVICE int kept_place() const {
    const int t = m.thread();
    return pair_place(t / block, t / 2 % 4) + t % 2;
  }
  /// Rows that leave the windows in the step whose first line is `line` rows after the first and lies in `slot`, as far
  /// as they came before it.
  AREAL_DEVICE void hold_leaving(const Shared& s, const Place& at, int line, int slot, Fixed (&old)[block]) const {
    const int height = a.rows.size;
    int from = slot - height;
    if (from < 0) from += a.ring;
    AREAL_UNROLL
    for (int j = 0; j < block; ++j) {
      old[j] = Fixed{};
      if constexpr (far) {
        if (j < height && line + j >= height) old[j] = m.load(far_row(at, from) + m.thread());
      } else {
        old[j] = m.get(s.kept[from][kept_place()]);
      }
      if (++from == a.ring) from = 0;
    }
  }
  /// Sums of the lines of a step's rows; `low`: of windows of less than 8.
  template <bool low>
  AREAL_DEVICE void sum_down(Shared& s, const Fixed (&old)[block], int slot, double& sum_a, double& sum_b) const {
    const int place = m.thread() % block * line_pitch + m.thread() / block, height = a.rows.size;
    int own = far ? 0 : slot;
    AREAL_UNROLL
    for (int j = 0; j < block; ++j) {
      const Fixed one = m.get(s.kept[own][kept_place()]);
      Fixed other = old[j];
      if (low && j >= height) {
        int gone = own - height;
        if (gone < 0) gone += far ? block : a.ring;
        other = m.get(s.kept[gone][kept_place()]);
      }
      sum_a += static_cast<double>(one.at[0] - other.at[0]);
      sum_b += static_cast<double>(one.at[1] - other.at[1]);
      m.put(s.lines[j][place], Sum{{sum_a, sum_b}});
      if (++own == (far ? block : a.ring)) own = 0;
    }
  }

  // ---------------------------------------------------------------- outputs

  AREAL_DEVICE void outputs(Shared& s, const Place& at, int first) const {
    const int y = first + m.warp(), width = a.columns.size;
    if (y >= at.y + at.rows) return;
    const int x = at.x + width - 1 + block * m.lane();
    const int left = a.columns.outputs - x, room = a.strip_columns - block * m.lane();
    const int count = left < room ? left : room;  // outputs of the lane
    const char* const guides = at.guide + y * a.guide_strides.row + x * a.guide_strides.column;
    char* const to = at.out + y * a.to.row + x * a.to.column;
    const bool vector = a.vectors && count >= block;
    Vec<std::uint32_t, 2> pixels{}, bytes{};
    if (vector)
      pixels = m.load(reinterpret_cast<const Vec<std::uint32_t, 2>*>(guides));
    else
      for (int j = 0; j < block; ++j)
        if (j < count)
          pixels.at[j / 4] |=
              std::uint32_t{m.load(reinterpret_cast<const std::uint8_t*>(guides + j * a.guide_strides.column))}
              << 8 * (j % 4);
    const Sum* const row = s.lines[m.warp()];
    Sum starts[block];
    AREAL_UNROLL
    for (int j = 0; j < block; ++j) starts[j] = m.get(row[j * line_pitch + m.lane()]);
    double own_a = starts[0].at[0], own_b = starts[0].at[1];
    AREAL_UNROLL
    for (int j = 1; j < block; ++j) own_a += starts[j].at[0], own_b += starts[j].at[1];
    const int whole = width / block;
    double sum_a = whole > 0 ? own_a : 0, sum_b = whole > 0 ? own_b : 0;
    AREAL_NO_UNROLL
    for (int i = 1; i < whole; ++i) sum_a += m.shuffle_down(own_a, i), sum_b += m.shuffle_down(own_b, i);
    AREAL_NO_UNROLL
    for (int j = whole * block; j < width; ++j) {
      const Sum one = m.get(row[distance(j, line_pitch) + at.complete]);
      sum_a += one.at[0], sum_b += one.at[1];
    }
    const bool shrinks = a.columns.edge == Edge::shrink;
    const int before = a.columns.after(), high = shrinks ? inside(a.rows, y) : a.rows.size;
    const bool all =
        high == a.rows.size && (!shrinks || (x >= before && x + block - 1 + a.columns.before < a.columns.extent));
    constexpr double middle = 0x1.8p52 + 0x1p31;  // outputs have 32 bits behind the point; 1/2 rounds them
    const double share_down = inverse(high);
    std::uint32_t close = 0;
    const auto levels = [&]<bool all>() {
      AREAL_UNROLL
      for (int j = 0; j < block; ++j) {
        double share_a = a.share_a, share_b = a.share_b;
        if (!all) {
          const double share = m.get(s.shares[shrinks ? inside(a.columns, x + j) : width]).at[1] * share_down;
          share_a = a.units_a * share, share_b = a.units_b * share;
        }
        const double pixel = as_double(pixels.at[j / 4] >> 8 * (j % 4) & 0xff);
        const double value = std::fma(sum_a * pixel, share_a, std::fma(sum_b, share_b, middle));
        const std::uint64_t fixed = __builtin_bit_cast(std::uint64_t, value);
        std::int32_t level = static_cast<std::int32_t>(fixed >> 32) - 0x43380000;
        level = level < 0 ? 0 : level > 255 ? 255 : level;
        bytes.at[j / 4] |= static_cast<std::uint32_t>(level) << 8 * (j % 4);
        if (static_cast<std::uint32_t>(fixed) + a.near <= 2 * a.near) close |= 1u << j;
        if (j + 1 == block) continue;
        const Sum end = m.get(row[distance(j + width, line_pitch) + at.complete]);
        sum_a += end.at[0] - starts[j].at[0], sum_b += end.at[1] - starts[j].at[1];
      }
    };
    if (m.all(all, full_mask))
      levels.template operator()<true>();
    else
      levels.template operator()<false>();
    if (vector)
      m.store_streaming(reinterpret_cast<Vec<std::uint32_t, 2>*>(to), bytes);
    else
      for (int j = 0; j < block; ++j)
        if (j < count)
          m.store(reinterpret_cast<std::uint8_t*>(to + j * a.to.column),
                  static_cast<std::uint8_t>(bytes.at[j / 4] >> 8 * (j % 4) & 0xff));
    close &= count >= block ? 0xffu : count > 0 ? (1u << count) - 1 : 0u;
    if (close != 0) {
      const auto code = static_cast<std::uint32_t>((y - at.y) << 13 | m.lane() << 8);
      m.store(close_of() + m.shared_add(s.close_count, 1u), code | close);
    }
  }
  /// Pixels of an axis in the window of the second pass at an output.
  AREAL_DEVICE static int inside(const FilterAxis& axis, int i) {
    const int begin = i - axis.after() < 0 ? 0 : i - axis.after(), last = i + axis.before;
    const int end = last + 1 < axis.extent ? last + 1 : axis.extent;
    return end > begin ? end - begin : 1;
  }

  // ---------------------------------------------------------------- outputs close to a middle

  /// All threads compute those of a unit again.
  AREAL_DEVICE_CALL static void again(M m, Args a, Shared& s, std::int64_t unit) { GuidedSteps{m, a}.again(s, unit); }
  AREAL_DEVICE void again(Shared& s, std::int64_t unit) const {
    const Place at = place_of(unit);
    const std::uint32_t count = m.get(s.close_count);
    AREAL_NO_UNROLL
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::uint32_t code = m.load(close_of() + i);
      AREAL_NO_UNROLL
      for (int j = 0; j < block; ++j)
        if (code >> j & 1)
          exact(s, at, at.x + a.columns.size - 1 + block * static_cast<int>(code >> 8 & 31) + j,
                at.y + static_cast<int>(code >> 13));
    }
    if (m.thread() == 0) m.put(s.close_count, 0u);
    m.sync();
  }
  AREAL_DEVICE std::uint32_t* close_of() const {
    return a.close + m.block() * std::int64_t{warp_size} * a.segment_rows;
  }
  AREAL_DEVICE std::uint32_t shown(const char* plane, const Strides& strides, int x, int y) const {
    const int column = pixel(a.columns, x), row = pixel(a.rows, y);
    return byte(plane + row * strides.row + column * strides.column, column >= 0 && row >= 0);
  }
  /// The sum of n lines from a position on, in the order of formulas/block_order.hpp.
  template <class Get>
  AREAL_DEVICE static Sum in_order(int position, int n, const Get& get) {
    const int rest = block - (position & (block - 1));
    const auto add = [](const Sum& one, const Sum& other) {
      return Sum{{one.at[0] + other.at[0], one.at[1] + other.at[1]}};
    };
    if (rest >= n) {
      Sum sum = get(0);
      for (int i = 1; i < n; ++i) sum = add(sum, get(i));
      return sum;
    }
    Sum begin = get(rest - 1), between{}, part{};
    for (int i = rest - 2; i >= 0; --i) begin = add(get(i), begin);
    for (int i = rest; i < n; ++i) {
      part = (i - rest) % block == 0 ? get(i) : add(part, get(i));
      if ((i - rest) % block == block - 1 && i + 1 < n) between = add(between, part);
    }
    return add(add(begin, between), part);
  }
  AREAL_DEVICE void exact(Shared& s, const Place& at, int x, int y) const {
    const int width = a.columns.size, height = a.rows.size, high = 2 * height - 1;
    Term* const sums = &s.columns[0][0];  // along the rows of pixels of some columns of lines
    Sum* const lines = &s.lines[0][0];
    const int left = x - a.columns.after(), top = y - a.rows.after();  // the first line
    const int fit = block * block * pitch / high, fit_lines = block * block * line_pitch / height;
    const int most = fit < fit_lines ? fit : fit_lines;
    AREAL_NO_UNROLL
    for (int begin = 0; begin < width; begin += most) {
      const int n = width - begin < most ? width - begin : most;
      AREAL_NO_UNROLL
      for (int i = m.thread(); i < n * high; i += threads) {
        const int u = left + begin + i % n - a.columns.before, row = top - a.rows.before + i / n;
        std::uint32_t sum[terms] = {};
        if (u >= 0 && u + width <= a.columns.extent && row >= 0 && row < a.rows.extent) {
          const char *guide = at.guide + row * a.guide_strides.row + u * a.guide_strides.column,
                     *p = at.image + row * a.image_strides.row + u * a.image_strides.column;
          for (int c = 0; c < width; ++c) {
            add(sum, C::self ? 0 : byte(p, true), byte(guide, true), 1);
            guide += a.guide_strides.column, p += a.image_strides.column;
          }
        } else {
          AREAL_NO_UNROLL
          for (int c = u; c < u + width; ++c)
            add(sum, C::self ? 0 : shown(at.image, a.image_strides, c, row), shown(at.guide, a.guide_strides, c, row),
                1);
        }
        Term term;
        AREAL_UNROLL
        for (int t = 0; t < terms; ++t) term.at[t] = sum[t];
        m.put(sums[i], term);
      }
      m.sync();
      AREAL_NO_UNROLL
      for (int i = m.thread(); i < n * height; i += threads) {
        const int u = left + begin + i % n, v = top + i / n;
        std::uint32_t sum[terms] = {};
        AREAL_NO_UNROLL
        for (int r = 0; r < height; ++r) {
          const Term term = m.get(sums[i + r * n]);
          AREAL_UNROLL
          for (int t = 0; t < terms; ++t) sum[t] += term.at[t];
        }
        const bool inside = a.copies || (u >= 0 && u < a.columns.extent && v >= 0 && v < a.rows.extent);
        const bool shrinks = a.columns.edge == Edge::shrink;
        const double pixels = as_double(static_cast<std::uint32_t>((shrinks ? a.columns.inside(u) : width) *
                                                                   (shrinks ? a.rows.inside(v) : height)));
        const auto line =
            formulas::guided_line(C::self, as_double(sum[C::self ? 0 : 2]), as_double(sum[0]),
                                  as_double(sum[C::self ? 1 : 3]), as_double(sum[1]), pixels, 1 / pixels, a.eps);
        m.put(lines[i], inside ? Sum{{line.a, line.b}} : Sum{{0, a.beyond}});
      }
      m.sync();
      if (m.thread() < n)
        m.put(s.down[begin + m.thread()],
              in_order(top, height, [&](int r) { return m.get(lines[r * n + m.thread()]); }));
      m.sync();
    }
    if (m.thread() == 0) {
      const Sum sum = in_order(left, width, [&](int c) { return m.get(s.down[c]); });
      const bool shrinks = a.columns.edge == Edge::shrink;
      const double pixels = static_cast<double>(shrinks ? inside(a.columns, x) : width) *
                            static_cast<double>(shrinks ? inside(a.rows, y) : height);
      const double guide = shown(at.guide, a.guide_strides, x, y);
      m.store(reinterpret_cast<std::uint8_t*>(at.out + y * a.to.row + x * a.to.column),
              formulas::rounded<std::uint8_t>(formulas::guided_output(sum.at[0], sum.at[1], guide, 1 / pixels)));
    }
    m.sync();
  }
};

}  // namespace areal::kernels
