#pragma once
// blocks: windows' sums of floats straight from the pixels, in the CPU's order of additions, one launch.
//
// BlockSums (kernels/filter/block_sums.hpp) of the pixels; their terms wait in shared memory.
//
// Reads: for each segment of S rows and strip S + height - 1 rows, less those of the first window's first block, and
// once more the rows of the blocks that windows leave. Writes: each output once.

#include <cmath>
#include <cstdint>
#include <type_traits>
#include "kernels/filter/axis.hpp"
#include "kernels/filter/block_sums.hpp"
#include "kernels/filter/blocks/columns.hpp"
#include "kernels/filter/finish.hpp"
#include "kernels/filter/units.hpp"
#include "kernels/primitives/elements.hpp"
#include "kernels/primitives/machine.hpp"
#include "kernels/primitives/strides.hpp"

namespace areal::kernels {

/// 1 / n = high + low, low > 0. So fma(sum, high, sum low) is the rounded quotient sum / n of any sum of floats and
/// n < 2^40, infinities included: no quotient is as near to the middle of two doubles as the sum's error, but it is
/// one.
struct Reciprocal {
  double high, low;

  AREAL_BOTH static Reciprocal of(double n) {
    double high = 1 / n;
    if (std::fma(high, n, -1.) > 0) high = __builtin_bit_cast(double, __builtin_bit_cast(std::uint64_t, high) - 1);
    const double low = -std::fma(high, n, -1.) / n;
    return {high, low > 0 ? low : 0x1p-600};  // too small for any sum, but not 0
  }
};

struct BlocksArgs : BlockSumsArgs {
  const char *image, *mask;  ///< no mask: nullptr
  char* out;
  Strides from, marks, to;
  std::int64_t units;  ///< planes x segments x strips
  int strips, segments, segment_rows, channels;
  std::uint64_t beyond;  ///< bits of a pixel beyond the edge
  bool beyond_counts;    ///< it does
  bool omit_nan;
  bool vectors, mask_words;  ///< a thread's pixels, and marks, are aligned vectors
  bool quick;                ///< means of floats side by side, all of whose pixels count
  double reciprocal;         ///< of the pixels of a whole window
  // For BlockMeans:
  int first_column, lead;  ///< of the first strip; the first lane's outputs that are no strip's or the one's before
  Reciprocal whole;        ///< of the pixels of a whole window
  double zero;             ///< -0 keeps the sign of a sum of zeros
  FilterFinish finish;
};

/// sum / n by n's reciprocal, where `has_quotient`: as the error of the product is at most two units in the last place,
/// the remainder is exact, and the quotients of n < 2^40 are farther from the middle of two doubles than the error of
/// the second product.
AREAL_DEVICE double quotient(double sum, double n, double reciprocal) {
  const double near = sum * reciprocal;
  return std::fma(std::fma(-near, n, sum), reciprocal, near);
}
/// The sum is far from the ends of the exponents' range; 0 is not.
AREAL_DEVICE bool has_quotient(double sum) {
  const auto high = static_cast<std::uint32_t>(__builtin_bit_cast(std::uint64_t, sum) >> 32) & 0x7ff00000u;
  return high - 0x10000000u < 0x60000000u;
}

template <class M, class C>
struct Blocks : BlockSums<M, C, BlocksArgs, Blocks<M, C>> {
  using Base = BlockSums<M, C, BlocksArgs, Blocks<M, C>>;
  using In = typename C::In;
  using Term = typename C::Term;
  using Raw = typename C::Raw;
  using Held = typename Base::Held;
  using Base::block, Base::V, Base::threads, Base::terms, Base::a, Base::m;
  static constexpr bool counts = C::counts;
  static constexpr int resident = terms > 2 ? 1 : terms > 1 ? 2 : sizeof(In) > 4 ? 3 : 4;
  static constexpr std::int64_t most_rows = 512;
  static constexpr std::int64_t most_width = 384;  // a quarter of the threads have complete windows

  using Shared = typename Base::RowsShared;
  struct Place : Base::SumsPlace {
    const char *image, *mask;  ///< the plane
    char* out;
    bool whole;  ///< the columns are a vector of the image
  };

  AREAL_DEVICE void operator()() {
    Shared& s = m.template shared<Shared>();
    int turn = 0;
    AREAL_NO_UNROLL
    for (std::int64_t unit = m.block(); unit < a.units; unit += m.blocks()) {
      Place at = place_of(s, unit);
      this->walk(s, at, turn);
    }
  }

  AREAL_DEVICE Place place_of(Shared& s, std::int64_t unit) const {
    Place at;
    const FilterUnit place = FilterUnit::at(unit, a);
    at.image = a.image + place.plane_in(a.from);
    at.mask = a.mask + place.image * a.marks.batch;
    at.out = a.out + place.plane_in(a.to);
    const int left = a.rows.outputs - place.y, column = this->column_in(place.strip);
    this->set_place(at, column, place.y, left < a.segment_rows ? left : a.segment_rows);
    at.whole = a.vectors && column >= 0 && column + V <= a.columns.extent;
    this->set_shown(s, column);
    return at;
  }

  // ---------------------------------------------------------------- rows

  AREAL_DEVICE In beyond() const {
    if constexpr (sizeof(In) == 8)
      return __builtin_bit_cast(In, a.beyond);
    else if constexpr (sizeof(In) == 4)
      return __builtin_bit_cast(In, static_cast<std::uint32_t>(a.beyond));
    else
      return __builtin_bit_cast(In, static_cast<std::uint16_t>(a.beyond));
  }

  /// A thread's columns of the row at a position.
  AREAL_DEVICE Raw row(const Shared& s, const Place& at, int position) const {
    Raw raw;
    const int y = a.rows.pixel(position);
    if (y < 0) {
      AREAL_UNROLL
      for (int j = 0; j < V; ++j) raw.pixel[j] = __builtin_bit_cast(typename C::Bits, beyond());
      raw.marks = a.beyond_counts ? 0x01010101 : 0;
      return raw;
    }
    if (at.whole) return vector(s, at, y);
    const char* const from = at.image + y * a.from.row;
    const char* const marks = at.mask + y * a.marks.row;
    raw.marks = 0x01010101;
    AREAL_UNROLL
    for (int j = 0; j < V; ++j) {
      const int x = m.get(s.shown[j][m.thread()]);
      raw.pixel[j] = __builtin_bit_cast(
          typename C::Bits,
          x < 0 ? beyond() : load_element<M, In>(m, from + x * a.from.column, a.finish.pixel_aligned));
      if constexpr (C::counts) {
        std::uint32_t mark = x < 0 ? a.beyond_counts : 1;
        if (a.mask != nullptr && x >= 0)
          mark = m.load(reinterpret_cast<const std::uint8_t*>(marks + x * a.marks.column));
        raw.marks = (raw.marks & ~(0xffu << (8 * j))) | mark << (8 * j);
      }
    }
    return raw;
  }
  /// Of a row of the image, if they are a vector.
  AREAL_DEVICE Raw vector(const Shared& /*s*/, const Place& at, int y) const {
    static constexpr int each = sizeof(In) == 8 ? 2 : V;
    Raw raw;
    const int x = at.x - a.columns.before;
    const char* const from = at.image + y * a.from.row + x * static_cast<std::int64_t>(sizeof(In));
    AREAL_UNROLL
    for (int i = 0; i < V; i += each) {
      const auto part = m.load(reinterpret_cast<const Vec<typename C::Bits, each>*>(from) + i / each);
      AREAL_UNROLL
      for (int j = 0; j < each; ++j) raw.pixel[i + j] = part.at[j];
    }
    raw.marks = 0x01010101;
    if constexpr (C::counts)
      if (a.mask != nullptr) raw.marks = word(at.mask + y * a.marks.row + x * a.marks.column);
    return raw;
  }
  /// All of these rows are, and lie in the image.
  AREAL_DEVICE bool are_vectors(const Place& at, int from, int to) const {
    return at.whole && from >= 0 && to <= a.rows.extent;
  }
  /// Four bytes of the mask.
  AREAL_DEVICE std::uint32_t word(const char* from) const {
    if (a.mask_words) return m.load(reinterpret_cast<const std::uint32_t*>(from));
    std::uint32_t word = 0;
    AREAL_UNROLL
    for (int j = 0; j < V; ++j)
      word |= std::uint32_t{m.load(reinterpret_cast<const std::uint8_t*>(from + j * a.marks.column))} << (8 * j);
    return word;
  }
  AREAL_DEVICE Term term_of(const Raw& raw, int j) const {
    const auto p = term<double>(__builtin_bit_cast(In, raw.pixel[j]));
    if constexpr (C::counts)
      if ((raw.marks >> (8 * j) & 0xff) == 0 || (a.omit_nan && std::isnan(p))) return Term{};
    return C::of(p);
  }

  // ---------------------------------------------------------------- outputs

  AREAL_DEVICE void output(const Shared& /*s*/, const Place& at, int y, Term (&window)[V]) const {
    const bool inside = a.columns.edge == Edge::shrink;
    const int down = inside ? a.rows.inside(y) : a.rows.size;
    char* const line = at.out + y * a.to.row;
    if (a.quick) {
      const double n = static_cast<double>(a.rows.size) * static_cast<double>(a.columns.size);
      const bool full = at.full && down == a.rows.size;
      float mean[V];
      AREAL_UNROLL
      for (int j = 0; j < V; ++j) {
        const double sum = window[j].at[C::sum];
        mean[j] = static_cast<float>(
            full ? (has_quotient(sum) ? quotient(sum, n, a.reciprocal) : sum / n)
                 : sum / (static_cast<double>(down) * static_cast<double>(a.columns.inside(at.x + j))));
      }
      return store_floats(at, line, mean);
    }
    char* to = line + at.x * a.to.column;
    AREAL_NO_UNROLL
    for (int j = 0; j < V; ++j, to += a.to.column) {
      const int x = at.x + j;
      if (x >= at.begin && x < at.end) {
        const Term& of = window[0];
        double count = 0, squares = 0;
        if constexpr (C::counts)
          count = of.at[C::moments ? 0 : 2];
        else
          count = static_cast<double>(down) * static_cast<double>(inside ? a.columns.inside(x) : a.columns.size);
        if constexpr (!C::moments && terms > 1) squares = of.at[1];
        const auto top = [&] {
          if constexpr (C::moments) return of.at[2] * count;
          const double value = count * squares - of.at[C::sum] * of.at[C::sum];
          return value < 0 ? 0 : value;
        };
        const auto centre = [&] {
          const char* const from = at.image + (std::int64_t{y} + a.finish.centre_y) * a.from.row +
                                   (std::int64_t{x} + a.finish.centre_x) * a.from.column;
          return term<double>(load_element<M, In>(m, from, a.finish.pixel_aligned));
        };
        store_rounded(m, to, a.finish.out, a.finish.of_reals(of.at[C::sum], squares, count, top, centre),
                      a.finish.out_aligned);
      }
      AREAL_UNROLL
      for (int b = 0; b < V - 1; ++b) window[b] = window[b + 1];
    }
  }

  /// Stores a warp's floats as vectors of aligned addresses, each from the end of one thread's four and the beginning
  /// of the next one's. The first and the last thread store the rest one by one.
  AREAL_DEVICE void store_floats(const Place& at, char* line, const float (&value)[V]) const {
    float* const to = reinterpret_cast<float*>(line) + at.x;
    const int over = static_cast<int>(reinterpret_cast<std::uintptr_t>(to) / sizeof(float) % V);  // in all threads
    Vec<float, V> vector;
    switch (over) {
      case 0:
        vector = shifted<0>(value);
        break;
      case 1:
        vector = shifted<3>(value);
        break;
      case 2:
        vector = shifted<2>(value);
        break;
      default:
        vector = shifted<1>(value);
    }
    const int shift = over == 0 ? 0 : V - over, x = at.x + shift;
    const int have = over > 0 && m.lane() == warp_size - 1 ? over : V;
    if (have == V && x >= at.begin && x + V <= at.end) {
      m.store_streaming(reinterpret_cast<Vec<float, V>*>(to + shift), vector);
    } else {
      AREAL_UNROLL
      for (int j = 0; j < V; ++j)
        if (j < have && x + j >= at.begin && x + j < at.end) m.store_streaming(to + shift + j, vector.at[j]);
    }
    if (m.lane() > 0) return;
    AREAL_UNROLL
    for (int j = 0; j < V; ++j)
      if (j < shift && at.x + j >= at.begin && at.x + j < at.end) m.store_streaming(to + j, value[j]);
  }
  /// Four floats from value[by] on, the last ones from the next thread.
  template <int by>
  AREAL_DEVICE Vec<float, V> shifted(const float (&value)[V]) const {
    Vec<float, V> vector;
    AREAL_UNROLL
    for (int j = 0; j < V; ++j)
      vector.at[j] = j + by < V ? value[(j + by) % V] : m.shuffle_down(value[(j + by) % V], 1);
    return vector;
  }
};

}  // namespace areal::kernels
