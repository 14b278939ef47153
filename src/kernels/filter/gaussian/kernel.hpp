#pragma once
// Gaussians along one axis, in the CPU's order of operations: a block of threads keeps lines of the image in shared
// memory, as doubles, and filters each along itself: by sampled weights, or by boxes one after another. Two launches
// make a Gaussian: of the columns, whose results go into the workspace, then of the rows of these.
//
// A thread has eight places of a line. Of a box it makes the sums of the windows that begin there, see
// formulas/block_order.hpp: their parts of the first block from its end backwards, the totals of the blocks between,
// and their parts of the last block; totals of blocks are made before. All threads have read before the first writes,
// so that one copy of the lines is enough.
//
// Reads: the columns' launch each pixel of a segment's outputs and those that its windows reach beyond, the rows'
// launch the doubles in the same way. Writes: a double, then the output, once each.

#include <areal/type.hpp>
#include <cstdint>
#include "kernels/filter/axis.hpp"
#include "kernels/filter/finish.hpp"
#include "kernels/filter/units.hpp"
#include "kernels/primitives/elements.hpp"
#include "kernels/primitives/machine.hpp"
#include "kernels/primitives/strides.hpp"

namespace areal::kernels {

struct GaussianArgs {
  const char* image;
  char* out;
  Strides from, to;
  Type in_type, out_type;
  bool in_aligned, out_aligned;
  double* between;  ///< the columns' results: of each plane `between_plane`, of each row `between_row`
  std::int64_t between_plane, between_row;
  bool along_rows;
  FilterAxis axis;  ///< of the lines
  int passes;       ///< of a box; 0: weights
  int inside;       ///< pixels of a box to either side that have the weight `inner`
  int reach;        ///< of a box or of the weights
  double inner, outer;
  const double *weights, *shares, *other_shares;  ///< shares of outputs along and across a line, or null
  double beyond;                                  ///< the edge; in rows, column `width` of the columns' results
  int width;                                      ///< of the image
  int first, end;                                 ///< outputs of columns: those of a band; of rows: all
  int first_line, lines_end;                      ///< columns of the image and one beyond, or rows of the band
  int lines, length, line_cells;                  ///< of a block: 1, 2 or 4; places of each; cells of each
  int lines_bits, length_bits;                    ///< their logarithms
  std::int64_t first_unit;
  int strips, segments, segment_rows, channels, outputs;
};

template <class M, class C>
struct GaussianLines {
  using Args = GaussianArgs;
  static constexpr int threads = 512, resident = 2, block = 8, places = threads * block;

  struct Shared {
    double cells[places + places / block + 16];  // a line lacks every ninth: eight threads read from eight banks
    double totals[threads];                      // of blocks, by thread
  };
  M m;
  Args a;

  /// A block's lines, and what of them is known: positions [begin, end).
  struct Place {
    const char* image;
    char* out;
    double* between;
    int line, first;  ///< the first line and output
    int start;        ///< the first place, a multiple of 8
    int begin, end;
    bool has_line;  ///< the thread's is a line of the image
  };
  AREAL_DEVICE int of_line() const { return m.thread() & (a.lines - 1); }
  AREAL_DEVICE int of_block() const { return m.thread() >> a.lines_bits; }
  AREAL_DEVICE int cell(int line, int place) const { return line * a.line_cells + place + place / block; }
  /// The number at a position of the thread's line; 0 where nothing is known.
  AREAL_DEVICE double at(const Shared& s, const Place& p, int position) const {
    return position >= p.begin && position < p.end ? m.get(s.cells[cell(of_line(), position - p.start)]) : 0;
  }

  AREAL_DEVICE void operator()() {
    Shared& s = m.template shared<Shared>();
    const FilterUnit unit = FilterUnit::at(a.first_unit + m.block(), a);
    Place p;
    p.image = a.image + unit.plane_in(a.from), p.out = a.out + unit.plane_in(a.to);
    p.between = a.between + m.block() / (std::int64_t{1} * a.segments * a.strips) * a.between_plane;
    p.line = a.first_line + (a.along_rows ? unit.y : unit.strip * a.lines);
    p.first = a.first + (a.along_rows ? unit.strip * a.outputs : unit.y);
    const int outputs = a.end - p.first < a.outputs ? a.end - p.first : a.outputs;
    p.begin = p.first - a.axis.before, p.end = p.begin + outputs + a.axis.size - 1;
    p.start = p.begin - (p.begin & (block - 1));
    p.has_line = p.line + of_line() < a.lines_end;
    load(s, p);
    m.sync();
    double sum[block];
    const int begin = p.start + block * of_block(), end = begin + block;
    AREAL_NO_UNROLL
    for (int pass = 0; pass < a.passes; ++pass) {
      const bool has_sums = p.has_line && end + a.inside > p.begin + a.reach && begin + a.inside < p.end - a.reach;
      if (p.has_line && end > p.begin && begin < p.end) m.put(s.totals[m.thread()], total(s, p));
      m.sync();
      if (has_sums) box(s, p, sum);
      m.sync();
      if (has_sums) write(s, p, a.inside, sum);
      p.begin += a.reach, p.end -= a.reach;
      m.sync();
    }
    if (a.passes == 0) {
      const bool has_sums = p.has_line && end > p.begin + a.reach && begin < p.end - a.reach;
      if (has_sums) weigh(s, p, sum);
      m.sync();
      if (has_sums) write(s, p, 0, sum);
      p.begin += a.reach, p.end -= a.reach;
      m.sync();
    }
    store(s, p);
  }

  // ---------------------------------------------------------------- to and from memory

  /// Of the cells in the order of memory: threads next to each other have places along rows, or lines, next to each
  /// other.
  AREAL_DEVICE int line_of(int i) const { return a.along_rows ? i >> a.length_bits : i & (a.lines - 1); }
  AREAL_DEVICE int place_of(int i) const { return a.along_rows ? i & (a.length - 1) : i >> a.lines_bits; }

  AREAL_DEVICE void load(Shared& s, const Place& p) const {
    if (a.along_rows) {
      const bool has_beyond = a.axis.edge == Edge::constant;
      return load_by<block>(s, p, [&](int line, int place) {
        if (place < 0 && !has_beyond) return 0.0;
        return m.load(p.between + (line - a.first_line) * a.between_row + (place < 0 ? a.width : place));
      });
    }
    const auto as = [&]<class T>(T) {
      const auto pixel = [&](int line, int place, const auto& load_one) {
        if (place < 0 || line >= a.width) return a.beyond;
        return term<double>(load_one(p.image + place * a.from.row + line * a.from.column));
      };
      if (a.in_aligned)
        return load_by<block>(s, p, [&](int line, int place) {
          return pixel(line, place, [&](const char* from) { return m.load(reinterpret_cast<const T*>(from)); });
        });
      load_by<1>(s, p, [&](int line, int place) {
        return pixel(line, place, [&](const char* from) { return load_element<M, T>(m, from, false); });
      });
    };
    switch (a.in_type) {
      case Type::u8:
        return as(std::uint8_t{});
      case Type::s8:
        return as(std::int8_t{});
      case Type::u16:
        return as(std::uint16_t{});
      case Type::s16:
        return as(std::int16_t{});
      case Type::u32:
        return as(std::uint32_t{});
      case Type::s32:
        return as(std::int32_t{});
      case Type::f16:
        return as(Half{});
      case Type::f32:
        return as(float{});
      default:
        return as(double{});
    }
  }
  /// `together` loads do not wait for each other.
  template <int together, class Get>
  AREAL_DEVICE void load_by(Shared& s, const Place& p, const Get& get) const {
    AREAL_NO_UNROLL
    for (int first = 0; first < block; first += together) {
      double number[together];
      AREAL_UNROLL
      for (int k = 0; k < together; ++k) {
        const int i = m.thread() + threads * (first + k);
        number[k] = is_known(p, i) ? get(p.line + line_of(i), a.axis.pixel(p.start + place_of(i))) : 0;
      }
      AREAL_UNROLL
      for (int k = 0; k < together; ++k) {
        const int i = m.thread() + threads * (first + k);
        if (is_known(p, i)) m.put(s.cells[cell(line_of(i), place_of(i))], number[k]);
      }
    }
  }
  AREAL_DEVICE bool is_known(const Place& p, int i) const {
    const int position = p.start + place_of(i);
    return position >= p.begin && position < p.end && p.line + line_of(i) < a.lines_end;
  }
  /// All that is known are outputs.
  AREAL_DEVICE void store(const Shared& s, const Place& p) const {
    AREAL_UNROLL
    for (int k = 0; k < block; ++k) {
      const int i = m.thread() + threads * k;
      if (!is_known(p, i)) continue;
      const int x = p.first + p.start + place_of(i) - p.begin, y = p.line + line_of(i);
      const double value = m.get(s.cells[cell(line_of(i), place_of(i))]);
      if (!a.along_rows)
        m.store(p.between + (x - a.first) * a.between_row + y, value);
      else
        put_output(p, x, y, value);
    }
  }
  AREAL_DEVICE void put_output(const Place& p, int x, int y, double value) const {
    if (a.shares != nullptr) value = value * (m.load(a.shares + x) * m.load(a.other_shares + y));
    store_rounded(m, p.out + y * a.to.row + x * a.to.column, a.out_type, value, a.out_aligned);
  }

  // ---------------------------------------------------------------- filters

  /// Puts a thread's results `shift` positions after its places, where all that they need is known.
  AREAL_DEVICE void write(Shared& s, const Place& p, int shift, const double (&sum)[block]) const {
    AREAL_UNROLL
    for (int j = 0; j < block; ++j) {
      const int place = block * of_block() + j + shift, position = p.start + place;
      if (position >= p.begin + a.reach && position < p.end - a.reach) m.put(s.cells[cell(of_line(), place)], sum[j]);
    }
  }
  AREAL_DEVICE double total(const Shared& s, const Place& p) const {
    const int first = p.start + block * of_block();
    double sum = at(s, p, first);
    AREAL_UNROLL
    for (int j = 1; j < block; ++j) sum = sum + at(s, p, first + j);
    return sum;
  }

  AREAL_DEVICE void box(const Shared& s, const Place& p, double (&sum)[block]) const {
    const int first = p.start + block * of_block(), span = 2 * a.inside, away = span / block;
    double begins[block], ends[block];
    AREAL_UNROLL
    for (int j = 0; j < block; ++j) begins[j] = at(s, p, first + j);
    // The last positions' sums from the beginning of their block on.
    double between = 0, more = 0, prefix = at(s, p, first + block * away);
    AREAL_NO_UNROLL
    for (int i = 1; i <= span % block; ++i) prefix = prefix + at(s, p, first + block * away + i);
    AREAL_NO_UNROLL
    for (int n = 1; n <= away; ++n) {
      between = more;
      if (first + block * n < p.end) more = more + m.get(s.totals[m.thread() + n * a.lines]);
    }
    double suffix[block];
    AREAL_UNROLL
    for (int j = block - 1; j >= 0; --j) suffix[j] = j == block - 1 ? begins[j] : begins[j] + suffix[(j + 1) % block];
    double end = at(s, p, first + span);
    AREAL_UNROLL
    for (int j = 0; j < block; ++j) {
      if (j > 0 && (span + j) % block == 0) between = more;
      if (j > 0) prefix = (span + j) % block == 0 ? end : prefix + end;
      sum[j] = (suffix[j] + between) + prefix;
      if (away == 0 && j + span < block) sum[j] = inside_a_block(s, p, first + j, span);
      ends[j] = at(s, p, first + span + j + 1);
      end = ends[j];
    }
    const double before = at(s, p, first - 1);
    AREAL_UNROLL
    for (int j = 0; j < block; ++j)
      sum[j] = a.inner * sum[j] + a.outer * ((j == 0 ? before : begins[(j + block - 1) % block]) + ends[j]);
  }
  AREAL_DEVICE double inside_a_block(const Shared& s, const Place& p, int first, int span) const {
    double sum = at(s, p, first);
    AREAL_NO_UNROLL
    for (int i = 1; i <= span; ++i) sum = sum + at(s, p, first + i);
    return sum;
  }

  AREAL_DEVICE void weigh(const Shared& s, const Place& p, double (&sum)[block]) const {
    const int first = p.start + block * of_block();
    const double middle = m.load(a.weights);
    double left[block], right[block];
    AREAL_UNROLL
    for (int j = 0; j < block; ++j) {
      sum[j] = at(s, p, first + j) * middle;
      left[j] = at(s, p, first + j - a.reach), right[j] = at(s, p, first + j + a.reach);
    }
    const auto add = [&](int k) {
      const double weight = m.load(a.weights + k);
      AREAL_UNROLL
      for (int j = 0; j < block; ++j) sum[j] = sum[j] + (left[j] + right[j]) * weight;
      AREAL_UNROLL
      for (int j = 0; j + 1 < block; ++j) {
        left[j] = left[j + 1];
        right[block - 1 - j] = right[block - 2 - j];
      }
      left[block - 1] = at(s, p, first + block - k), right[0] = at(s, p, first + k - 1);
    };
    int k = a.reach;
    AREAL_NO_UNROLL
    for (; k % block != 0; --k) add(k);
    AREAL_NO_UNROLL
    for (; k > 0; k -= block) {
      AREAL_UNROLL
      for (int i = 0; i < block; ++i) add(k - i);
    }
  }
};

}  // namespace areal::kernels
