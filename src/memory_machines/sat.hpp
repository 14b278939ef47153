#pragma once
// The summed-area table on the DMM and the UMM (Nakano 2013, section 8): prefix-sums of the rows, then of the columns.
// The paper turns columns into rows by a transpose before and after. `direct` is areal's own and needs no transpose:
// the two loops of prefix_sums.hpp go down the columns, a row's cells adjacent.
//
// With transposes: 32 (n/w + nl/p + l log n) if p w <= n, workspace n; with more threads, tiles have work for only n/w
// of them. Direct: 21 (n/w + nl/p + l log n) for every p. Both if neither side of the table is below w.

#include "memory_machines/prefix_sums.hpp"

namespace areal::memory {

enum class Columns : std::uint8_t { transposed, direct };

/// Transposes height x width cells from `from` on to `to`. One warp with w registers a thread transposes each w x w
/// tile. In row r of the tile, thread j reads column (j + r) mod w; so the cells of a column are in registers of w
/// different threads, and go out as a row in one step. 2n/w entries, and 2w requests for each tile of a warp.
template <class T>
void transpose(Machine<T>& machine, std::int64_t from, std::int64_t to, std::int64_t height, std::int64_t width) {
  const std::int64_t w = machine.width(), warps = machine.threads() / w;
  const std::int64_t across = (width + w - 1) / w, tiles = across * ((height + w - 1) / w);
  std::vector<T> held(static_cast<std::size_t>(std::min(warps, tiles) * w * w));
  const auto held_by = [&](std::int64_t i, std::int64_t r) -> T& { return held[static_cast<std::size_t>(i * w + r)]; };
  for (std::int64_t base = 0; base < tiles; base += warps) {
    const std::int64_t count = std::min(warps, tiles - base) * w;
    const auto top = [&](std::int64_t i) { return (base + i / w) / across * w; };
    const auto left = [&](std::int64_t i) { return (base + i / w) % across * w; };
    for (std::int64_t r = 0; r < std::min(w, height); ++r)
      machine.read(
          count,
          [&](std::int64_t i) {
            const std::int64_t y = top(i) + r, x = left(i) + (i + r) % w;
            return y < height && x < width ? from + y * width + x : no_request;
          },
          [&](std::int64_t i, const T& value) { held_by(i, r) = value; });
    const auto row_of = [&](std::int64_t i, std::int64_t c) { return (c - i % w + w) % w; };
    for (std::int64_t c = 0; c < std::min(w, width); ++c)
      machine.write(
          count,
          [&](std::int64_t i) {
            const std::int64_t y = top(i) + row_of(i, c), x = left(i) + c;
            return y < height && x < width ? to + x * height + y : no_request;
          },
          [&](std::int64_t i) { return held_by(i, row_of(i, c)); });
  }
  machine.barrier();
}

/// The inclusive table of height x width elements, row after row.
template <class T, class Op>
Outcome<T> sat(const Shape& shape, std::span<const T> image, std::int64_t height, std::int64_t width, Columns columns,
               const Op& op) {
  const std::int64_t n = height * width, w = shape.width;
  const Rows rows{0, height, width}, turned{0, width, height}, down{0, 1, height, width};
  // The second buffer holds the transposed table while the first holds the levels of its rows, and vice versa.
  const std::int64_t second = next_group(std::max(n, workspace_cells(turned, w)), w);
  Machine<T> machine(shape, second + std::max({n, workspace_cells(rows, w), workspace_cells(down, w)}));
  machine.place(0, image);
  prefix_sums_of_rows(machine, rows, second, op);
  if (columns == Columns::direct) {
    prefix_sums_of_rows(machine, down, second, op);
  } else {
    transpose(machine, 0, second, height, width);
    prefix_sums_of_rows(machine, {second, width, height}, 0, op);
    transpose(machine, second, 0, width, height);
  }
  return {machine.look(0, n), machine.time()};
}

}  // namespace areal::memory
