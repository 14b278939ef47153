#pragma once
// Sums, means, variances and standard deviations of dense windows. 1 launch, a thread a window. A window that lies
// inside reads 4 elements of each table, neighbours side by side; one at the edge as many for each of the at most 9
// rectangles that it sees. Writes 1.

#include "formulas/window_axis.hpp"
#include "kernels/query/corners.hpp"
#include "kernels/query/statistics.hpp"
#include "kernels/query/tiles.hpp"

namespace areal::kernels {

struct WindowsArgs {
  TableArgs sum, squares;
  formulas::WindowAxis columns, rows;
  Statistic statistic;
  OutputArgs out;
};

template <class M, class C>
struct Windows {
  using Args = WindowsArgs;
  using Shared = NoShared;
  static constexpr int threads = warp_size * output_tile_height, resident = 4;
  M m;
  Args a;

  AREAL_DEVICE void operator()() {
    const OutputPlace at = output_place(m, a.out);
    if (at.x >= a.out.width || at.y >= a.out.height) return;
    const formulas::Pieces columns = a.columns.pieces(at.x), rows = a.rows.pieces(at.y);
    const std::uint64_t across = a.columns.pixels(at.x), down = a.rows.pixels(at.y);
    const bool varies = a.statistic == Statistic::variance || a.statistic == Statistic::standard_deviation;
    const AnySum sum = seen(a.sum, columns, rows), squares = varies ? seen(a.squares, columns, rows) : AnySum{};
    const Pixels n{across * down, static_cast<double>(across) * static_cast<double>(down)};
    write_output(m, a.out, at, statistic_of(a.statistic, a.sum, sum, a.squares, squares, n));
  }

  /// All that a window sees of a table, added in the CPU's order.
  AREAL_DEVICE AnySum seen(const TableArgs& table, const formulas::Pieces& columns, const formulas::Pieces& rows) {
    return any_sum(table, [&](auto element) {
      using T = decltype(element);
      using Wide = std::conditional_t<std::is_integral_v<T>, std::uint64_t, double>;
      Wide all = 0;
      for (int r = 0; r < rows.count; ++r) {
        Wide across = 0;
        for (int c = 0; c < columns.count; ++c)
          across += static_cast<Wide>(columns.piece[c].times) * rectangle<T>(table, columns.piece[c], rows.piece[r]);
        all += static_cast<Wide>(rows.piece[r].times) * across;
      }
      return all;
    });
  }
  template <class T>
  AREAL_DEVICE auto rectangle(const TableArgs& table, const formulas::Piece& column, const formulas::Piece& row) {
    const Region region{column.begin, row.begin, column.end - column.begin, row.end - row.begin};
    const auto difference = corners<T>(m, table, region).by_columns();
    if constexpr (std::is_integral_v<T>)
      return widened(difference, table.is_signed);
    else
      return difference;
  }
};

template <class Launcher>
void run_query(Launcher& launcher, const WindowsRequest& request) {
  const WindowsArgs a{table_args(request.sum.view, request.sum.border),
                      request.squares ? table_args(request.squares->view, request.squares->border) : TableArgs{},
                      request.columns,
                      request.rows,
                      request.statistic,
                      output_args(request.out)};
  launcher.template launch<Windows, NoConfig>(output_blocks(a.out), a, false);
}

}  // namespace areal::kernels
