#pragma once
// thin (areal). A launch for each 16 lines. Reads 1, writes 1 per element. Floats are the same every run.
//
// For images of few rows or of few columns, whose tiles would be all but empty. The image is taken as a thin of
// `deep` lines, along whichever side is the longer: a block takes the next piece of it, all lines, and keeps it on chip
// from its only read to its only write, in the order in which the elements lie in memory:
//   load    the piece, converted
//   scan    each line of the piece along the thin: a thread sums its own positions, then the lanes of a warp theirs
//   gather  the sum of each line before the piece, as held does sideways: what the pieces before it in its group have
//           published, and the groups' sums, which each group's last piece publishes
//   add     to each element, read again there, what is before, then the lines above, those of the thin above by its
//           last line in the table: the sums
//   write   the piece
// A piece only waits for pieces with smaller tickets.

#include <algorithm>
#include <cstdint>
#include "kernels/primitives/elements.hpp"
#include "kernels/primitives/fill_border.hpp"
#include "kernels/primitives/handover.hpp"
#include "kernels/primitives/machine.hpp"
#include "kernels/primitives/strides.hpp"
#include "kernels/primitives/table_geometry.hpp"
#include "kernels/primitives/warp/warp.hpp"
#include "kernels/primitives/workspace.hpp"
#include "kernels/sat/request.hpp"
#include "kernels/sat/valid.hpp"

namespace areal::kernels {

template <class T>
struct ThinArgs {
  const char* image;
  char* table;                ///< where the first sum goes
  const std::uint8_t* valid;  ///< which pixels count; null where all do
  Strides in, out, valid_in;  ///< `column` along the thin, `row` from line to line
  std::int64_t length;        ///< of the thin
  int deep, channels;         ///< lines; channels
  bool below;                 ///< another thin
  bool edge;                  ///< zeros belong before the first sum of each line, and before the first line
  bool lines_side_by_side;    ///< the lines' elements are neighbours in memory, not those of one line
  int piece;                  ///< positions of a piece
  std::int64_t pieces;
  int group;            ///< pieces of a group
  std::int64_t groups;  ///< of the thin
  // The workspace; all but the first for each image and channel:
  std::uint64_t* ticket;
  Tagged<T>* sums;    ///< [pieces][deep] of the piece's lines
  Tagged<T>* beside;  ///< [groups][deep] of the group's lines
};

template <class M, class C>
struct Thin {
  using In = typename C::In;
  using T = typename C::T;
  using Word = Tagged<T>;
  using Tag = typename Word::Tag;
  using Args = ThinArgs<T>;
  static constexpr int threads = C::threads, warps = threads / warp_size, resident = C::resident;
  static constexpr int each = C::each, elements = each * threads;  // of a thread, of a piece, at most
  static constexpr int parts = threads / thin_lines;
  static constexpr int few = 4;  // lines that are worth code of their own

  /// Positions of a piece of a thin with so many lines.
  static constexpr int positions(int deep) { return each / (deep <= few ? few : thin_lines) * threads; }

  struct Shared {
    T piece[(elements + thin_lines * warp_size) / warp_size * (warp_size + 1)];  // see slot
    T line[thin_lines][warps];                                                   // a warp's sum of a line
    T part[2][parts][thin_lines];
    T near[thin_lines];
    Ticket ticket;
  };

  M m;
  Args a;

  AREAL_DEVICE void operator()() {
    Shared& s = m.template shared<Shared>();
    if (m.thread() == 0) m.put(s.ticket, take_ticket(m, a.ticket));
    m.sync();
    const Ticket ticket = m.get(s.ticket);
    const Tag tag = static_cast<Tag>(ticket.launch);
    std::uint64_t at;
    choose_image(static_cast<std::int64_t>(divide(ticket.turn, static_cast<std::uint64_t>(a.pieces), at)));
    const auto n = static_cast<std::int64_t>(at);
    const Piece piece = piece_at(n);
    const char* const image = a.image + piece.begin * a.in.column;
    char* const table = a.table + piece.begin * a.out.column;
    const std::uint8_t* const valid = a.valid == nullptr ? nullptr : a.valid + piece.begin * a.valid_in.column;

    if (a.in.alignment != Alignment::bytes)
      walk<In>(s, piece, a.in, Load{m, image, true, valid, a.valid_in});
    else
      walk<In>(s, piece, a.in, Load{m, image, false, valid, a.valid_in});
    m.sync();
    if (a.deep <= few)
      sum<few>(s, piece, n, tag);
    else
      sum<thin_lines>(s, piece, n, tag);
    m.sync();
    if (a.edge) write_edge(piece);
    if (a.out.alignment != Alignment::bytes)
      walk<T>(s, piece, a.out, Write{m, table, true});
    else
      walk<T>(s, piece, a.out, Write{m, table, false});
  }

  AREAL_DEVICE void choose_image(std::int64_t n) {
    if (n == 0) return;
    const std::int64_t batch = n / a.channels, channel = n % a.channels;
    a.image += batch * a.in.batch + channel * a.in.channel;
    a.table += batch * a.out.batch + channel * a.out.channel;
    if (a.valid != nullptr) a.valid += batch * a.valid_in.batch;
    a.sums += n * a.pieces * a.deep;
    a.beside += n * a.groups * a.deep;
  }

  /// The piece in the order in which it lies in memory: rows of neighbours.
  struct Piece {
    std::int64_t begin;  ///< position on the thin
    int positions;
    int rows, neighbours;  ///< in memory
    int pitch;             ///< from row to row where the piece is kept
  };
  AREAL_DEVICE Piece piece_at(std::int64_t n) const {
    const std::int64_t begin = n * a.piece;
    const int positions = static_cast<int>(a.length - begin < a.piece ? a.length - begin : a.piece);
    if (a.lines_side_by_side) return {begin, positions, positions, a.deep, a.deep};
    return {begin, positions, a.deep, positions, (positions + warp_size - 1) / warp_size * warp_size};
  }
  /// Where an element of the piece is kept. A gap after every 32 elements spreads equal distances over the banks.
  AREAL_DEVICE static constexpr int slot(int e) { return e + e / warp_size; }
  AREAL_DEVICE T& cell(Shared& s, const Piece& piece, int x, int line) const {
    return s.piece[slot(a.lines_side_by_side ? x * piece.pitch + line : line * piece.pitch + x)];
  }

  /// Moves this thread's elements of a piece between memory and where it is kept, some at a time; neighbouring threads
  /// have neighbours in memory. f.some<n>(is there an i-th, its offset in memory, its position, its line, its cell).
  template <class Element, class F>
  AREAL_DEVICE void walk(Shared& s, const Piece& piece, const Strides& strides, F&& f) {
    static constexpr int batch = 8;  // asked for before any is waited for
    const std::int64_t beside = a.lines_side_by_side ? strides.row : strides.column,
                       beyond = a.lines_side_by_side ? strides.column : strides.row;
    if (f.any_element() && beside == static_cast<std::int64_t>(sizeof(Element)) &&
        (!a.lines_side_by_side || beyond == piece.neighbours * beside)) {
      // Neighbours without a gap, and if the rows are short, those without a gap, too.
      const int rows = a.lines_side_by_side ? 1 : piece.rows,
                neighbours = a.lines_side_by_side ? piece.rows * piece.neighbours : piece.neighbours;
      for (int row = 0; row < rows; ++row) {
        T* to = &s.piece[slot(row * piece.pitch) + slot(m.thread())];
        std::int64_t offset = row * beyond + m.thread() * static_cast<std::int64_t>(sizeof(Element));
        for (int e = m.thread(); e < neighbours; e += batch * threads) {
          f.template some<batch>(
              [&](int i) { return e + i * threads < neighbours; },
              [&](int i) { return offset + i * threads * static_cast<std::int64_t>(sizeof(Element)); },
              [](int) { return 0; }, [](int) { return 0; }, [&](int i) -> T& { return to[i * slot(threads)]; });
          to += batch * slot(threads), offset += batch * threads * static_cast<std::int64_t>(sizeof(Element));
        }
      }
      return;
    }
    const int count = piece.rows * piece.neighbours;
    for (int e = m.thread(); e < count; e += threads) {
      const int row = e / piece.neighbours, beside_it = e - row * piece.neighbours;
      const int x = a.lines_side_by_side ? row : beside_it, line = a.lines_side_by_side ? beside_it : row;
      f.template some<1>([](int) { return true; }, [&](int) { return row * beyond + beside_it * beside; },
                         [&](int) { return x; }, [&](int) { return line; },
                         [&](int) -> T& { return s.piece[slot(row * piece.pitch + beside_it)]; });
    }
  }

  struct Load {
    const M& m;
    const char* from;
    bool aligned;
    const std::uint8_t* valid;
    Strides valid_in;
    AREAL_DEVICE bool any_element() const { return valid == nullptr; }  ///< wherever on the thin it is
    template <int n, class Is, class Offset, class X, class Line, class Cell>
    AREAL_DEVICE void some(Is is, Offset offset, X x, Line line, Cell cell) const {
      T value[n];
      AREAL_UNROLL
      for (int i = 0; i < n; ++i) {
        value[i] = 0;
        if (is(i) && (valid == nullptr || m.load(valid + x(i) * valid_in.column + line(i) * valid_in.row) != 0))
          value[i] = term<T>(load_element<M, In>(m, from + offset(i), aligned));
      }
      AREAL_UNROLL
      for (int i = 0; i < n; ++i)
        if (is(i)) m.put(cell(i), value[i]);
    }
  };
  struct Write {
    const M& m;
    char* to;
    bool aligned;
    AREAL_DEVICE bool any_element() const { return true; }
    template <int n, class Is, class Offset, class X, class Line, class Cell>
    AREAL_DEVICE void some(Is is, Offset offset, X, Line, Cell cell) const {
      AREAL_UNROLL
      for (int i = 0; i < n; ++i)
        if (is(i)) store_element(m, to + offset(i), m.get(cell(i)), aligned);
    }
  };

  /// The piece, of up to `lines` lines, becomes what belongs in the table.
  template <int lines>
  AREAL_DEVICE void sum(Shared& s, const Piece& piece, std::int64_t n, Tag tag) {
    static constexpr int count = each / lines;
    const int begin = m.thread() * count;
    // What is in the piece is read again after the hand-over: kept until then, it would not fit the registers.
    const auto pixel = [&](int line, int i) {
      return line < a.deep && begin + i < piece.positions ? m.get(cell(s, piece, begin + i, line)) : T(0);
    };
    T before[lines];
    AREAL_UNROLL
    for (int line = 0; line < lines; ++line) {
      T own = 0;
      AREAL_UNROLL
      for (int i = 0; i < count; ++i) own += pixel(line, i);
      const T all = warp_scan(m, own);
      before[line] = before_in_scan(m, all, own);
      if (m.lane() == warp_size - 1) m.put(s.line[line][m.warp()], all);
    }
    m.sync();
    const T warp_base = gather_before(s, n, tag);
    const bool aligned = a.out.alignment != Alignment::bytes;
    const char* const above = a.table + (piece.begin + begin) * a.out.column - a.out.row;
    T down[count];
    AREAL_UNROLL
    for (int i = 0; i < count; ++i) {
      down[i] = 0;
      if (a.below && begin + i < piece.positions) down[i] = load_element<M, T>(m, above + i * a.out.column, aligned);
    }
    AREAL_UNROLL
    for (int line = 0; line < lines; ++line) {
      if (line >= a.deep) break;
      const T beside = m.shuffle(warp_base, line);
      T own = 0;
      AREAL_UNROLL
      for (int i = 0; i < count; ++i) {
        own += pixel(line, i);
        down[i] += before[line] + own;
        if (begin + i < piece.positions) m.put(cell(s, piece, begin + i, line), down[i] + beside);
      }
    }
  }

  /// What lies before this warp's positions in all lines down to that of the lane's number.
  AREAL_DEVICE T gather_before(Shared& s, std::int64_t n, Tag tag) {
    const int line = m.thread() % thin_lines, part = m.thread() / thin_lines, deep = a.deep;
    const bool mine = line < deep;
    std::uint64_t rest;
    const int group =
        static_cast<int>(divide(static_cast<std::uint64_t>(n), static_cast<std::uint64_t>(a.group), rest));
    const int place = static_cast<int>(rest);
    T own = 0;
    if (part == 0 && mine) {
      AREAL_UNROLL
      for (int w = 0; w < warps; ++w) own += m.get(s.line[line][w]);
      if (n + 1 < a.pieces) m.store_relaxed(a.sums + n * deep + line, Word{own, tag});
    }
    const auto from = [deep](const Word* first) {
      return [=](int i) { return first + static_cast<std::int64_t>(i) * deep; };
    };
    // Both are asked for before either is waited for.
    auto near = gather<2>(m, tag, part, parts, mine ? place : 0, from(a.sums + (n - place) * deep + line));
    auto far = gather<2>(m, tag, part, parts, mine ? group : 0, from(a.beside + line));
    m.put(s.part[0][part][line], near.sum());
    m.sync();
    T before = 0;
    if (part == 0 && mine) {
      AREAL_UNROLL
      for (int p = 0; p < parts; ++p) before += m.get(s.part[0][p][line]);
      if (place == a.group - 1 && group + 1 < a.groups)
        m.store_relaxed(a.beside + static_cast<std::int64_t>(group) * deep + line, Word{before + own, tag});
      m.put(s.near[line], before);
    }
    m.put(s.part[1][part][line], far.sum());
    m.sync();
    T base = 0;
    if (m.lane() < deep) {
      base = m.get(s.near[m.lane()]);
      AREAL_UNROLL
      for (int p = 0; p < parts; ++p) base += m.get(s.part[1][p][m.lane()]);
      AREAL_UNROLL
      for (int w = 0; w < warps; ++w)
        if (w < m.warp()) base += m.get(s.line[m.lane()][w]);
    }
    return warp_scan(m, base);
  }

  AREAL_DEVICE void write_edge(const Piece& piece) {
    const bool aligned = a.out.alignment != Alignment::bytes;
    char* const to = a.table + piece.begin * a.out.column;
    if (!a.below)
      for (int x = m.thread(); x < piece.positions; x += threads)
        store_element(m, to - a.out.row + x * a.out.column, T(0), aligned);
    if (piece.begin > 0 || m.thread() > a.deep) return;
    const int line = m.thread() - 1;  // -1: the corner
    if (line >= 0 || !a.below) store_element(m, to + line * a.out.row - a.out.column, T(0), aligned);
  }
};

/// Lane and tuning, of one H200, 2026-11: pieces of 32 KiB.
template <class In_, class T_>
struct ThinConfig {
  using In = In_;
  using T = T_;
  static constexpr int threads = 256, resident = 4, each = 128 / static_cast<int>(sizeof(T));
};

/// The geometry and the workspace of one plan.
template <class C>
struct ThinPlan {
  using In = typename C::In;
  using T = typename C::T;
  using Kernel = Thin<NoMachine, C>;

  explicit ThinPlan(const TableRequest& request, void* workspace = nullptr) {
    const TableGeometry p = table_geometry(request.image, request.border);
    flipped = p.height > p.width;
    args.length = std::max(p.width, p.height), lines = std::min(p.width, p.height);
    args.edge = p.offset == 1;
    args.channels = static_cast<int>(request.image.channels);
    const std::int64_t images = lines == 0 ? 0 : request.image.batch * request.image.channels;
    if (images == 0) return;
    const int deep = static_cast<int>(std::min<std::int64_t>(lines, thin_lines));
    args.piece = Kernel::positions(deep);
    args.pieces = (args.length + args.piece - 1) / args.piece;
    args.group = 1;
    while (static_cast<std::int64_t>(args.group) * args.group < args.pieces) ++args.group;
    args.groups = (args.pieces + args.group - 1) / args.group;
    Workspace from(workspace);
    from.take(args.ticket, 1);
    from.take(args.sums, args.pieces * images * deep);
    from.take(args.beside, args.groups * images * deep);
    workspace_bytes = from.bytes();
    blocks = args.pieces * images;
  }

  ThinArgs<T> args{};
  bool flipped = false;  ///< the thin runs down the columns
  std::int64_t lines = 0, blocks = 0;
  std::size_t workspace_bytes = 0;
};

/// The schedule. The workspace was zeroed once.
template <class C, class Launcher>
void thin(Launcher& launcher, const TableRequest& request, const ConstView& image, const Valid& valid,
          const TableViews& tables, void* workspace) {
  const View& table = tables.sum;
  ThinPlan<C> plan(request, workspace);
  if (plan.blocks == 0) {  // no sums
    if (request.border != Border::none) fill_border<typename C::T>(launcher, table);
    return;
  }
  auto& a = plan.args;
  a.in = strides(image), a.out = strides(table);
  a.image = static_cast<const char*>(image.data);
  a.table = static_cast<char*>(table.data) + (a.edge ? a.out.row + a.out.column : 0);
  a.in.alignment = alignment_of(a.image, a.in, sizeof(typename C::In), sizeof(typename C::In));
  a.out.alignment = alignment_of(a.table, a.out, sizeof(typename C::T), sizeof(typename C::T));
  a.valid = valid.plane;
  a.valid_in.row = valid.row, a.valid_in.column = 1, a.valid_in.batch = valid.image;
  if (plan.flipped)
    for (Strides* strides : {&a.in, &a.out, &a.valid_in}) std::swap(strides->row, strides->column);
  a.lines_side_by_side = plan.flipped;
  for (std::int64_t line = 0; line < plan.lines; line += thin_lines) {
    a.deep = static_cast<int>(std::min<std::int64_t>(thin_lines, plan.lines - line));
    a.below = line > 0;
    launcher.template launch<Thin, C>(plan.blocks, a, false);
    a.image += thin_lines * a.in.row, a.table += thin_lines * a.out.row;
    if (a.valid != nullptr) a.valid += thin_lines * a.valid_in.row;
  }
}

}  // namespace areal::kernels
