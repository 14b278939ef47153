// Dense sliding windows: checks, then rows of sums and what is made of them, or a device's request.
#include <algorithm>
#include <areal/window.hpp>
#include <cmath>
#include <vector>
#include "api/core/planes.hpp"
#include "api/core/require.hpp"
#include "api/core/table_check.hpp"
#include "api/query/query_call.hpp"
#include "api/query/window_check.hpp"
#include "cpu/query/window_rows.hpp"
#include "cpu/threads.hpp"
#include "formulas/variance.hpp"

namespace areal {

namespace {

// row(p, y, values) for all rows of all planes of out, each stored in its type.
template <class MakeRow>
void for_each_row(const View& out, int threads, const MakeRow& make_row) {
  if (out.shape.empty()) return;
  const std::int64_t width = out.shape.width, height = out.shape.height;
  // At least 2^15 pixels a task, so that its buffers are worth allocating.
  const std::int64_t grain = std::max<std::int64_t>(1, (std::int64_t{1} << 15) / width);
  cpu::parallel_ranges(threads, planes_of(out.shape) * height, grain, [&](std::int64_t begin, std::int64_t end) {
    auto row = make_row();
    std::vector<double> values(static_cast<std::size_t>(width));
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t p = i / height, y = i % height;
      row(p, y, values.data());
      const View plane = with_plane(out, p);
      cpu::arithmetic_kernels().store(values.data(), width, out.type, plane.row(y), plane.column_pitch());
    }
  });
}

// Room for one row of one table's sums.
struct SumsRow {
  explicit SumsRow(const cpu::WindowedTable& table)
      : windows(table),
        kernels(cpu::window_kernels(table.table.view.type)),
        difference(static_cast<std::size_t>(table.columns.extent + 1)),
        sums(static_cast<std::size_t>(table.columns.outputs)) {}
  /// Row y of plane p.
  void compute(std::int64_t p, std::int64_t y) {
    cpu::WindowedTable plane = windows;
    plane.table.view = with_plane(windows.table.view, p);
    kernels.sums(plane, y, difference.data(), sums.data());
  }
  void reals(double* out) const { kernels.reals(sums.data(), windows.columns.outputs, out); }

  const cpu::WindowedTable& windows;
  const cpu::WindowKernels& kernels;
  std::vector<std::uint64_t> difference;
  std::vector<cpu::WideSum> sums;
};

template <class T>
std::vector<T> pixels_along(const formulas::WindowAxis& axis) {
  std::vector<T> pixels(static_cast<std::size_t>(axis.outputs));
  for (std::int64_t x = 0; x < axis.outputs; ++x) pixels[x] = static_cast<T>(axis.pixels(x));
  return pixels;
}

// One row of variances at a time; the tables' kinds choose the arithmetic.
class VarianceRow {
 public:
  VarianceRow(const cpu::WindowedTable& sum, const cpu::WindowedTable& squares, bool root)
      : sum_(sum),
        squares_(squares),
        root_(root),
        integers_(!is_float(sum.table.view.type)),
        integer_squares_(integers_ && !is_float(squares.table.view.type)),
        pixels_(pixels_along<std::uint64_t>(sum.columns)),
        real_pixels_(pixels_along<double>(sum.columns)),
        magnitudes_(integers_ ? pixels_.size() : 0),
        square_magnitudes_(integer_squares_ ? pixels_.size() : 0),
        real_squares_(integer_squares_ ? 0 : pixels_.size()) {
    for (const std::uint64_t n : pixels_) most_pixels_ = std::max(most_pixels_, n);
  }

  void operator()(std::int64_t p, std::int64_t y, double* out) {
    const auto& arithmetic = cpu::arithmetic_kernels();
    const std::int64_t n = sum_.windows.columns.outputs;
    const std::uint64_t rows = sum_.windows.rows.pixels(y);
    sum_.compute(p, y);
    squares_.compute(p, y);
    if (integer_squares_) {
      integer_row(rows, n, out);
    } else if (integers_) {
      sum_.kernels.magnitudes(sum_.sums.data(), n, magnitudes_.data());
      squares_.reals(real_squares_.data());
      for (std::int64_t x = 0; x < n; ++x)
        out[x] = formulas::variance(magnitudes_[x], real_squares_[x], rows * pixels_[x]);
    } else {
      sum_.reals(out);
      squares_.reals(real_squares_.data());
      arithmetic.variances(out, real_squares_.data(), real_pixels_.data(), static_cast<double>(rows), n);
    }
    if (root_) arithmetic.square_roots(out, n);
  }

 private:
  void integer_row(std::uint64_t rows, std::int64_t n, double* out) {
    const std::uint64_t sum = sum_.kernels.magnitudes(sum_.sums.data(), n, magnitudes_.data());
    const std::uint64_t square = squares_.kernels.magnitudes(squares_.sums.data(), n, square_magnitudes_.data());
    std::int64_t product = 0, count = 0;
    const bool small = sum < (std::uint64_t{1} << 31) && !__builtin_mul_overflow(rows, most_pixels_, &count) &&
                       !__builtin_mul_overflow(count, square, &product);
    if (small)
      return cpu::arithmetic_kernels().small_variances(magnitudes_.data(), square_magnitudes_.data(), pixels_.data(),
                                                       rows, n, out);
    for (std::int64_t x = 0; x < n; ++x)
      out[x] = formulas::variance(magnitudes_[x], square_magnitudes_[x], rows * pixels_[x]);
  }

  SumsRow sum_, squares_;
  bool root_, integers_, integer_squares_;
  std::vector<std::uint64_t> pixels_;
  std::vector<double> real_pixels_;
  std::vector<std::uint64_t> magnitudes_, square_magnitudes_;
  std::vector<double> real_squares_;
  std::uint64_t most_pixels_ = 0;
};

void require_all_pixels(const SatView& table) {
  require(!table.count, "count: means and variances of windows are over all pixels; this view counts the valid ones");
}

void answer(QueryCall& call, kernels::Statistic statistic, const cpu::WindowedTable& sum, const View& out,
            const cpu::WindowedTable* squares = nullptr) {
  kernels::WindowsRequest request{statistic, sum.table, std::nullopt, sum.columns, sum.rows, out, sum.beyond, {}};
  if (squares) request.squares = squares->table, request.squares_beyond = squares->beyond;
  call.answer(request);
}

void variances(const SatView& table, const Window& window, const View& out, const Execution& execution, bool root) {
  require_squares(table);
  require_all_pixels(table);
  const TableView &sum = table.sum, &squares = *table.squares;
  const cpu::WindowedTable sum_windows = windowed(sum, window, "sum");
  const cpu::WindowedTable square_windows = windowed(squares, window, "squares", TableKind::squares);
  require_same_image(sum, squares, "squares");
  require_windows_output(sum_windows, out, "sum");
  require_windows_output(square_windows, out, "squares");
  QueryCall call(execution, {{"sum", sum.memory()}, {"squares", squares.memory()}});
  const View there = call.out(out, "out");
  if (!call.on_cpu())
    return answer(call, root ? kernels::Statistic::standard_deviation : kernels::Statistic::variance, sum_windows,
                  there, &square_windows);
  for_each_row(there, call.threads(), [&] { return VarianceRow(sum_windows, square_windows, root); });
}

}  // namespace

void window_sums(const SatView& table, const Window& window, const View& out, const Execution& execution) {
  const cpu::WindowedTable windows = windowed(table.sum, window, "table");
  require_windows_output(windows, out, "table");
  QueryCall call(execution, {{"table", table.memory()}});
  const View there = call.out(out, "out");
  if (!call.on_cpu()) return answer(call, kernels::Statistic::sum, windows, there);
  for_each_row(there, call.threads(), [&] {
    return [row = SumsRow(windows)](std::int64_t p, std::int64_t y, double* values) mutable {
      row.compute(p, y);
      row.reals(values);
    };
  });
}

void window_means(const SatView& table, const Window& window, const View& out, const Execution& execution) {
  require_all_pixels(table);
  const cpu::WindowedTable windows = windowed(table.sum, window, "table");
  require_windows_output(windows, out, "table");
  QueryCall call(execution, {{"table", table.memory()}});
  const View there = call.out(out, "out");
  if (!call.on_cpu()) return answer(call, kernels::Statistic::mean, windows, there);
  for_each_row(there, call.threads(), [&] {
    return [&windows, row = SumsRow(windows), pixels = pixels_along<double>(windows.columns)](
               std::int64_t p, std::int64_t y, double* values) mutable {
      row.compute(p, y);
      row.reals(values);
      cpu::arithmetic_kernels().divide(values, pixels.data(), static_cast<double>(windows.rows.pixels(y)),
                                       windows.columns.outputs);
    };
  });
}

void window_variances(const SatView& table, const Window& window, const View& out, const Execution& execution) {
  variances(table, window, out, execution, false);
}

void window_standard_deviations(const SatView& table, const Window& window, const View& out,
                                const Execution& execution) {
  variances(table, window, out, execution, true);
}

}  // namespace areal
