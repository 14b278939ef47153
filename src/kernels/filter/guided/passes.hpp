#pragma once
// The two passes of guided filters of one guide channel, each a launch, in the CPU's order of additions: the sums of
// p, I, I p and I^2, from which a and b of each pixel's window follow, then the means of a and b.
//
// GuidedLines reads image and guide as BlockSums reads rows, and writes a and b, two doubles a pixel. GuidedMeans reads
// these in the same way, and the guide once, and writes each output once. The schedule cuts the image into bands, to
// bound the memory of a and b.

#include <cstdint>
#include "formulas/guided.hpp"
#include "kernels/filter/block_sums.hpp"
#include "kernels/filter/finish.hpp"
#include "kernels/filter/units.hpp"
#include "kernels/primitives/elements.hpp"
#include "kernels/primitives/machine.hpp"
#include "kernels/primitives/strides.hpp"

namespace areal::kernels {

/// a and b of a pixel.
using Line = Vec<double, 2>;

/// A view whose pixels are 8u, 16u or 32f.
struct GuidedView {
  const char* first;
  Strides strides;
  Type type;
  bool aligned;  ///< elements are

  template <class M>
  AREAL_DEVICE float pixel(const M& m, const char* from) const {
    if (type == Type::u8) return static_cast<float>(m.load(reinterpret_cast<const std::uint8_t*>(from)));
    if (type == Type::u16) return static_cast<float>(load_element<M, std::uint16_t>(m, from, aligned));
    return load_element<M, float>(m, from, aligned);
  }
  /// Four of a row, by column; their loads do not wait for each other.
  template <class M>
  AREAL_DEVICE void four_at(const M& m, const char* row, const int (&x)[4], float (&to)[4]) const {
    const auto as = [&]<class T>(T) {
      AREAL_UNROLL
      for (int j = 0; j < 4; ++j)
        to[j] = static_cast<float>(load_element<M, T>(m, row + x[j] * strides.column, aligned));
    };
    type == Type::u8 ? as(std::uint8_t{}) : type == Type::u16 ? as(std::uint16_t{}) : as(float{});
  }
  /// Four that are a vector.
  template <class M>
  AREAL_DEVICE void four(const M& m, const char* from, float (&to)[4]) const {
    const auto as = [&]<class T>(T) {
      const auto vector = m.load(reinterpret_cast<const Vec<T, 4>*>(from));
      AREAL_UNROLL
      for (int j = 0; j < 4; ++j) to[j] = static_cast<float>(vector.at[j]);
    };
    type == Type::u8 ? as(std::uint8_t{}) : type == Type::u16 ? as(std::uint16_t{}) : as(float{});
  }
};

struct GuidedArgs : BlockSumsArgs {
  GuidedView image, guide;
  char* out;
  Strides to;
  Type out_type;
  bool out_aligned;
  Line* lines;                          ///< of the band's planes
  std::int64_t plane_lines, row_lines;  ///< between planes, between rows
  int first_row;                        ///< of the lines
  int begin, end;                       ///< rows that are written
  std::int64_t units, first_unit;       ///< planes x segments x strips; those of the planes before the band's
  int strips, segments, segment_rows, channels;
  bool vectors;  ///< a thread's pixels are vectors
  bool wraps;    ///< lines beyond the first and last row are there, in their places
  double eps, beyond;
  float pixel_beyond;
};

template <class M, class C, class Kernel>
struct GuidedPass : BlockSums<M, C, GuidedArgs, Kernel> {
  using Base = BlockSums<M, C, GuidedArgs, Kernel>;
  using Raw = typename C::Raw;
  using Term = typename C::Term;
  using Held = typename Base::Held;
  using Base::a, Base::m, Base::block, Base::V, Base::threads;

  using Shared = typename Base::RowsShared;
  struct Place : Base::SumsPlace {
    const char *image, *guide;  ///< the planes
    char* out;
    Line* lines;
    bool whole;  ///< the columns lie in the image
  };

  AREAL_DEVICE void operator()() {
    Shared& s = m.template shared<Shared>();
    int turn = 0;
    AREAL_NO_UNROLL
    for (std::int64_t unit = m.block(); unit < a.units; unit += m.blocks()) {
      const FilterUnit place = FilterUnit::at(a.first_unit + unit, a);
      Place at;
      at.image = a.image.first + place.plane_in(a.image.strides);
      at.guide = a.guide.first + place.plane_in(a.guide.strides);
      at.out = a.out + place.plane_in(a.to);
      at.lines = a.lines + unit / (std::int64_t{1} * a.segments * a.strips) * a.plane_lines;
      const int column = this->column_in(place.strip), y = a.begin + place.y, left = a.end - y;
      this->set_place(at, column, y, left < a.segment_rows ? left : a.segment_rows);
      at.whole = column >= 0 && column + V <= a.columns.extent;
      this->set_shown(s, column);
      this->walk(s, at, turn);
    }
  }

  /// Pixels of the window at an output.
  AREAL_DEVICE double count(int x, int y) const {
    const bool inside = a.columns.edge == Edge::shrink;
    return static_cast<double>(inside ? a.columns.inside(x) : a.columns.size) *
           static_cast<double>(inside ? a.rows.inside(y) : a.rows.size);
  }
};

/// What GuidedLines adds up.
template <bool self_>
struct GuidedTerms {
  static constexpr bool self = self_, keeps = false;
  static constexpr int count = self ? 2 : 4, near_ring = 0, ahead = 2, together = 2, threads = 128;
  struct Term {
    double at[count];
  };
  struct Raw {
    float pixel[4], guide[4];  ///< `self`: guide is not set
  };
  AREAL_DEVICE static Term merged(const Term& one, const Term& other) {
    Term both;
    AREAL_UNROLL
    for (int i = 0; i < count; ++i) both.at[i] = one.at[i] + other.at[i];
    return both;
  }
};

template <class M, class C>
struct GuidedLines : GuidedPass<M, C, GuidedLines<M, C>> {
  using Base = GuidedPass<M, C, GuidedLines<M, C>>;
  using Raw = typename C::Raw;
  using Term = typename C::Term;
  using Shared = typename Base::Shared;
  using Place = typename Base::Place;
  using Base::a, Base::m, Base::V;
  static constexpr int resident = 1;

  AREAL_DEVICE Raw row(const Shared& s, const Place& at, int position) const {
    const int y = a.rows.pixel(position);
    if (y >= 0 && a.vectors && at.whole) return vector(s, at, y);
    Raw raw;
    AREAL_UNROLL
    for (int j = 0; j < V; ++j) raw.pixel[j] = raw.guide[j] = a.pixel_beyond;
    if (y < 0) return raw;
    int x[V];  // 0 beyond the edge, so that no load waits for a comparison
    AREAL_UNROLL
    for (int j = 0; j < V; ++j) x[j] = m.get(s.shown[j][m.thread()]), x[j] = x[j] < 0 ? 0 : x[j];
    a.image.four_at(m, at.image + y * a.image.strides.row, x, raw.pixel);
    if (!C::self) a.guide.four_at(m, at.guide + y * a.guide.strides.row, x, raw.guide);
    AREAL_UNROLL
    for (int j = 0; j < V; ++j)
      if (m.get(s.shown[j][m.thread()]) < 0) raw.pixel[j] = raw.guide[j] = a.pixel_beyond;
    return raw;
  }
  AREAL_DEVICE bool are_vectors(const Place& at, int from, int to) const {
    return a.vectors && at.whole && from >= 0 && to <= a.rows.extent;
  }
  AREAL_DEVICE Raw vector(const Shared& /*s*/, const Place& at, int y) const {
    Raw raw;
    const std::int64_t x = at.x - a.columns.before;
    a.image.four(m, at.image + y * a.image.strides.row + x * a.image.strides.column, raw.pixel);
    if (!C::self) a.guide.four(m, at.guide + y * a.guide.strides.row + x * a.guide.strides.column, raw.guide);
    return raw;
  }
  AREAL_DEVICE Term term_of(const Raw& raw, int j) const {
    const double p = raw.pixel[j];
    if constexpr (C::self) {
      return {{p, p * p}};
    } else {
      const double guide = raw.guide[j];
      return {{p, guide, guide * p, guide * guide}};
    }
  }
  AREAL_DEVICE void output(const Shared& /*s*/, const Place& at, int y, Term (&window)[V]) const {
    Line* const line = at.lines + (y - a.first_row) * a.row_lines;
    AREAL_UNROLL
    for (int j = 0; j < V; ++j) {
      const int x = at.x + j;
      if (x < at.begin || x >= at.end) continue;
      const double count = this->count(x, y), share = 1 / count;
      const auto& sum = window[j].at;
      const auto found = C::self ? formulas::guided_line(true, sum[0], sum[0], sum[1], sum[1], count, share, a.eps)
                                 : formulas::guided_line(false, sum[0], sum[1], sum[C::count - 2], sum[C::count - 1],
                                                         count, share, a.eps);
      m.store(line + x, Line{{found.a, found.b}});
    }
  }
};

/// What GuidedMeans adds up.
struct GuidedPairs {
  static constexpr bool keeps = false;
  static constexpr int count = 2, near_ring = 0, ahead = 1, together = 2, threads = 128;
  struct Term {
    double at[count];
  };
  struct Raw {
    Term at[4];
  };
  AREAL_DEVICE static Term merged(const Term& one, const Term& other) {
    return {{one.at[0] + other.at[0], one.at[1] + other.at[1]}};
  }
};

template <class M, class C>
struct GuidedMeans : GuidedPass<M, C, GuidedMeans<M, C>> {
  using Base = GuidedPass<M, C, GuidedMeans<M, C>>;
  using Raw = typename C::Raw;
  using Term = typename C::Term;
  using Shared = typename Base::Shared;
  using Place = typename Base::Place;
  using Base::a, Base::m, Base::V;
  static constexpr int resident = 2;

  AREAL_DEVICE Raw row(const Shared& s, const Place& at, int position) const {
    const int y = a.wraps ? position : a.rows.pixel(position);
    Raw raw;
    AREAL_UNROLL
    for (int j = 0; j < V; ++j) raw.at[j] = {{0, a.beyond}};
    if (y < 0 && !a.wraps) return raw;
    const Line* const line = at.lines + (y - a.first_row) * a.row_lines;
    AREAL_UNROLL
    for (int j = 0; j < V; ++j) {  // columns beyond the edge load line 0, so that no load waits for a comparison
      const int x = m.get(s.shown[j][m.thread()]);
      const Line one = m.load(line + (x < 0 ? 0 : x));
      raw.at[j] = {{x < 0 ? 0 : one.at[0], x < 0 ? a.beyond : one.at[1]}};
    }
    return raw;
  }
  AREAL_DEVICE bool are_vectors(const Place& at, int from, int to) const {
    return at.whole && (a.wraps || (from >= 0 && to <= a.rows.extent));
  }
  AREAL_DEVICE Raw vector(const Shared& /*s*/, const Place& at, int y) const {
    Raw raw;
    const Line* const line = at.lines + (y - a.first_row) * a.row_lines + (at.x - a.columns.before);
    AREAL_UNROLL
    for (int j = 0; j < V; ++j) {
      const Line one = m.load(line + j);
      raw.at[j] = {{one.at[0], one.at[1]}};
    }
    return raw;
  }
  AREAL_DEVICE Term term_of(const Raw& raw, int j) const { return raw.at[j]; }
  AREAL_DEVICE void output(const Shared& /*s*/, const Place& at, int y, Term (&window)[V]) const {
    AREAL_UNROLL
    for (int j = 0; j < V; ++j) {
      const int x = at.x + j;
      if (x < at.begin || x >= at.end) continue;
      const double count = this->count(x, y), share = 1 / count;
      const double guide = a.guide.pixel(m, at.guide + y * a.guide.strides.row + x * a.guide.strides.column);
      store_rounded(m, at.out + y * a.to.row + x * a.to.column, a.out_type,
                    formulas::guided_output(window[j].at[0], window[j].at[1], guide, share), a.out_aligned);
    }
  }
};

}  // namespace areal::kernels
