#pragma once
// thin (areal). A launch for each 16 lines. Reads 1, writes 1 per element. Floats have the same bits every run.
//
// For images of few rows or of few columns, whose tiles would be nearly empty. A launch handles up to 16 lines along
// the longer side: a block takes the next chunk of all of them and keeps it on chip from its only read to its only
// write, in memory order:
//   load    the chunk, converted
//   scan    each line of the chunk: a thread sums its own positions, then the lanes of a warp theirs
//   gather  the sum of each line before the chunk, as lookback does sideways: from the published sums of the chunks
//           before it in its group, and of the groups before, which each group's last chunk publishes
//   add     to each element, which is read again, the sum before it and the lines above; lines of the previous launch
//           through its last line in the table
//   write   the chunk
// The carry of a piece of a larger table serves as the line before the first, and as the sum before each line. A chunk
// only waits for chunks with smaller tickets.

#include <algorithm>
#include <cstdint>
#include "kernels/primitives/carry_lines.hpp"
#include "kernels/primitives/elements.hpp"
#include "kernels/primitives/fill_border.hpp"
#include "kernels/primitives/machine.hpp"
#include "kernels/primitives/strides.hpp"
#include "kernels/primitives/table_geometry.hpp"
#include "kernels/primitives/tile_state.hpp"
#include "kernels/primitives/warp/warp.hpp"
#include "kernels/primitives/workspace.hpp"
#include "kernels/sat/request.hpp"
#include "kernels/sat/valid.hpp"

namespace areal::kernels {

template <class T>
struct ThinArgs {
  const char* image;
  char* table;                ///< where the first sum goes
  const std::uint8_t* valid;  ///< marks of valid pixels; null if all are valid
  Strides in, out, valid_in;  ///< `column` along a line, `row` from line to line
  std::int64_t length;        ///< of a line
  int lines, channels;
  bool below;  ///< there is a launch for the lines above
  bool edge;   ///< zeros, or the carry, go before the first sum of each line, and before the first line
  CarryLine corner, before_first, before_each;  ///< the carry: the line before, and the sum before each line
  bool lines_side_by_side;                      ///< consecutive elements in memory belong to different lines
  int chunk;                                    ///< positions of a chunk
  std::int64_t chunks;
  int group;  ///< chunks of a group
  std::int64_t groups;
  // The workspace; all but the first for each image and channel:
  std::uint64_t* ticket;
  TileState<T>* sums;        ///< [chunks][lines] of the chunk's lines
  TileState<T>* group_sums;  ///< [groups][lines] of the group's lines
};

template <class M, class C>
struct Thin {
  using In = typename C::In;
  using T = typename C::T;
  using Word = TileState<T>;
  using Epoch = typename Word::Epoch;
  using Args = ThinArgs<T>;
  static constexpr int threads = C::threads, warps = threads / warp_size, resident = C::resident;
  static constexpr int items_per_thread = C::items_per_thread,
                       elements = items_per_thread * threads;  // of a thread, of a chunk, at most
  static constexpr int threads_per_line = threads / thin_lines;
  static constexpr int few = 4;  // lines for which special code pays

  /// Positions of a chunk of `lines` lines.
  static constexpr int positions(int lines) { return items_per_thread / (lines <= few ? few : thin_lines) * threads; }

  struct Shared {
    T chunk[(elements + thin_lines * warp_size) / warp_size * (warp_size + 1)];  // see slot
    T line[thin_lines][warps];                                                   // a warp's sum of a line
    T thread_sums[2][threads_per_line][thin_lines];
    T near[thin_lines];
    Ticket ticket;
  };

  /// The chunk in memory order: rows of consecutive elements.
  struct Chunk {
    std::int64_t begin;  ///< position on the line
    int positions;
    int rows, neighbours;  ///< in memory
    int pitch;             ///< between rows, in the chunk's buffer
  };

  M m;
  Args a;

  AREAL_DEVICE void operator()() {
    Shared& s = m.template shared<Shared>();
    if (m.thread() == 0) m.put(s.ticket, take_ticket(m, a.ticket));
    m.sync();
    const Ticket ticket = m.get(s.ticket);
    const Epoch epoch = static_cast<Epoch>(ticket.launch);
    std::uint64_t at;
    choose_image(static_cast<std::int64_t>(divide(ticket.turn, static_cast<std::uint64_t>(a.chunks), at)));
    const auto n = static_cast<std::int64_t>(at);
    const Chunk chunk = chunk_at(n);
    const char* const image = a.image + chunk.begin * a.in.column;
    char* const table = a.table + chunk.begin * a.out.column;
    const std::uint8_t* const valid = a.valid == nullptr ? nullptr : a.valid + chunk.begin * a.valid_in.column;

    if (a.lines <= few)
      work<few>(s, chunk, n, epoch, image, table, valid);
    else
      work<thin_lines>(s, chunk, n, epoch, image, table, valid);
  }

  /// For at most `most` lines.
  template <int most>
  AREAL_DEVICE void work(Shared& s, const Chunk& chunk, std::int64_t n, Epoch epoch, const char* image, char* table,
                         const std::uint8_t* valid) {
    if (a.in.alignment != Alignment::bytes)
      walk<most, In>(s, chunk, a.in, Load{m, image, true, valid, a.valid_in});
    else
      walk<most, In>(s, chunk, a.in, Load{m, image, false, valid, a.valid_in});
    m.sync();
    sum<most>(s, chunk, n, epoch);
    m.sync();
    if (a.edge) write_edge(s, chunk);
    if (a.out.alignment != Alignment::bytes)
      walk<most, T>(s, chunk, a.out, Write{m, table, true});
    else
      walk<most, T>(s, chunk, a.out, Write{m, table, false});
  }

  AREAL_DEVICE void choose_image(std::int64_t n) {
    if (n == 0) return;
    const std::int64_t batch = n / a.channels, channel = n % a.channels;
    a.image += batch * a.in.batch + channel * a.in.channel;
    a.table += batch * a.out.batch + channel * a.out.channel;
    if (a.valid != nullptr) a.valid += batch * a.valid_in.batch;
    a.sums += n * a.chunks * a.lines;
    a.group_sums += n * a.groups * a.lines;
  }

  /// Lines of the carry, of this chunk's image and channel: the i-th value, -1 for the corner.
  struct Carried {
    const M& m;
    const CarryLine &corner, &line;
    std::int64_t batch, channel;
    AREAL_DEVICE const char* first() const { return line.first + batch * line.batch + channel * line.channel; }
    AREAL_DEVICE T operator()(std::int64_t i) const { return load_carry_after<T>(m, corner, line, batch, channel, i); }
  };
  AREAL_DEVICE Carried carried(Shared& s, const CarryLine& line) const {
    std::uint64_t at;
    const std::uint64_t n = divide(m.get(s.ticket).turn, static_cast<std::uint64_t>(a.chunks), at);
    std::uint64_t channel;
    const std::uint64_t batch = divide(n, static_cast<std::uint64_t>(a.channels), channel);
    return {m, a.corner, line, static_cast<std::int64_t>(batch), static_cast<std::int64_t>(channel)};
  }

  AREAL_DEVICE Chunk chunk_at(std::int64_t n) const {
    const std::int64_t begin = n * a.chunk;
    const int positions = static_cast<int>(a.length - begin < a.chunk ? a.length - begin : a.chunk);
    if (a.lines_side_by_side) return {begin, positions, positions, a.lines, a.lines};
    return {begin, positions, a.lines, positions, (positions + warp_size - 1) / warp_size * warp_size};
  }
  /// The cell of an element of the chunk. A gap after every 32 elements spreads equal distances over the banks.
  AREAL_DEVICE static constexpr int slot(int e) { return e + e / warp_size; }
  AREAL_DEVICE T& cell(Shared& s, const Chunk& chunk, int x, int line) const {
    return s.chunk[slot(a.lines_side_by_side ? x * chunk.pitch + line : line * chunk.pitch + x)];
  }

  /// Moves this thread's elements of a chunk, of at most `most` lines, between memory and the buffer, n at a time;
  /// adjacent threads have adjacent elements. f.move<n>(does the i-th exist, its offset in memory, its position, its
  /// line, its cell).
  template <int most, class Element, class F>
  AREAL_DEVICE void walk(Shared& s, const Chunk& chunk, const Strides& strides, F&& f) {
    const std::int64_t neighbour_step = a.lines_side_by_side ? strides.row : strides.column,
                       row_step = a.lines_side_by_side ? strides.column : strides.row;
    static constexpr std::int64_t step = (C::reverse ? -1 : 1) * static_cast<std::int64_t>(sizeof(Element));
    const auto nowhere = [](int) { return 0; };
    T* const to = &s.chunk[slot(m.thread())];
    if (f.any_element() && neighbour_step == step && !a.lines_side_by_side) {
      // Consecutive elements without a gap: of few lines one at a time, of many four.
      static constexpr int of_line = items_per_thread / most, lines_at_once = most == few ? 1 : 4;
      for (int row = 0; row < chunk.rows; row += lines_at_once) {
        const std::int64_t first = row * row_step + m.thread() * step;
        f.template move<lines_at_once * of_line>(
            [&](int i) {
              return row + i / of_line < chunk.rows && m.thread() + i % of_line * threads < chunk.neighbours;
            },
            [&](int i) { return first + i / of_line * row_step + i % of_line * threads * step; }, nowhere, nowhere,
            [&](int i) -> T& { return to[(row + i / of_line) * slot(chunk.pitch) + i % of_line * slot(threads)]; });
      }
      return;
    }
    if (f.any_element() && neighbour_step == step && row_step == chunk.neighbours * neighbour_step) {
      // Short rows, one after the other without a gap.
      static constexpr int at_once = 8;
      const int count = chunk.rows * chunk.neighbours - m.thread();
      for (int first = 0; first * threads < count; first += at_once)
        f.template move<at_once>([&](int i) { return (first + i) * threads < count; },
                                 [&](int i) { return (m.thread() + (first + i) * threads) * step; }, nowhere, nowhere,
                                 [&](int i) -> T& { return to[(first + i) * slot(threads)]; });
      return;
    }
    const int count = chunk.rows * chunk.neighbours;
    for (int e = m.thread(); e < count; e += threads) {
      const int row = e / chunk.neighbours, nth = e - row * chunk.neighbours;
      const int x = a.lines_side_by_side ? row : nth, line = a.lines_side_by_side ? nth : row;
      f.template move<1>([](int) { return true; }, [&](int) { return row * row_step + nth * neighbour_step; },
                         [&](int) { return x; }, [&](int) { return line; },
                         [&](int) -> T& { return s.chunk[slot(row * chunk.pitch + nth)]; });
    }
  }

  struct Load {
    const M& m;
    const char* from;
    bool aligned;
    const std::uint8_t* valid;
    Strides valid_in;
    AREAL_DEVICE bool any_element() const { return valid == nullptr; }  ///< at any position of its line
    template <int n, class Is, class Offset, class X, class Line, class Cell>
    AREAL_DEVICE void move(Is is, Offset offset, X x, Line line, Cell cell) const {
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
    AREAL_DEVICE void move(Is is, Offset offset, X, Line, Cell cell) const {
      AREAL_UNROLL
      for (int i = 0; i < n; ++i)
        if (is(i)) store_element(m, to + offset(i), m.get(cell(i)), aligned);
    }
  };

  /// Turns the chunk, of up to `most` lines, into table entries.
  template <int most>
  AREAL_DEVICE void sum(Shared& s, const Chunk& chunk, std::int64_t n, Epoch epoch) {
    static constexpr int count = items_per_thread / most;
    const int begin = m.thread() * count;
    // Pixels are read again from the chunk after the gather: they would not fit the registers until then.
    const auto pixel = [&](int line, int i) {
      return line < a.lines && begin + i < chunk.positions ? m.get(cell(s, chunk, begin + i, line)) : T(0);
    };
    T before[most];
    AREAL_UNROLL
    for (int line = 0; line < most; ++line) {
      T own = 0;
      AREAL_UNROLL
      for (int i = 0; i < count; ++i) own += pixel(line, i);
      const T all = warp_scan(m, own);
      before[line] = before_in_scan(m, all, own);
      if (m.lane() == warp_size - 1) m.put(s.line[line][m.warp()], all);
    }
    m.sync();
    const T warp_base = gather_before(s, n, epoch);
    // The line above: in the table, or in the carry.
    const char* above = nullptr;
    std::int64_t step = a.out.column;
    bool aligned = a.out.alignment != Alignment::bytes;
    if (a.below) {
      above = a.table + (chunk.begin + begin) * step - a.out.row;
    } else if (a.before_first.first != nullptr) {
      above = carried(s, a.before_first).first() + (chunk.begin + begin) * a.before_first.step;
      step = a.before_first.step, aligned = a.before_first.aligned;
    }
    T down[count];
    AREAL_UNROLL
    for (int i = 0; i < count; ++i) {
      down[i] = 0;
      if (above != nullptr && begin + i < chunk.positions) down[i] = load_element<M, T>(m, above + i * step, aligned);
    }
    AREAL_UNROLL
    for (int line = 0; line < most; ++line) {
      if (line >= a.lines) break;
      const T before_warp = m.shuffle(warp_base, line);
      T own = 0;
      AREAL_UNROLL
      for (int i = 0; i < count; ++i) {
        own += pixel(line, i);
        down[i] += before[line] + own;
        if (begin + i < chunk.positions) m.put(cell(s, chunk, begin + i, line), down[i] + before_warp);
      }
    }
  }

  /// The sum before this warp's positions, of all lines down to the lane's.
  AREAL_DEVICE T gather_before(Shared& s, std::int64_t n, Epoch epoch) {
    const int line = m.thread() % thin_lines, nth = m.thread() / thin_lines, lines = a.lines;
    const bool mine = line < lines;
    std::uint64_t rest;
    const int group =
        static_cast<int>(divide(static_cast<std::uint64_t>(n), static_cast<std::uint64_t>(a.group), rest));
    const int place = static_cast<int>(rest);
    T own = 0;
    if (nth == 0 && mine) {
      AREAL_UNROLL
      for (int w = 0; w < warps; ++w) own += m.get(s.line[line][w]);
      if (n + 1 < a.chunks)
        m.store_relaxed(a.sums + n * lines + line, Word{own, epoch_with(epoch, TileStatus::partial)});
    }
    const auto from = [lines](const Word* first) {
      return [=](int i) { return first + static_cast<std::int64_t>(i) * lines; };
    };
    // The loads of both are issued before the first wait.
    auto near = gather<2>(m, epoch, nth, threads_per_line, mine ? place : 0, from(a.sums + (n - place) * lines + line));
    auto far = gather<2>(m, epoch, nth, threads_per_line, mine ? group : 0, from(a.group_sums + line));
    m.put(s.thread_sums[0][nth][line], near.sum());
    m.sync();
    T before = 0;
    if (nth == 0 && mine) {
      AREAL_UNROLL
      for (int p = 0; p < threads_per_line; ++p) before += m.get(s.thread_sums[0][p][line]);
      if (place == a.group - 1 && group + 1 < a.groups)
        m.store_relaxed(a.group_sums + static_cast<std::int64_t>(group) * lines + line,
                        Word{before + own, epoch_with(epoch, TileStatus::partial)});
      if (a.corner.first != nullptr || a.before_each.first != nullptr) {
        const Carried each = carried(s, a.before_each);
        before += step_between(each(line - 1), each(line));
      }
      m.put(s.near[line], before);
    }
    m.put(s.thread_sums[1][nth][line], far.sum());
    m.sync();
    T base = 0;
    if (m.lane() < lines) {
      base = m.get(s.near[m.lane()]);
      AREAL_UNROLL
      for (int p = 0; p < threads_per_line; ++p) base += m.get(s.thread_sums[1][p][m.lane()]);
      AREAL_UNROLL
      for (int w = 0; w < warps; ++w)
        if (w < m.warp()) base += m.get(s.line[m.lane()][w]);
    }
    return warp_scan(m, base);
  }

  AREAL_DEVICE void write_edge(Shared& s, const Chunk& chunk) {
    const bool aligned = a.out.alignment != Alignment::bytes;
    char* const to = a.table + chunk.begin * a.out.column;
    const Carried first = carried(s, a.before_first), each = carried(s, a.before_each);
    if (!a.below)
      for (int x = m.thread(); x < chunk.positions; x += threads)
        store_element(m, to - a.out.row + x * a.out.column, first(chunk.begin + x), aligned);
    if (chunk.begin > 0 || m.thread() > a.lines) return;
    const int line = m.thread() - 1;  // -1: the corner
    if (line >= 0 || !a.below) store_element(m, to + line * a.out.row - a.out.column, each(line), aligned);
  }
};

/// Types and tuning, measured on one H200, 2026-11: chunks of 32 KiB.
template <class In_, class T_, bool reverse_ = false>
struct ThinConfig {
  using In = In_;
  using T = T_;
  static constexpr bool reverse = reverse_;
  static constexpr int threads = 256, resident = 4, items_per_thread = 128 / static_cast<int>(sizeof(T));
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
    const int lines_of_launch = static_cast<int>(std::min<std::int64_t>(lines, thin_lines));
    args.chunk = Kernel::positions(lines_of_launch);
    args.chunks = (args.length + args.chunk - 1) / args.chunk;
    args.group = 1;
    while (static_cast<std::int64_t>(args.group) * args.group < args.chunks) ++args.group;
    args.groups = (args.chunks + args.group - 1) / args.group;
    Workspace from(workspace);
    from.take(args.ticket, 1);
    from.take(args.sums, args.chunks * images * lines_of_launch);
    from.take(args.group_sums, args.groups * images * lines_of_launch);
    workspace_bytes = from.bytes();
    blocks = args.chunks * images;
  }

  ThinArgs<T> args{};
  bool flipped = false;  ///< lines run down the columns
  std::int64_t lines = 0, blocks = 0;
  std::size_t workspace_bytes = 0;
};

/// The schedule. The workspace was zeroed once. For a reversed table, views, marks of valid pixels and carries are
/// passed from the last row on.
template <class C, class Launcher>
void thin(Launcher& launcher, const TableRequest& request, const ConstView& image, const Valid& valid,
          const TableViews& tables, void* workspace) {
  const View& table = tables.sum;
  ThinPlan<C> plan(request, workspace);
  if (plan.blocks == 0) {  // no sums
    if (request.border != Border::none) fill_border<typename C::T, C::reverse>(launcher, table, tables.carry);
    return;
  }
  const CarryLines carry = carry_lines(tables.carry, C::reverse);
  auto& a = plan.args;
  a.image = first_element<C::reverse>(image, a.in);
  a.table = first_element<C::reverse>(table, a.out);
  if (a.edge) a.table += a.out.row + a.out.column;
  a.in.alignment = alignment_of(a.image, a.in, sizeof(typename C::In), sizeof(typename C::In));
  a.out.alignment = alignment_of(a.table, a.out, sizeof(typename C::T), sizeof(typename C::T));
  a.valid = valid.plane;
  a.valid_in.row = valid.row, a.valid_in.column = C::reverse ? -1 : 1, a.valid_in.batch = valid.image;
  if (C::reverse && a.valid != nullptr) a.valid += image.shape.width - 1;
  if (plan.flipped)
    for (Strides* strides : {&a.in, &a.out, &a.valid_in}) std::swap(strides->row, strides->column);
  a.lines_side_by_side = plan.flipped;
  a.corner = carry.corner;
  a.before_first = plan.flipped ? carry.left : carry.above, a.before_each = plan.flipped ? carry.above : carry.left;
  for (std::int64_t line = 0; line < plan.lines; line += thin_lines) {
    a.lines = static_cast<int>(std::min<std::int64_t>(thin_lines, plan.lines - line));
    a.below = line > 0;
    launcher.template launch<Thin, C>(plan.blocks, a, false);
    a.image += thin_lines * a.in.row, a.table += thin_lines * a.out.row;
    a.corner = a.before_each;
    if (a.before_each.first != nullptr) {
      a.before_each.first += thin_lines * a.before_each.step;
      a.corner.first = a.before_each.first - a.before_each.step;
    }
    if (a.valid != nullptr) a.valid += thin_lines * a.valid_in.row;
  }
}

}  // namespace areal::kernels
