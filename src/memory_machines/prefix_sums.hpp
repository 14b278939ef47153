#pragma once
// The optimal prefix-sums of the DMM and the UMM (Nakano 2013, section 7), in rows, so that the table of section 8 uses
// the same two loops. Level 0 is the input; a level has half the columns of the one before it, sums of two neighbours:
//
//   up    coarse[i] = fine[2i] + fine[2i + 1]                                        until one column is left
//   down  fine[2i + 1] = coarse[i],  fine[2i + 2] = coarse[i] + fine[2i + 2]         back to the input
//
// No sum crosses from a row into the next. On the way down, a level's coarse cell is read once for both loops of the
// paper.

#include "memory_machines/programs.hpp"

namespace areal::memory {

/// `count` rows of `length` columns, each of `unit` adjacent cells; one row with unit = width goes down the columns of
/// an image.
struct Rows {
  std::int64_t at = 0, count = 1, length = 0, unit = 1;

  std::int64_t cells() const { return count * length * unit; }
  std::int64_t cell(std::int64_t row, std::int64_t column, std::int64_t c) const {
    return at + (row * length + column) * unit + c;
  }
};

/// The levels of those rows, the rows first. A level at least as long as an address group begins with a group, so that
/// groups are read whole.
inline std::vector<Rows> levels(const Rows& rows, std::int64_t workspace, std::int64_t width) {
  std::vector<Rows> all{rows};
  std::int64_t at = workspace;
  while (all.back().length > 1) {
    Rows next{0, rows.count, all.back().length / 2, rows.unit};
    if (next.cells() >= width) at = (at + width - 1) / width * width;
    next.at = at;
    at += next.cells();
    all.push_back(next);
  }
  return all;
}

/// Cells of workspace for the levels, which begins at a multiple of the width: n - 1 for one row of n = 2^m.
inline std::int64_t workspace_cells(const Rows& rows, std::int64_t width) {
  const auto all = levels(rows, 0, width);
  return all.size() > 1 ? all.back().at + all.back().cells() : 0;
}

namespace detail {

// One pass between two levels: index e of the coarse one goes to thread e mod p.
template <class Visit>
void each_chunk(std::int64_t threads, const Rows& coarse, const Visit& visit) {
  for (std::int64_t base = 0; base < coarse.cells(); base += threads)
    visit(base, std::min(threads, coarse.cells() - base));
}

// The cell of the fine level at column 2i + step, for coarse index e at column i; none beyond the row's end.
inline std::int64_t under(const Rows& coarse, const Rows& fine, std::int64_t e, std::int64_t step) {
  const std::int64_t c = e % coarse.unit, place = e / coarse.unit;
  const std::int64_t row = place / coarse.length, column = 2 * (place % coarse.length) + step;
  return column < fine.length ? fine.cell(row, column, c) : no_request;
}

template <class T, class Op>
void sum_pairs(Machine<T>& machine, const Rows& fine, const Rows& coarse, const Op& op) {
  auto x = registers<T>(machine.shape(), coarse.cells()), y = x;
  each_chunk(machine.threads(), coarse, [&](std::int64_t base, std::int64_t count) {
    machine.read(
        count, [&](std::int64_t i) { return under(coarse, fine, base + i, 0); }, into(x));
    machine.read(
        count, [&](std::int64_t i) { return under(coarse, fine, base + i, 1); }, into(y));
    machine.write(
        count, [&](std::int64_t i) { return coarse.at + base + i; },
        [&](std::int64_t i) { return op(of(x, i), of(y, i)); });
  });
  machine.barrier();
}

template <class T, class Op>
void spread_sums(Machine<T>& machine, const Rows& coarse, const Rows& fine, const Op& op) {
  auto x = registers<T>(machine.shape(), coarse.cells()), y = x;
  each_chunk(machine.threads(), coarse, [&](std::int64_t base, std::int64_t count) {
    const auto copied = [&](std::int64_t i) { return under(coarse, fine, base + i, 1); };
    const auto added = [&](std::int64_t i) { return under(coarse, fine, base + i, 2); };
    machine.read(
        count, [&](std::int64_t i) { return coarse.at + base + i; }, into(x));
    machine.read(count, added, into(y));
    machine.write(count, copied, [&](std::int64_t i) { return of(x, i); });
    machine.write(count, added, [&](std::int64_t i) { return op(of(x, i), of(y, i)); });
  });
  machine.barrier();
}

}  // namespace detail

/// The prefix-sums of every row, in place, on a machine that holds them; `workspace` begins a group.
template <class T, class Op>
void prefix_sums_of_rows(Machine<T>& machine, const Rows& rows, std::int64_t workspace, const Op& op) {
  const auto all = levels(rows, workspace, machine.width());
  for (std::size_t t = 1; t < all.size(); ++t) detail::sum_pairs(machine, all[t - 1], all[t], op);
  for (std::size_t t = all.size() - 1; t > 0; --t) detail::spread_sums(machine, all[t], all[t - 1], op);
}

/// The first multiple of the width that is not below `cell`.
inline std::int64_t next_group(std::int64_t cell, std::int64_t width) { return (cell + width - 1) / width * width; }

/// The optimal prefix-sums (section 7), workspace n - 1. 14 (n/w + nl/p + l log n), 12 on the DMM.
template <class T, class Op>
Outcome<T> prefix_sums(const Shape& shape, std::span<const T> input, const Op& op) {
  const auto n = static_cast<std::int64_t>(input.size());
  const Rows rows{0, 1, n};
  const std::int64_t workspace = next_group(n, shape.width);
  Machine<T> machine(shape, workspace + workspace_cells(rows, shape.width));
  machine.place(0, input);
  prefix_sums_of_rows(machine, rows, workspace, op);
  return {machine.look(0, n), machine.time()};
}

/// The sequential-parallel prefix-sums (section 7) of the first n cells, in place: groups of k elements one after
/// another, all with the same workspace, which begins an address group.
template <class T, class Op>
void sequential_prefix_sums_in(Machine<T>& machine, std::int64_t n, std::int64_t k, std::int64_t workspace,
                               const Op& op) {
  if (k < 1) throw Fault("a group of the sequential-parallel prefix-sums has at least 1 element");
  for (std::int64_t at = 0; at < n; at += k) {
    if (at > 0) {  // thread 0 carries the sum over from the group before
      T before{}, first{};
      machine.read(
          1, [&](std::int64_t) { return at - 1; }, [&](std::int64_t, const T& value) { before = value; });
      machine.read(
          1, [&](std::int64_t) { return at; }, [&](std::int64_t, const T& value) { first = value; });
      machine.write(
          1, [&](std::int64_t) { return at; }, [&](std::int64_t) { return op(before, first); });
      machine.barrier();
    }
    prefix_sums_of_rows(machine, {at, 1, std::min(k, n - at)}, workspace, op);
  }
}

/// The same from an input. 17 (n/w + nl/p + (nl log k)/k).
template <class T, class Op>
Outcome<T> sequential_prefix_sums(const Shape& shape, std::span<const T> input, std::int64_t k, const Op& op) {
  const auto n = static_cast<std::int64_t>(input.size());
  const std::int64_t workspace = next_group(n, shape.width);
  Machine<T> machine(shape, workspace + workspace_cells({0, 1, std::clamp<std::int64_t>(k, 0, n)}, shape.width));
  machine.place(0, input);
  sequential_prefix_sums_in(machine, n, k, workspace, op);
  return {machine.look(0, n), machine.time()};
}

}  // namespace areal::memory
