#pragma once
// Means of bytes of small square windows, one launch without a workspace, shared memory or barriers.
//
// A warp has a strip of columns and a few rows of outputs. A lane has 16 columns of these rows and of those that their
// windows reach, and issues the loads of all of them before it uses the first. It adds columns down in halves of
// words, then along, with its neighbours' sums of the columns beyond its own. The first and the last lane of a warp
// have columns for their neighbours, and no outputs. The warps of a block lie below one another, so that the rows that
// two of them read come from the L1.
//
// The columns beyond the edge of the image are in the lanes on either side of it, which load the first or the last
// vector of a row in place of their own.
//
// Reads: for each warp, rows + size - 1 rows of up to 512 columns. Writes: each output once.

#include <bit>
#include <cstdint>
#include "kernels/filter/axis.hpp"
#include "kernels/primitives/machine.hpp"
#include "kernels/primitives/strides.hpp"

namespace areal::kernels {

/// Windows of size x size. With twice as many rows of outputs, warps read fewer rows again. `resident` is the fastest
/// of up to three for each kernel on an H200.
template <int size_, bool high>
struct DirectOf {
  static constexpr int size = size_, rows = high ? 8 : 4;  // of outputs for each warp
  static constexpr int resident = high        ? size <= 4                ? 6
                                                : size <= 7 || size == 9 ? 5
                                                                         : 4
                                  : size <= 4 ? 8
                                  : size <= 5 ? 7
                                  : size <= 8 ? 6
                                              : (size <= 11 ? 5 : 4);
};

struct DirectMeansArgs {
  const char* image;
  char* out;
  Strides from, to;
  FilterAxis columns, rows;
  RowsBeyond beyond_rows;
  unsigned strips, segments, channels;  ///< of a plane; of a strip; of an image
  std::uint32_t beyond;                 ///< a pixel beyond the edge, four times
  std::uint32_t left, right;            ///< selectors of the columns beyond it, from the first and the last two words
  std::uint32_t factor, add, tie;       ///< see HalfEvenProduct
};

template <class M, class C>
struct DirectMeans {
  using Args = DirectMeansArgs;
  using Shared = NoShared;
  static constexpr int size = C::size, before = size / 2, after = size - 1 - before;
  static constexpr int warps = 4, threads = warps * warp_size, resident = C::resident;
  static constexpr int words = 4, each = 4 * words;                   // columns of a lane
  static constexpr int halo = (before + 3) / 4;                       // words on either side that windows reach
  static constexpr int columns = (warp_size - 2) * each;              // of outputs
  static constexpr int outputs = C::rows, rows = outputs + size - 1;  // of a warp
  static_assert(size >= 2 && size <= 16, "sums of 16 bits");
  using Vector = Vec<std::uint32_t, words>;

  M m;
  Args a;

  /// Of a lane's columns 4 i and 4 i + 2, and of 4 i + 1 and 4 i + 3, in the halves of words.
  struct Halves {
    std::uint32_t even[words] = {}, odd[words] = {};
  };

  AREAL_DEVICE void operator()() {
    auto unit = static_cast<unsigned>(m.block());
    const int left = static_cast<int>(unit % a.strips) * columns - each, x = left + each * m.lane();
    unit /= a.strips;
    std::int64_t channel = 0, n = 0;
    if (unit >= a.segments) {  // not in the first plane
      const unsigned plane = unit / a.segments;
      unit %= a.segments, channel = plane % a.channels, n = plane / a.channels;
    }
    const int y = (static_cast<int>(unit) * warps + m.warp()) * outputs;
    if (y >= a.rows.outputs) return;
    const char* const image = a.image + n * a.from.batch + channel * a.from.channel;
    char* to = a.out + n * a.to.batch + channel * a.to.channel + y * a.to.row + x;
    const bool inner =
        left >= 0 && left + warp_size * each <= a.columns.extent && y >= before && y + outputs + after <= a.rows.extent;
    Vector part[rows];
    if (inner) {
      const char* from = image + (y - before) * a.from.row + x;
      AREAL_UNROLL
      for (int i = 0; i < rows; ++i, from += a.from.row) part[i] = m.load(reinterpret_cast<const Vector*>(from));
    } else {
      load_at_edge(image, x, y, part);
    }
    const bool stores = m.lane() > 0 && m.lane() < warp_size - 1 && x < a.columns.outputs;
    Halves sum;
    AREAL_UNROLL
    for (int i = 0; i < size - 1; ++i) add(sum, part[i]);
    const bool counts = !inner && a.columns.edge == Edge::shrink;
    AREAL_UNROLL
    for (int i = 0; i < outputs; ++i, to += a.to.row) {
      if (i > 0) subtract(sum, part[i - 1]);
      add(sum, part[i + size - 1]);
      const Halves window = windows(sum);
      Vector mean = means(window);
      if (counts && stores) {
        const Cut cut{x, a.rows.inside(y + i), a.columns.extent};
        if (cut.any(each)) mean = counted(m, window, mean, cut);
      }
      if (stores && (inner || y + i < a.rows.outputs)) m.store_streaming(reinterpret_cast<Vector*>(to), mean);
    }
  }

  /// Of the rows from that of the first window on; columns beyond the edge as the windows of others need them.
  AREAL_DEVICE void load_at_edge(const char* image, int x, int y, Vector (&part)[rows]) const {
    const bool is_left = x < 0, is_right = x >= a.columns.extent, wraps = a.columns.edge == Edge::wrap;
    const int first = 0, last = a.columns.extent - each;
    const int from = is_left ? (wraps ? last : first) : is_right ? (wraps ? first : last) : x;
    AREAL_UNROLL
    for (int i = 0; i < rows; ++i) {
      const int at = y - before + i, row = at < a.rows.outputs + after ? a.beyond_rows.row(at) : -1;
      AREAL_UNROLL
      for (int w = 0; w < words; ++w) part[i].at[w] = a.beyond;
      if (row >= 0) part[i] = m.load(reinterpret_cast<const Vector*>(image + row * a.from.row + from));
    }
    if (wraps || (!is_left && !is_right)) return;
    const bool shows = a.columns.copies(), repeats = a.columns.edge == Edge::replicate;
    AREAL_UNROLL
    for (int i = 0; i < rows; ++i) {
      const Vector own = part[i];
      AREAL_UNROLL
      for (int w = 0; w < halo; ++w) {
        const int end = words - 1 - w;
        const std::uint32_t before_first = m.permute(own.at[w], own.at[w + 1], a.left);
        const std::uint32_t after_last = m.permute(own.at[end - 1], own.at[end], a.right);
        if (w == 0 || !repeats) part[i].at[end] = before_first, part[i].at[w] = after_last;
        if (w > 0 && repeats) part[i].at[end] = part[i].at[words - 1], part[i].at[w] = part[i].at[0];
        if (!shows) part[i].at[end] = part[i].at[w] = a.beyond;
      }
    }
  }

  // ---------------------------------------------------------------- sums

  AREAL_DEVICE std::uint32_t even(std::uint32_t word) const { return word & 0x00ff00ffu; }
  AREAL_DEVICE std::uint32_t odd(std::uint32_t word) const { return m.permute(word, 0, 0x4341); }
  AREAL_DEVICE void add(Halves& sum, const Vector& row) const {
    AREAL_UNROLL
    for (int i = 0; i < words; ++i) sum.even[i] += even(row.at[i]), sum.odd[i] += odd(row.at[i]);
  }
  AREAL_DEVICE void subtract(Halves& sum, const Vector& row) const {
    AREAL_UNROLL
    for (int i = 0; i < words; ++i) sum.even[i] -= even(row.at[i]), sum.odd[i] -= odd(row.at[i]);
  }
  /// Of the windows at a lane's columns, from the sums of columns.
  AREAL_DEVICE Halves windows(const Halves& sum) const {
    std::uint32_t even[words + 2 * halo] = {}, odd[words + 2 * halo] = {};  // with those of the neighbours
    AREAL_UNROLL
    for (int i = 0; i < words; ++i) even[halo + i] = sum.even[i], odd[halo + i] = sum.odd[i];
    AREAL_UNROLL
    for (int i = 1; i <= halo; ++i) {  // as far as windows reach
      if (before > 4 * i - 3) even[halo - i] = m.shuffle_up(sum.even[words - i], 1);
      odd[halo - i] = m.shuffle_up(sum.odd[words - i], 1);
      if (after > 4 * i - 4) even[halo + words + i - 1] = m.shuffle_down(sum.even[i - 1], 1);
      if (after > 4 * i - 3) odd[halo + words + i - 1] = m.shuffle_down(sum.odd[i - 1], 1);
    }
    const auto pair = [&](int i) {  // of the columns i and i + 2
      const int place = i + 4 * halo, word = place / 4;
      if (place % 2 == 0) return place % 4 == 0 ? even[word] : m.permute(even[word], even[word + 1], 0x5432);
      return place % 4 == 1 ? odd[word] : m.permute(odd[word], odd[word + 1], 0x5432);
    };
    Halves window;
    AREAL_UNROLL
    for (int i = 0; i < words; ++i) {
      AREAL_UNROLL
      for (int n = -before; n <= after; ++n) window.even[i] += pair(4 * i + n);
      window.odd[i] = window.even[i] - pair(4 * i - before) + pair(4 * i + 1 + after);
    }
    return window;
  }

  // ---------------------------------------------------------------- means

  /// In the highest byte.
  AREAL_DEVICE std::uint32_t mean_of(std::uint32_t sum) const {
    const std::uint32_t mean = sum * a.factor + a.add;
    return size % 2 == 0 ? mean + (mean >> 24 & 1) * a.tie : mean;
  }
  AREAL_DEVICE Vector means(const Halves& window) const {
    Vector mean;
    AREAL_UNROLL
    for (int i = 0; i < words; ++i) {
      const std::uint32_t low = m.permute(mean_of(window.even[i] & 0xffff), mean_of(window.odd[i] & 0xffff), 0x0073);
      const std::uint32_t high = m.permute(mean_of(window.even[i] >> 16), mean_of(window.odd[i] >> 16), 0x0073);
      mean.at[i] = m.permute(low, high, 0x5410);
    }
    return mean;
  }
  /// What of the windows of a lane's columns lies inside the image, with edge shrink.
  struct Cut {
    int x, down, extent;  ///< the first column; rows inside; columns of the image
    AREAL_DEVICE int across(int i) const {
      const int begin = x + i - before, end = x + i + after + 1;
      return (end < extent ? end : extent) - (begin > 0 ? begin : 0);
    }
    /// Not all of the first n windows are whole.
    AREAL_DEVICE bool any(int n) const { return down < size || x < before || x + n + after > extent; }
  };
  /// The means, with those of windows that are not whole made from the pixels inside. A call, as it takes much code for
  /// few warps.
  AREAL_DEVICE_CALL static Vector counted(M m, Halves window, Vector mean, Cut cut) {
    AREAL_NO_UNROLL
    for (int i = 0; i < words; ++i, cut.x += 4) {
      std::uint32_t word = mean.at[0];
      if (cut.any(4)) {
        const std::uint32_t sum[4] = {window.even[0] & 0xffff, window.odd[0] & 0xffff, window.even[0] >> 16,
                                      window.odd[0] >> 16};
        word = 0;
        AREAL_UNROLL
        for (int b = 0; b < 4; ++b) word |= rounded_quotient(m, sum[b], cut.down * cut.across(b)) << (8 * b);
      }
      AREAL_UNROLL
      for (int w = 0; w < words - 1; ++w) {
        window.even[w] = window.even[w + 1], window.odd[w] = window.odd[w + 1];
        mean.at[w] = mean.at[w + 1];
      }
      mean.at[words - 1] = word;
    }
    return mean;
  }
  /// sum / n < 256, half to even, for n <= 256. A quotient of floats errs by less than 2^-14. Rounded to multiples
  /// of 2^-10, one that ends in 1/2 is exact, and no other one does, as it is at least 1 / 512 away.
  AREAL_DEVICE static std::uint32_t rounded_quotient(const M& m, std::uint32_t sum, int n) {
    const float quotient = static_cast<float>(sum) * m.inverse_estimate(static_cast<float>(n));
    const float exact = (quotient + 0x1.8p13f) - 0x1.8p13f;
    return std::bit_cast<std::uint32_t>(exact + 0x1.8p23f) & 0xff;
  }
};

}  // namespace areal::kernels
