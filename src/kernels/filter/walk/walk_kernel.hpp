#pragma once
// walk: windows' sums straight from the pixels, one launch without a workspace.
//
// A span, which is a warp or a block, walks down a strip of columns; a lane keeps the sums of a few columns, to which
// it adds the row that enters the windows and from which it subtracts the row that leaves them. The sum of the window
// that ends at a column is that of the window ending before it, plus this column, minus the one `width` columns to the
// left. Lanes read the latter from shared memory, and a scan of the lanes' differences gives the sum before each lane.
// Windows of a width that the compiler knows reach only into the next lane, whose columns are shuffled. The first lanes
// have only incomplete windows.
//
// Rows arrive by asynchronous copies, `ahead` rows early, in a ring of each warp's. With `ring` rows it keeps a row
// until it leaves, and each row of a segment is read once. Otherwise the row that leaves is read a second time, from
// the L2. Rows beyond the edge are rows of the image, or none. Lanes that have columns beyond it take the pixels that
// these show from their span's lines in the ring, or read them one by one where they are not there, as all lanes do in
// an image whose rows are not aligned vectors. Such a row takes longer, so the first and the last strip have shorter
// segments.
//
// Reads: for each segment of S rows and strip, S + height - 1 rows, and without a ring S - 1 more. Writes: each output
// once.

#include <cstdint>
#include <limits>
#include <type_traits>
#include "formulas/rounded_mean.hpp"
#include "kernels/filter/axis.hpp"
#include "kernels/filter/finish.hpp"
#include "kernels/filter/walk/columns.hpp"
#include "kernels/filter/walk/decide.hpp"
#include "kernels/filter/walk/quads.hpp"
#include "kernels/primitives/elements.hpp"
#include "kernels/primitives/machine.hpp"
#include "kernels/primitives/strides.hpp"
#include "kernels/primitives/warp/warp.hpp"

namespace areal::kernels {

/// How outputs are made from sums.
enum class WalkOutput : std::uint8_t {
  product,  ///< means of bytes, where a product of 32 bits gives them: see ProductMean
  upper,    ///< means of bytes, of windows of an odd number of pixels
  even,     ///< means of bytes: quotients that end in 1/2 are corrected
  decides,  ///< bytes above their threshold: WalkDecide
  any       ///< FilterFinish
};

struct NoColumns {
  static constexpr int words = 1;
  using Window = std::uint32_t;
  AREAL_BOTH static int words_back(int) { return 0; }
};

/// Means of bytes. `warps` of a span, `ring` rows that a warp keeps (0: none), `width` of the windows (0: any). Windows
/// of a known width have their anchor in the middle, and an odd number of columns. `low`: see ByteColumns.
template <int warps_, int ring_, WalkOutput output_, int width_ = 0, bool low = true>
struct WalkBytes {
  using Columns = ByteColumns<low>;
  using Squares = NoColumns;
  static constexpr int warps = warps_, ring = ring_, width = width_;
  static constexpr WalkOutput output = output_;
  static constexpr int resident = warps > 4 ? 2 : 5;
};
/// Which bytes are above their local thresholds. `phase`: see QuadExchange.
template <class Squares_, int phase_ = 0>
struct WalkBytesDecide {
  using Columns = ByteColumns<true>;
  using Squares = Squares_;
  static constexpr int warps = 1, ring = 0, width = 0, resident = 3, phase = phase_;
  static constexpr WalkOutput output = WalkOutput::decides;
};
/// Any statistic and output of any integers.
template <class Columns_, class Squares_>
struct WalkAny {
  using Columns = Columns_;
  using Squares = Squares_;
  static constexpr int warps = 8, ring = 0, width = 0, resident = 2;
  static constexpr WalkOutput output = WalkOutput::any;
};

struct WalkArgs {
  const char* image;
  char* out;
  Strides from, to;
  FilterAxis columns, rows;
  std::int64_t units;                      ///< spans in all: planes x segments x strips
  std::int64_t window_bytes;               ///< from a row to the one that leaves when it enters
  std::int64_t outer_units = 0;            ///< of the first and the last strip; they come first
  int strips, outer, channels;             ///< of a plane; strips taken apart at each side, 0 or 1; of an image
  int segments, segment_rows;              ///< of a strip; outputs
  int outer_segments = 0, outer_rows = 0;  ///< of the first and the last strip
  int first_lane;                          ///< with complete windows
  int strip_columns;                       ///< outputs
  bool vectors, out_vectors;               ///< a lane's columns, and outputs, are aligned vectors
  bool slides;                             ///< outputs are bytes side by side at any address
  std::uint32_t beyond;                    ///< a pixel beyond the edge, in its type; of bytes four
  formulas::RoundedMean mean = {};         ///< of a whole window
  std::uint32_t factor = 0, add[16] = {};  ///< for WalkOutput::product: (sum[i] factor + add[i]) / 2^24, with its bias
  FilterFinish finish = {};                ///< for WalkOutput::any and decides
  WalkDecide decide = {};                  ///< for WalkOutput::decides
};

template <class M, class C>
struct Walk {
  using Args = WalkArgs;
  using Columns = typename C::Columns;
  using Squares = typename C::Squares;
  using In = typename Columns::In;
  using Part = typename Columns::Part;
  using Window = typename Columns::Window;
  static constexpr bool has_squares = !std::is_same_v<Squares, NoColumns>;
  static constexpr bool is_bytes = C::output != WalkOutput::any, decides = C::output == WalkOutput::decides;
  static constexpr int warps = C::warps, spans = warps > 1 ? 1 : 4;  // of a block
  static constexpr int threads = warps * spans * warp_size, resident = C::resident;
  static constexpr int ahead = 4, together = 8;  // rows on their way, and of those before a segment's first output
  static constexpr int V = Columns::columns, words = Columns::words;
  // Each warp's last lane has the columns of the next one's first lane, whose results it needs.
  static constexpr int places = warps * (warp_size - 1) + 1;
  /// The first lanes' windows begin left of the span, in cells that hold zeros.
  static constexpr int zeros = warps == 1 ? 16 : 8;
  static constexpr int most_width = warps == 1 ? V * zeros : V * (places - 17);
  static constexpr bool keeps = C::ring > 0;
  static constexpr int slots = keeps ? C::ring : ahead;
  static_assert(C::width == 0 ||
                (warps == 1 && C::width <= V && C::width % 2 == 1 && C::output == WalkOutput::product));
  /// Sums have (i + 1) times this too much.
  static constexpr std::uint32_t bias = C::width > 0 ? Columns::bias : 0;
  /// Columns of a window after its anchor.
  AREAL_DEVICE int after() const { return C::width > 0 ? C::width / 2 : a.columns.after(); }

  static constexpr int lines = slots * warps * spans;
  template <class F>
  struct Exchange {
    static constexpr bool used = C::width == 0 && !std::is_same_v<F, NoColumns>;
    std::uint32_t cell[used ? (zeros + places) * (F::words + 1) : 1];  // one more than `words`: no bank conflicts
    typename F::Window total[warps];
  };
  using Quads = QuadExchange<places, zeros>;
  static constexpr bool has_quads = has_squares && decides;
  struct Span {
    Exchange<Columns> sums;
    std::conditional_t<has_quads, Quads, Exchange<Squares>> squares;
  };
  struct Shared {
    Part enters[lines * warp_size];  // of each warp `slots` lines
    Part leaves[keeps ? 1 : lines * warp_size];
    Part centres[decides ? lines * warp_size : 1];  // of the outputs' rows
    Span span[spans];
  };

  M m;
  Args a;

  /// A lane's place, and the rows of its segment.
  struct Place {
    int lane;              ///< of the span
    int x;                 ///< the first of the lane's columns
    int y;                 ///< the first output row
    int rows;              ///< of the image, to walk
    const char* image;     ///< the plane
    char* out;             ///< the plane
    int begin, end;        ///< output columns of the strip
    bool whole;            ///< all of the lane's columns are vectors of the image
    bool blank;            ///< none is a pixel that a window needs
    bool sided;            ///< a lane of the span has columns that are no vector of the image
    bool plain;            ///< all pixels and outputs of the span are vectors of the images
    bool words;            ///< these columns are bytes side by side, and so are the three on either side
    int full_begin;        ///< the first output row whose windows in these columns are whole
    unsigned full_count;   ///< of these rows
    int plain_begin;       ///< the first row of the segment that lies in the image
    unsigned plain_count;  ///< of these rows; 0 if the lane copies none
    int centre_x;          ///< a vector that ends in the pixel of the lane's last window, or behind it
    bool has_centre;       ///< it is one of the image
    bool part_of_centre;   ///< it is not, but some of its pixels are
    bool has_outputs;      ///< some of the lane's windows are the strip's
  };

  AREAL_DEVICE void operator()() {
    Shared& s = m.template shared<Shared>();
    const std::int64_t unit = warps == 1 ? m.block() * spans + m.warp() : m.block();
    if (unit >= a.units) return;
    Span& span = s.span[warps == 1 ? m.warp() : 0];
    if constexpr (C::width == 0) {
      clear<Columns>(span.sums);
      if constexpr (has_quads)
        span.squares.clear(m, m.lane(), warp_size);
      else if constexpr (has_squares)
        clear<Squares>(span.squares);
    }
    const Place at = place_of(unit);
    at.plain ? walk<true>(s, span, at) : walk<false>(s, span, at);
  }
  template <class F>
  AREAL_DEVICE void clear(Exchange<F>& exchange) const {
    const int thread = warps == 1 ? m.lane() : m.thread();
    for (int i = thread; i < zeros * (F::words + 1); i += warps * warp_size) m.put(exchange.cell[i], 0);
  }

  AREAL_DEVICE Place place_of(std::int64_t unit) const {
    Place at;
    const bool outer = unit < a.outer_units;
    if (!outer) unit -= a.outer_units;
    const int strips = outer ? 2 : a.strips - 2 * a.outer, segments = outer ? a.outer_segments : a.segments;
    const int segment_rows = outer ? a.outer_rows : a.segment_rows;
    const auto number = static_cast<int>(unit % strips);
    const int strip = outer ? number * (a.strips - 1) : number + a.outer;
    unit /= strips;
    at.y = static_cast<int>(unit % segments) * segment_rows;
    const std::int64_t plane = unit / segments, channel = plane % a.channels, image = plane / a.channels;
    at.image = a.image + image * a.from.batch + channel * a.from.channel;
    at.out = a.out + image * a.to.batch + channel * a.to.channel;
    const int left = a.rows.outputs - at.y;
    at.rows = (left < segment_rows ? left : segment_rows) + a.rows.size - 1;
    at.lane = warps == 1 ? m.lane() : m.warp() * (warp_size - 1) + m.lane();
    at.begin = strip * a.strip_columns;
    at.end = a.columns.outputs - at.begin < a.strip_columns ? a.columns.outputs : at.begin + a.strip_columns;
    at.x = at.begin + V * (at.lane - a.first_lane + a.columns.after() / V);
    const int end = at.x + V;
    at.whole = a.vectors && at.x >= 0 && end <= a.columns.extent;
    const int needed_begin = a.columns.copies() ? -a.columns.before : 0;
    const int needed_end = a.columns.copies() ? a.columns.outputs + a.columns.after() : a.columns.extent;
    at.blank = end <= needed_begin || at.x >= needed_end;
    at.sided = at.x - V * at.lane < 0 || at.x + V * (places - at.lane) > a.columns.extent;
    at.words = is_bytes && a.from.column == 1 && at.x >= 3 && end + 4 <= a.columns.extent;
    at.full_begin = 0, at.full_count = std::numeric_limits<int>::max();
    if (a.columns.edge == Edge::shrink) {
      const bool full = at.x >= a.columns.size - 1 && end <= a.columns.extent;
      const int count = a.rows.extent - a.rows.size + 1;
      at.full_begin = a.rows.before, at.full_count = full && count > 0 ? count : 0;
    }
    const int first = at.y - a.rows.before, last = a.rows.extent - first < at.rows ? a.rows.extent - first : at.rows;
    at.plain_begin = first < 0 ? -first : 0;
    at.plain_count = at.whole && last > at.plain_begin ? last - at.plain_begin : 0;
    at.plain = a.vectors && !at.sided && first >= 0 && last == at.rows &&
               (!is_bytes || (a.out_vectors && at.end - at.begin == a.strip_columns));
    at.centre_x = at.x - a.decide.centre_after / V * V;
    at.has_centre = decides && a.vectors && at.centre_x >= 0 && at.centre_x + V <= a.columns.extent;
    at.part_of_centre = decides && !at.has_centre && at.centre_x > -V && at.centre_x < a.columns.extent;
    at.has_outputs = at.x + V - a.columns.after() > at.begin && at.x - a.columns.after() < at.end;
    return at;
  }

  // ---------------------------------------------------------------- rows

  AREAL_DEVICE Part beyond() const {
    Part part;
    if constexpr (is_bytes) {
      part = {{a.beyond, a.beyond, a.beyond, a.beyond}};
    } else {
      AREAL_UNROLL
      for (int i = 0; i < V; ++i) part.at[i] = static_cast<In>(a.beyond);
    }
    return part;
  }
  /// Where a side lane's columns lie in its span's lines of vectors.
  struct Shown {
    /// Of bytes, for each word of columns: two words of the line, and the selector of its bytes. Of others, the places
    /// of two columns in a word.
    std::uint32_t from[is_bytes ? 4 : V / 2], selector[2];
    bool in_line;  ///< all lie there
  };
  static constexpr std::uint32_t no_place = 0xffff;  ///< of a column beyond the edge
  static constexpr int in_cell = is_bytes ? 4 : V;   ///< places in a lane's part of a line
  static_assert(in_cell * slots * warps * warp_size < static_cast<int>(no_place));

  AREAL_DEVICE Shown shown_by(const Place& at) const {
    Shown shown{};
    if (at.whole || !a.vectors) return shown;
    shown.in_line = true;
    const int first = at.x - V * at.lane, vectors = a.columns.extent / V * V;  // lines begin at vectors
    const int last = first + V * places < vectors ? first + V * places : vectors;
    /// The place of column i, and in `byte` which of a word's it is.
    const auto place_of_column = [&](int i, std::uint32_t& byte) {
      const int x = at.blank ? -1 : a.columns.pixel(at.x + i);
      byte = 0;
      if (x < 0) return no_place;
      if (x < first || x >= last) {
        shown.in_line = false;
        return no_place;
      }
      const int place = (x - first) / V, of = warps == 1 || place == places - 1 ? warps - 1 : place / (warp_size - 1);
      const int cell = of * slots * warp_size + place - of * (warp_size - 1), in = x % V;
      if constexpr (!is_bytes) return static_cast<std::uint32_t>(in_cell * cell + in);
      byte = static_cast<std::uint32_t>(in % 4);
      return static_cast<std::uint32_t>(in_cell * cell + in / 4);
    };
    AREAL_UNROLL
    for (int w = 0; w < (is_bytes ? 4 : V / 2); ++w) {
      std::uint32_t byte, one = 0, two = no_place, selector = 0;
      if constexpr (is_bytes) {
        bool has_two = false;
        AREAL_NO_UNROLL
        for (int b = 0; b < 4; ++b) {
          const std::uint32_t place = place_of_column(4 * w + b, byte);
          if (b == 0) {
            one = place;
          } else if (place != one && !has_two) {
            two = place, has_two = true;
          } else if (place != one && place != two) {
            shown.in_line = false;  // three words: in images of a few columns, or in those around another
          }
          selector |= (place == one ? byte : 4 + byte) << (4 * b);
        }
      } else {
        one = place_of_column(2 * w, byte), two = place_of_column(2 * w + 1, byte);
      }
      shown.from[w] = one | two << 16;
      shown.selector[w / 2] |= selector << (16 * (w % 2));
    }
    return shown;
  }
  /// A side lane's columns of a row, from its span's lines: all loads before the first use.
  AREAL_DEVICE Part from_line(const Part* line, const Shown& shown) const {
    Part part = beyond();
    if constexpr (is_bytes) {
      std::uint32_t word[8];
      AREAL_UNROLL
      for (int i = 0; i < 8; ++i) {
        const std::uint32_t at = shown.from[i / 2] >> (16 * (i % 2)) & 0xffff;
        word[i] = a.beyond;
        if (at != no_place) word[i] = m.get(line[at / 4].at[at % 4]);
      }
      AREAL_UNROLL
      for (int i = 0; i < 4; ++i)
        part.at[i] = m.permute(word[2 * i], word[2 * i + 1], shown.selector[i / 2] >> (16 * (i % 2)) & 0xffff);
    } else {
      AREAL_UNROLL
      for (int i = 0; i < V; ++i) {
        const std::uint32_t at = shown.from[i / 2] >> (16 * (i % 2)) & 0xffff;
        if (at != no_place) part.at[i] = m.get(line[at / V].at[at % V]);
      }
    }
    return part;
  }
  AREAL_DEVICE In pixel(const char* row, int x) const {
    const int at = a.columns.pixel(x);
    if (at < 0) return static_cast<In>(a.beyond);
    return load_element<M, In>(m, row + at * a.from.column, a.finish.pixel_aligned);
  }
  /// A lane's columns of the n-th row of the segment, one by one. The loads of four bytes are issued before the first
  /// is used.
  AREAL_DEVICE Part pixels(const Place& at, int n) const {
    if (at.blank) return beyond();
    const int y = a.rows.pixel(at.y - a.rows.before + n);
    if (y < 0) return beyond();
    const char* const row = at.image + y * a.from.row;
    Part part{};
    if constexpr (is_bytes) {
      if (at.words) return bytes(row + at.x);
      AREAL_NO_UNROLL
      for (int i = 0; i < 2; ++i) {
        std::uint32_t word[2] = {};
        AREAL_UNROLL
        for (int b = 0; b < 8; ++b) word[b / 4] |= std::uint32_t{pixel(row, at.x + 8 * i + b)} << (8 * (b % 4));
        part = {{part.at[2], part.at[3], word[0], word[1]}};
      }
    } else {
      AREAL_UNROLL
      for (int i = 0; i < V; ++i) part.at[i] = pixel(row, at.x + i);
    }
    return part;
  }
  /// 16 bytes at any address, from the five aligned words that hold them.
  AREAL_DEVICE Part bytes(const char* from) const {
    const auto first = reinterpret_cast<std::uintptr_t>(from);
    const auto* const aligned = reinterpret_cast<const std::uint32_t*>(first & ~std::uintptr_t{3});
    const std::uint32_t selector = 0x3210 + 0x1111 * static_cast<std::uint32_t>(first & 3);
    std::uint32_t word[5];
    AREAL_UNROLL
    for (int i = 0; i < 5; ++i) word[i] = m.load(aligned + i);
    Part part;
    AREAL_UNROLL
    for (int i = 0; i < 4; ++i) part.at[i] = m.permute(word[i], word[i + 1], selector);
    return part;
  }
  /// Begins to copy the n-th row, which is at `from` if it is plain, to a lane whose columns are a vector.
  template <bool plain>
  AREAL_DEVICE void copy(Part& cell, const Place& at, int n, const char* from) const {
    if constexpr (plain) {
      if (static_cast<unsigned>(n) < static_cast<unsigned>(at.rows))
        m.copy_async(cell, reinterpret_cast<const Part*>(from));
    } else if (static_cast<unsigned>(n - at.plain_begin) < at.plain_count) {
      m.copy_async(cell, reinterpret_cast<const Part*>(from));
    } else if (at.whole && n >= 0 && n < at.rows) {
      const int y = a.rows.pixel(at.y - a.rows.before + n);
      if (y >= 0)
        m.copy_async(cell, reinterpret_cast<const Part*>(at.image + y * a.from.row + at.x * a.from.column));
      else
        m.put(cell, beyond());
    }
  }
  /// A lane's part of the next line in its warp's ring, which begins with `first`.
  AREAL_DEVICE static void advance(int& line, int first) {
    line = line == first + (slots - 1) * warp_size ? first : line + warp_size;
  }

  /// Adds the rows that the first output's windows have before their last one.
  template <bool plain>
  AREAL_DEVICE void begin(const Place& at, Columns& sums, Squares& squares) const {
    const auto add = [&](const Part& row) {
      sums.enter(m, row);
      if constexpr (has_squares) squares.enter(m, row);
    };
    const int count = a.rows.size - 1;
    const char* row = at.image + (at.y - a.rows.before) * a.from.row + at.x * a.from.column;
    int left = at.plain_count < static_cast<unsigned>(count - at.plain_begin) ? static_cast<int>(at.plain_count)
                                                                              : count - at.plain_begin;
    AREAL_NO_UNROLL
    for (int n = 0; n < count;) {
      if (n >= at.plain_begin && left >= together) {
        Part part[together];
        AREAL_UNROLL
        for (int i = 0; i < together; ++i, row += a.from.row) part[i] = m.load(reinterpret_cast<const Part*>(row));
        AREAL_UNROLL
        for (int i = 0; i < together; ++i) add(part[i]);
        n += together, left -= together;
      } else {
        if (n >= at.plain_begin) --left;
        add(plain ? m.load(reinterpret_cast<const Part*>(row)) : vector(at, n));
        ++n, row += a.from.row;
      }
    }
  }
  /// A lane's columns of the n-th row, in one load if they are a vector.
  AREAL_DEVICE Part vector(const Place& at, int n) const {
    if (!at.whole) return pixels(at, n);
    const int y = a.rows.pixel(at.y - a.rows.before + n);
    if (y < 0) return beyond();
    return m.load(reinterpret_cast<const Part*>(at.image + y * a.from.row + at.x * a.from.column));
  }

  /// A lane's vector at centre_x of output row y, pixel by pixel.
  AREAL_DEVICE Part centre_pixels(const Place& at, int y) const {
    const char* const row = at.image + (std::int64_t{y} + a.finish.centre_y) * a.from.row;
    Part part{};
    AREAL_UNROLL
    for (int i = 0; i < V; ++i) {
      const int x = at.centre_x + i;
      if (x >= 0 && x < a.columns.extent)
        part.at[i / 4] |= std::uint32_t{m.load(reinterpret_cast<const std::uint8_t*>(row + x * a.from.column))}
                          << (8 * (i % 4));
    }
    return part;
  }

  /// Most spans are plain, and have a loop of their own: neither code nor registers for edges.
  template <bool plain>
  AREAL_DEVICE void walk(Shared& s, Span& span, const Place& at) const {
    const int first = m.warp() * slots * warp_size + m.lane();
    int next = first, line = first, leaving = first;
    Shown shown{};
    if constexpr (!plain) shown = shown_by(at);
    const bool shares = !plain && at.sided && a.vectors;  // lanes at the sides read the vectors of others
    const int base = warps == 1 ? m.lane() : first;       // from a lane's cell of a line to the span's first one
    int n = keeps || shares ? 0 : a.rows.size - 1;        // rows in the ring from this one on
    const char* from = at.image + (at.y - a.rows.before + n) * a.from.row + at.x * a.from.column;
    const char* centre_from = at.image + (std::int64_t{at.y} + n - (a.rows.size - 1) + a.finish.centre_y) * a.from.row +
                              at.centre_x * a.from.column;
    const auto fetch = [&](int row) {
      if constexpr (decides) {
        if (at.has_centre && row >= a.rows.size - 1 && row < at.rows)
          m.copy_async(s.centres[next], reinterpret_cast<const Part*>(centre_from));
        centre_from += a.from.row;
      }
      copy<plain>(s.enters[next], at, row, from);
      if constexpr (!keeps)
        copy<plain>(s.leaves[next], at, row < at.rows ? row - a.rows.size : -1, from - a.window_bytes);
      from += a.from.row;
      advance(next, first);
      m.commit_copies();
    };
    AREAL_NO_UNROLL
    for (int row = 0; row < ahead; ++row) fetch(n + row);
    Columns sums;
    Squares squares;
    if constexpr (!keeps)
      if (!shares) begin<plain>(at, sums, squares);
    const Reads<Columns> reads(at, a.columns.size);
    const std::conditional_t<has_quads, typename Quads::Place, Reads<Squares>> square_reads(at, a.columns.size);
    Target to = target_of(at);
    int y = at.y;
    AREAL_NO_UNROLL
    for (; n < at.rows; ++n) {
      m.template wait_copies<ahead - 1>();
      if (shares) meet();
      Part enters, leaves{};
      if (plain || at.whole) {
        enters = m.get(s.enters[line]);
      } else {
        enters = shown.in_line ? from_line(s.enters + line - base, shown) : pixels(at, n);
        if constexpr (keeps) m.put(s.enters[line], enters);
      }
      if (n >= a.rows.size) {
        if constexpr (keeps) {
          leaves = m.get(s.enters[leaving]);
          advance(leaving, first);
        } else {
          leaves = plain || at.whole ? m.get(s.leaves[line])
                   : shown.in_line   ? from_line(s.leaves + line - base, shown)
                                     : pixels(at, n - a.rows.size);
        }
      }
      Part centre{};
      if constexpr (decides) {
        if (at.has_centre && n >= a.rows.size - 1)
          centre = m.get(s.centres[line]);
        else if (!plain && at.part_of_centre && n >= a.rows.size - 1)
          centre = centre_pixels(at, y);
      }
      if constexpr (!keeps)
        if (shares) meet();  // before the next row takes the line's place
      advance(line, first);
      fetch(n + ahead);
      sums.move(m, enters, leaves);
      if constexpr (has_squares) squares.move(m, enters, leaves);
      if (n < a.rows.size - 1) continue;
      Window window[V];
      if constexpr (decides) {
        typename Decision<M, Squares>::SquareSums square;
        windows(span, at, sums, reads, window, squares, square_reads, square);
        store_bytes<plain>(at, to, decided<plain>(at, y, window, square, centre));
      } else if constexpr (is_bytes) {
        if constexpr (C::width > 0)
          near_windows(sums, window);
        else
          windows(span, at, sums, reads, window, squares, square_reads, window);
        store_bytes<plain>(at, to, averaged<plain>(at, y, window));
      } else {
        Window square[V] = {};
        windows(span, at, sums, reads, window, squares, square_reads, square);
        store_any<plain>(at, to, y, window, square);
      }
      to.at += a.to.row;
      ++y;
    }
  }

  // ---------------------------------------------------------------- windows

  AREAL_DEVICE void meet() const {
    if constexpr (warps == 1)
      m.sync_warp();
    else
      m.sync();
  }
  /// Where a lane finds its own words, and those `width` columns to the left.
  template <class F>
  struct Reads {
    int own, from[F::words + 1];
    AREAL_DEVICE Reads(const Place& at, int width) {
      own = cell_of(F::words * at.lane);
      const int back = F::words * at.lane - F::words_back(width);
      AREAL_UNROLL
      for (int i = 0; i <= F::words; ++i)
        from[i] = cell_of(back + i < -zeros * F::words ? -zeros * F::words : back + i);
    }
    AREAL_DEVICE static int cell_of(int word) {
      const auto at = static_cast<unsigned>(word + zeros * F::words);
      return static_cast<int>(at + at / F::words);
    }
  };
  template <class F>
  AREAL_DEVICE void give(Exchange<F>& exchange, const Place& at, const F& sums, const Reads<F>& reads) const {
    if (warps > 1 && m.lane() == warp_size - 1 && at.lane != places - 1) return;
    std::uint32_t word[F::words];
    sums.to_words(word);
    AREAL_UNROLL
    for (int i = 0; i < F::words; ++i) m.put(exchange.cell[reads.own + i], word[i]);
  }
  /// Running differences within the lane; returns the sum of those before it in its warp.
  template <class F>
  AREAL_DEVICE typename F::Window differences(Exchange<F>& exchange, const F& sums, const Reads<F>& reads,
                                              typename F::Window (&window)[V]) const {
    std::uint32_t read[F::words + 1], left[F::words], own[F::words];
    AREAL_UNROLL
    for (int i = 0; i <= F::words; ++i) read[i] = m.get(exchange.cell[reads.from[i]]);
    F::aligned(m, a.columns.size, read, left);
    sums.to_words(own);
    F::running(m, own, left, 0, window);
    const typename F::Window all = window[V - 1] - V * F::bias, upto = warp_scan(m, all);
    if constexpr (warps > 1)
      if (m.lane() == warp_size - 2) m.put(exchange.total[m.warp()], upto);
    return upto - all;
  }
  template <class F>
  AREAL_DEVICE void add_base(const Exchange<F>& exchange, typename F::Window base,
                             typename F::Window (&window)[V]) const {
    if constexpr (warps > 1) {
      AREAL_UNROLL
      for (int i = 0; i < warps - 1; ++i) {
        const typename F::Window total = m.get(exchange.total[i]);
        if (i < m.warp()) base += total;
      }
    }
    AREAL_UNROLL
    for (int i = 0; i < V; ++i) window[i] = window[i] + base - (i + 1) * F::bias;
  }
  /// window[i], and square[i]: the sums of the window that ends at the lane's column i.
  template <class SquareReads, int n>
  AREAL_DEVICE void windows(Span& span, const Place& at, const Columns& sums, const Reads<Columns>& reads,
                            Window (&window)[V], const Squares& squares, const SquareReads& square_reads,
                            Window (&square)[n]) const {
    give(span.sums, at, sums, reads);
    if constexpr (has_quads)
      span.squares.give(m, square_reads, squares.word);
    else if constexpr (has_squares)
      give(span.squares, at, squares, square_reads);
    meet();
    const Window base = differences(span.sums, sums, reads, window);
    Window square_base = 0;
    if constexpr (has_quads)
      square_base = quad_differences(span.squares, squares, square_reads, square);
    else if constexpr (has_squares)
      square_base = differences(span.squares, squares, square_reads, square);
    meet();
    add_base(span.sums, base, window);
    if constexpr (has_quads)
      square[V] = square_base;
    else if constexpr (has_squares)
      add_base(span.squares, square_base, square);
  }
  /// window[i]: less the sum before the lane, which it returns.
  AREAL_DEVICE Window quad_differences(const Quads& quads, const Squares& sums, const typename Quads::Place& place,
                                       Window (&window)[V + 1]) const {
    std::uint32_t left[V];
    quads.template take<C::phase>(m, place, left);
    Window all = 0;
    AREAL_UNROLL
    for (int i = 0; i < V; ++i) window[i] = all += sums.word[i] - left[i];
    return warp_scan(m, all) - all;
  }

  /// The same, plus (i + 1) bias, for windows of a known width, which begin in the lane before at the earliest.
  AREAL_DEVICE void near_windows(const Columns& sums, Window (&window)[V]) const {
    static constexpr int back = (C::width + 1) / 2;  // words
    std::uint32_t word[words + back];                // the last ones of the lane before, then the lane's own
    AREAL_UNROLL
    for (int i = 0; i < back; ++i) word[i] = m.shuffle_up(sums.word[words - back + i], 1);
    AREAL_UNROLL
    for (int i = 0; i < words; ++i) word[back + i] = sums.word[i];
    // The window that ends before the lane's first column: halves of words have sums of 16 bits.
    static_assert(back * (C::ring - ahead) * 255 <= 0xffff);
    std::uint32_t before = word[0] & 0xffff0000u, left[words];
    AREAL_UNROLL
    for (int i = 1; i < back; ++i) before += word[i];
    AREAL_UNROLL
    for (int i = 0; i < words; ++i) left[i] = m.permute(word[i], word[i + 1], 0x5432);
    Columns::running(m, sums.word, left, (before & 0xffff) + (before >> 16), window);
  }

  // ---------------------------------------------------------------- outputs

  /// Where a lane's outputs of a row go.
  struct Target {
    char* at;
    int x, count;
    bool vector;
  };
  AREAL_DEVICE Target target_of(const Place& at) const {
    Target to;
    if constexpr (is_bytes) {
      // A vector of outputs ends in the next lane.
      to.x = at.x - (a.slides ? after() : a.columns.after() / V * V);
      to.count = at.end - to.x < V ? at.end - to.x : V;
      if (at.lane < a.first_lane || m.lane() == warp_size - 1 || to.count < 0) to.count = 0;
      to.vector = a.out_vectors && to.count == V;
    } else {
      to.x = at.x - a.columns.after();
      to.count = warps > 1 && m.lane() == warp_size - 1 && at.lane != places - 1 ? 0 : V;
      to.vector = false;
    }
    to.at = at.out + at.y * a.to.row + to.x * a.to.column;
    return to;
  }

  /// The lane's windows in row y are whole.
  template <bool plain>
  AREAL_DEVICE bool whole_windows(const Place& at, int y) const {
    return plain || static_cast<unsigned>(y - at.full_begin) < at.full_count;
  }
  template <bool plain>
  AREAL_DEVICE Part averaged(const Place& at, int y, Window (&window)[V]) const {
    if (!whole_windows<plain>(at, y)) return means_inside(at, y, window);
    Part part;
    AREAL_UNROLL
    for (int i = 0; i < 4; ++i) part.at[i] = means(window, 4 * i);
    return part;
  }
  template <bool plain, int n>
  AREAL_DEVICE Part decided(const Place& at, int y, const Window (&window)[V], const Window (&square)[n],
                            const Part& centre) const {
    const Decision<M, Squares> decision{m, a.decide};
    const Part pixels = decision.centre_of(centre);
    bool doubt = false;
    const Part part = decision.of(window, square, pixels, doubt);
    const bool whole = whole_windows<plain>(at, y);
    if (!at.has_outputs || (!doubt && whole)) return part;
    return decision.exactly(window, square, pixels, a.finish, a.columns, whole ? a.rows.size : a.rows.inside(y), whole,
                            at.x - after());
  }

  template <bool plain>
  AREAL_DEVICE void store_bytes(const Place& at, const Target& to, Part part) const {
    if (!plain && a.slides) return slide(at, to, part);
    part = shifted(part, after() % V);
    if (plain ? to.count > 0 : to.vector) m.store_streaming(reinterpret_cast<Part*>(to.at), part);
    if (plain || to.vector) return;
    AREAL_NO_UNROLL
    for (int i = 0; i < to.count; ++i) {
      m.store_streaming(reinterpret_cast<std::uint8_t*>(to.at + i * a.to.column),
                        static_cast<std::uint8_t>(part.at[0] & 0xff));
      part = without_first(part);
    }
  }

  /// Stores a row that begins at any address: the vectors' first bytes are those of aligned addresses, so that the
  /// lanes at the strip's ends have parts of a vector.
  AREAL_DEVICE void slide(const Place& at, const Target& to, const Part& part) const {
    const int bytes = static_cast<int>(-reinterpret_cast<std::uintptr_t>(to.at) & (V - 1));
    Part vector = shifted(part, bytes);
    const int x = to.x + bytes, begin = at.begin - x;
    int end = at.end - x < V ? at.end - x : V;
    // The last lane has no next one. Other warps' last lanes have the columns of the next warp's first.
    if (m.lane() == warp_size - 1) end = at.lane < places - 1 ? 0 : end < V - bytes ? end : V - bytes;
    if (at.lane < a.first_lane - 1) end = 0;
    if (begin <= 0 && end == V) {
      m.store_streaming(reinterpret_cast<Part*>(to.at + bytes), vector);
      return;
    }
    AREAL_NO_UNROLL
    for (int i = 0; i < end; ++i) {
      if (i >= begin)
        m.store_streaming(reinterpret_cast<std::uint8_t*>(to.at + bytes + i),
                          static_cast<std::uint8_t>(vector.at[0] & 0xff));
      vector = without_first(vector);
    }
  }
  AREAL_DEVICE static Part without_first(const Part& part) {
    return {{part.at[0] >> 8 | part.at[1] << 24, part.at[1] >> 8 | part.at[2] << 24, part.at[2] >> 8 | part.at[3] << 24,
             part.at[3] >> 8}};
  }

  /// Of the window that ends at column i; with `product` in the highest byte.
  AREAL_DEVICE std::uint32_t mean(std::uint32_t sum, int i) const {
    if constexpr (C::output == WalkOutput::product) return sum * a.factor + a.add[i];
    if constexpr (C::output == WalkOutput::upper) return a.mean.up(sum);
    return a.mean(sum);
  }
  /// Four means in a word.
  AREAL_DEVICE std::uint32_t means(const Window (&window)[V], int i) const {
    const std::uint32_t selector = C::output == WalkOutput::product ? 0x0073 : 0x0040;
    return m.permute(m.permute(mean(window[i], i), mean(window[i + 1], i + 1), selector),
                     m.permute(mean(window[i + 2], i + 2), mean(window[i + 3], i + 3), selector), 0x5410);
  }
  /// Of windows of which a part lies beyond the edge. Takes the windows from the array's beginning, four at a time.
  AREAL_DEVICE Part means_inside(const Place& at, int y, Window (&window)[V]) const {
    const int down = a.rows.inside(y);
    int x = at.x - after();
    Part part{};
    AREAL_UNROLL
    for (int i = 0; i < V; ++i) window[i] -= (i + 1) * bias;
    AREAL_NO_UNROLL
    for (int i = 0; i < 4; ++i) {
      std::uint32_t word = 0;
      AREAL_UNROLL
      for (int b = 0; b < 4; ++b, ++x) {
        const auto n = static_cast<std::uint32_t>(down * a.columns.inside(x)), more = window[b] + n / 2;
        std::uint32_t mean = more / n;
        if (n % 2 == 0 && mean * n == more) mean -= mean & 1;
        word |= (mean & 0xff) << (8 * b);
      }
      part = {{part.at[1], part.at[2], part.at[3], word}};
      AREAL_UNROLL
      for (int b = 0; b < V - 4; ++b) window[b] = window[b + 4];
    }
    return part;
  }

  /// The 16 bytes that begin at byte `bytes` < 16 of the lane's, the last ones from the next lane.
  AREAL_DEVICE Part shifted(const Part& part, int bytes) const {
    switch (bytes / 4) {
      case 0:
        return bytes == 0 ? part : shifted_words<0>(part, bytes % 4);
      case 1:
        return shifted_words<1>(part, bytes % 4);
      case 2:
        return shifted_words<2>(part, bytes % 4);
      default:
        return shifted_words<3>(part, bytes % 4);
    }
  }
  template <int n>
  AREAL_DEVICE Part shifted_words(const Part& part, int bytes) const {
    std::uint32_t word[5 + n];
    AREAL_UNROLL
    for (int i = 0; i < 4; ++i) word[i] = part.at[i];
    AREAL_UNROLL
    for (int i = 0; i <= n; ++i) word[4 + i] = m.shuffle_down(part.at[i], 1);
    const std::uint32_t selector = 0x3210 + 0x1111 * static_cast<std::uint32_t>(bytes);
    Part to;
    AREAL_UNROLL
    for (int i = 0; i < 4; ++i) to.at[i] = m.permute(word[n + i], word[n + i + 1], selector);
    return to;
  }

  template <bool plain>
  AREAL_DEVICE void store_any(const Place& at, const Target& to, int y, Window (&window)[V],
                              Window (&square)[V]) const {
    const bool inside = !plain && a.columns.edge == Edge::shrink;
    const int down = inside ? a.rows.inside(y) : a.rows.size;
    char* out = to.at;
    AREAL_NO_UNROLL
    for (int i = 0; i < to.count; ++i, out += a.to.column) {
      const int x = to.x + i;
      if (x >= at.begin && x < at.end) {
        const std::int64_t n = std::int64_t{down} * (inside ? a.columns.inside(x) : a.columns.size);
        const auto centre = [&] {
          const char* const from = at.image + (std::int64_t{y} + a.finish.centre_y) * a.from.row +
                                   (std::int64_t{x} + a.finish.centre_x) * a.from.column;
          return static_cast<double>(load_element<M, In>(m, from, a.finish.pixel_aligned));
        };
        const double value =
            a.finish(window[0], std::is_signed_v<In>, square[0], static_cast<std::uint64_t>(n), centre);
        store_rounded(m, out, a.finish.out, value, a.finish.out_aligned);
      }
      AREAL_UNROLL
      for (int b = 0; b < V - 1; ++b) window[b] = window[b + 1], square[b] = square[b + 1];
    }
  }
};

}  // namespace areal::kernels
