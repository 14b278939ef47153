#pragma once
// Sums, means, variances and standard deviations of dense windows. 1 launch, a thread a window. A window that lies
// inside reads 4 elements of each table, neighbours side by side; one at the edge as many for each of the
// rectangles that it sees: at most 9 where it reaches at most one image beyond each edge, else at most 25. Writes 1.

#include "formulas/rounding.hpp"
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
  formulas::CellBeyond beyond, squares_beyond;
  PlaneArgs planes;
  std::int64_t plane_blocks;
  bool fixed_point_means, reciprocal_means;  ///< OpenCV's: the former where FixedPointMean serves
};

template <class M, class C>
struct Windows {
  using Args = WindowsArgs;
  using Shared = NoShared;
  static constexpr int threads = warp_size * output_tile_height, resident = 4;
  M m;
  Args a;

  AREAL_DEVICE void operator()() {
    const bool one = a.planes.count == 1;
    const std::int64_t plane = one ? 0 : m.block() / a.plane_blocks;
    const std::int64_t channel = one ? 0 : plane % a.planes.channels, image = one ? 0 : plane / a.planes.channels;
    const OutputPlace at = output_place(m, a.out, m.block() - plane * a.plane_blocks);
    if (at.x >= a.out.width || at.y >= a.out.height) return;
    const std::uint64_t across = a.columns.pixels(at.x), down = a.rows.pixels(at.y);
    const bool varies = a.statistic == Statistic::variance || a.statistic == Statistic::standard_deviation;
    std::uint64_t cells_beyond = 0;
    if (a.columns.edge == Edge::constant) cells_beyond = across * down - a.columns.inside(at.x) * a.rows.inside(at.y);
    const auto offset = [&](const auto& args) { return image * args.batch + channel * args.channel; };
    const bool inside = a.columns.lies_inside(at.x) && a.rows.lies_inside(at.y);
    const auto seen = [&](const TableArgs& table, const formulas::CellBeyond& beyond) {
      return inside ? seen_inside(table, offset(table), at)
                    : seen_beyond(table, offset(table), at, cells_beyond, beyond);
    };
    const AnySum sum = seen(a.sum, a.beyond);
    const AnySum squares = varies ? seen(a.squares, a.squares_beyond) : AnySum{};
    const Pixels n{across * down, static_cast<double>(across) * static_cast<double>(down)};
    double value = statistic_of(a.statistic, a.sum, sum, a.squares, squares, n);
    if (a.fixed_point_means && formulas::FixedPointMean::serves(n.whole))
      value = formulas::FixedPointMean(static_cast<std::uint32_t>(n.whole))(sum.real < 0 ? 0 : sum.integer);
    if (a.reciprocal_means) value = sum.real * (1 / n.real);
    write_output(m, a.out, at, value, offset(a.out));
  }

  /// Of a window that lies inside: one rectangle, and no pieces, whose arrays would be in local memory.
  AREAL_DEVICE AnySum seen_inside(const TableArgs& table, std::int64_t plane, const OutputPlace& at) {
    return any_sum(table, [&](auto element) {
      return rectangle<decltype(element)>(table, plane, a.columns.whole(at.x), a.rows.whole(at.y));
    });
  }
  /// Of any other window all that it sees, added in the CPU's order.
  AREAL_DEVICE AnySum seen_beyond(const TableArgs& table, std::int64_t plane, const OutputPlace& at,
                                  std::uint64_t cells_beyond, const formulas::CellBeyond& beyond) {
    const formulas::Pieces columns = a.columns.pieces(at.x), rows = a.rows.pieces(at.y);
    return any_sum(table, [&](auto element) {
      using T = decltype(element);
      using Wide = std::conditional_t<std::is_integral_v<T>, std::uint64_t, double>;
      Wide all = 0;
      for (int r = 0; r < rows.count; ++r) {
        Wide across = 0;
        for (int c = 0; c < columns.count; ++c)
          across +=
              static_cast<Wide>(columns.piece[c].times) * rectangle<T>(table, plane, columns.piece[c], rows.piece[r]);
        all += static_cast<Wide>(rows.piece[r].times) * across;
      }
      if (cells_beyond > 0) {
        if constexpr (std::is_integral_v<T>)
          all += cells_beyond * beyond.integer;
        else
          all += static_cast<double>(cells_beyond) * beyond.real;
      }
      return all;
    });
  }
  template <class T>
  AREAL_DEVICE auto rectangle(const TableArgs& table, std::int64_t plane, const formulas::Piece& column,
                              const formulas::Piece& row) {
    const Region region{column.begin, row.begin, column.end - column.begin, row.end - row.begin};
    const auto difference = corners<T>(m, table, region, plane).by_columns();
    if constexpr (std::is_integral_v<T>)
      return widened(difference, table.is_signed);
    else
      return difference;
  }
};

template <class Launcher>
void run_query(Launcher& launcher, const WindowsRequest& request) {
  const OutputArgs out = output_args(request.out);
  const bool opencv = request.rounding == Rounding::opencv && request.statistic == Statistic::mean;
  const WindowsArgs a{table_args(request.sum.view, request.sum.border),
                      request.squares ? table_args(request.squares->view, request.squares->border) : TableArgs{},
                      request.columns,
                      request.rows,
                      request.statistic,
                      out,
                      request.beyond,
                      request.squares_beyond,
                      plane_args(request.sum.view),
                      output_blocks(out),
                      opencv && out.type == Type::u8 && !is_float(request.sum.view.type),
                      opencv && out.type == Type::f64};
  launcher.template launch<Windows, NoConfig>(a.planes.count * a.plane_blocks, a, false);
}

}  // namespace areal::kernels
