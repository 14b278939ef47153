// Dense sliding windows: checks, then rows of sums and of their results, or a device's request.
#include <algorithm>
#include <areal/window.hpp>
#include <cmath>
#include <optional>
#include <vector>
#include "api/core/planes.hpp"
#include "api/core/require.hpp"
#include "api/core/table_check.hpp"
#include "api/core/view_check.hpp"
#include "api/query/query_call.hpp"
#include "api/query/window_check.hpp"
#include "cpu/query/window_rows.hpp"
#include "cpu/threads.hpp"
#include "formulas/variance.hpp"
#include "policy/window_choice.hpp"

namespace areal {

namespace {

// row(p, y, out) for all rows of all planes of out; one plane an image if channels are combined. Planes that interleave
// in the output are computed separately first.
template <class MakeRow>
void for_each_row(const View& out, std::int64_t channels_together, int threads, const MakeRow& make_row) {
  if (out.shape.empty()) return;
  const std::int64_t width = out.shape.width, height = out.shape.height, channels = out.shape.channels;
  const auto size = static_cast<std::int64_t>(size_of(out.type));
  const bool interleaved = out.shape.layout == Layout::interleaved && channels > 1;
  const std::int64_t row_channels = interleaved ? channels : 1;
  // At least 2^15 elements a task, so that its buffers are worth allocating.
  const std::int64_t grain = std::max<std::int64_t>(1, (std::int64_t{1} << 15) / (width * row_channels));
  const std::int64_t rows = planes_of(out.shape) / row_channels * height;
  cpu::parallel_ranges(threads, rows, grain, [&](std::int64_t begin, std::int64_t end) {
    auto row = make_row();
    std::vector<char> planes(static_cast<std::size_t>(channels_together < row_channels ? width * channels * size : 0));
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t p = i / height * row_channels, y = i % height;
      char* const to = static_cast<char*>(with_plane(out, p).row(y));
      if (planes.empty()) {
        row(p, y, to);
        continue;
      }
      for (std::int64_t c = 0; c < channels; ++c) row(p + c, y, planes.data() + c * width * size);
      cpu::arithmetic_kernels().interleave(planes.data(), width, channels, out.type, to);
    }
  });
}

// Interleaved channels are treated as rows of more elements, in the table as in the output.
std::int64_t channels_together(const View& out, const TableView& table) {
  const bool both = out.shape.layout == Layout::interleaved && table.view.shape.layout == Layout::interleaved;
  return both ? out.shape.channels : 1;
}

// The pieces of windows that reach beyond the image, computed once for all rows.
std::vector<formulas::Pieces> rim_of(const formulas::WindowAxis& columns) {
  std::vector<formulas::Pieces> rim;
  for (std::int64_t x = 0; x < columns.inner_begin(); ++x) rim.push_back(columns.pieces(x));
  for (std::int64_t x = columns.inner_end(); x < columns.outputs; ++x) rim.push_back(columns.pieces(x));
  return rim;
}

// A buffer for one row of one table's sums.
struct SumsRow {
  explicit SumsRow(const cpu::WindowedTable& table)
      : kernels(cpu::window_kernels(table.table.view.type)),
        elements(table.columns.outputs * table.channels_together),
        difference(static_cast<std::size_t>((table.columns.extent + 1) * table.channels_together)),
        sums(static_cast<std::size_t>(elements)),
        all_(table.table.view),
        plane_(table) {}
  const cpu::WindowedTable& plane(std::int64_t p) {
    plane_.table.view = with_plane(all_, p);
    return plane_;
  }
  /// Row y of plane p.
  void compute(std::int64_t p, std::int64_t y) { kernels.sums(plane(p), y, difference.data(), sums.data()); }
  void reals(double* out) const { kernels.reals(sums.data(), elements, out); }

  const cpu::WindowKernels& kernels;
  std::int64_t elements;
  std::vector<std::uint64_t> difference;
  std::vector<cpu::WideSum> sums;

 private:
  ConstView all_;
  cpu::WindowedTable plane_;
};

template <class T>
std::vector<T> pixels_along_row(const cpu::WindowedTable& windows) {
  std::vector<T> pixels;
  pixels.reserve(static_cast<std::size_t>(windows.columns.outputs * windows.channels_together));
  for (std::int64_t x = 0; x < windows.columns.outputs; ++x)
    pixels.insert(pixels.end(), static_cast<std::size_t>(windows.channels_together),
                  static_cast<T>(windows.columns.pixels(x)));
  return pixels;
}

// Sums or means, a row at a time.
class StoredRow {
 public:
  StoredRow(const cpu::WindowedTable& windows, Type type, Rounding rounding, bool means)
      : sums_(windows), values_(std::max<std::size_t>(512, sums_.sums.size())), to_{type, rounding, nullptr, nullptr} {
    if (means) divisors_ = pixels_along_row<double>(windows);
  }
  void operator()(std::int64_t p, std::int64_t y, char* out) {
    cpu::WindowOutput to = to_;
    to.row = out, to.divisors = divisors_.empty() ? nullptr : divisors_.data();
    sums_.kernels.store(sums_.plane(p), y, {sums_.difference.data(), sums_.sums.data(), values_.data()}, to);
  }

 private:
  SumsRow sums_;
  std::vector<double> values_, divisors_;
  cpu::WindowOutput to_;
};

// One row of variances at a time; the tables' kinds choose the arithmetic.
class VarianceRow {
 public:
  VarianceRow(const cpu::WindowedTable& sum, const cpu::WindowedTable& squares, bool root, Type type)
      : sum_(sum),
        squares_(squares),
        axis_(sum.rows),
        root_(root),
        type_(type),
        integers_(!is_float(sum.table.view.type)),
        integer_squares_(integers_ && !is_float(squares.table.view.type)),
        pixels_(pixels_along_row<std::uint64_t>(sum)),
        real_pixels_(pixels_along_row<double>(sum)),
        magnitudes_(integers_ ? pixels_.size() : 0),
        square_magnitudes_(integer_squares_ ? pixels_.size() : 0),
        real_squares_(integer_squares_ ? 0 : pixels_.size()),
        values_(pixels_.size()) {
    for (const std::uint64_t n : pixels_) most_pixels_ = std::max(most_pixels_, n);
  }

  void operator()(std::int64_t p, std::int64_t y, char* row) {
    const auto& arithmetic = cpu::arithmetic_kernels();
    const std::int64_t n = sum_.elements;
    double* const out = values_.data();
    const std::uint64_t rows = axis_.pixels(y);
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
    arithmetic.store(out, n, type_, row);
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
  formulas::WindowAxis axis_;
  bool root_;
  Type type_;
  bool integers_, integer_squares_;
  std::vector<std::uint64_t> pixels_;
  std::vector<double> real_pixels_;
  std::vector<std::uint64_t> magnitudes_, square_magnitudes_;
  std::vector<double> real_squares_, values_;
  std::uint64_t most_pixels_ = 0;
};

// One row at a time of means, variances or standard deviations over the pixels that the table of counts includes.
class ValidRow {
 public:
  ValidRow(const cpu::WindowedTable& sum, const cpu::WindowedTable* squares, const cpu::WindowedTable& counts,
           kernels::Statistic statistic, Type type)
      : sum_(sum),
        counts_(counts),
        channels_(sum.table.view.shape.channels),
        count_channels_(counts.table.view.shape.channels),
        integers_(!is_float(sum.table.view.type)),
        statistic_(statistic),
        type_(type),
        values_(static_cast<std::size_t>(sum_.elements)),
        magnitudes_(integers_ ? values_.size() : 0),
        square_magnitudes_(magnitudes_.size()),
        square_values_(values_.size()) {
    if (squares) squares_.emplace(*squares), integer_squares_ = !is_float(squares->table.view.type);
  }

  void operator()(std::int64_t p, std::int64_t y, char* row) {
    sum_.compute(p, y);
    counts_.compute(count_channels_ == 1 ? p / channels_ : p, y);
    if (squares_)
      variances(p, y);
    else
      means();
    if (statistic_ == kernels::Statistic::standard_deviation)
      cpu::arithmetic_kernels().square_roots(values_.data(), sum_.elements);
    cpu::arithmetic_kernels().store(values_.data(), sum_.elements, type_, row);
  }

 private:
  void means() {
    sum_.reals(values_.data());
    for (std::size_t x = 0; x < values_.size(); ++x) {
      const std::uint64_t n = counts_.sums[x].integer;
      values_[x] = n == 0 ? formulas::not_a_number() : values_[x] / static_cast<double>(n);
    }
  }
  void variances(std::int64_t p, std::int64_t y) {
    squares_->compute(p, y);
    if (integers_)
      sum_.kernels.magnitudes(sum_.sums.data(), sum_.elements, magnitudes_.data());
    else
      sum_.reals(values_.data());
    if (integer_squares_)
      squares_->kernels.magnitudes(squares_->sums.data(), sum_.elements, square_magnitudes_.data());
    else
      squares_->reals(square_values_.data());
    for (std::size_t x = 0; x < values_.size(); ++x) {
      const std::uint64_t n = counts_.sums[x].integer;
      values_[x] = integer_squares_ ? formulas::variance(magnitudes_[x], square_magnitudes_[x], n)
                   : integers_      ? formulas::variance(magnitudes_[x], square_values_[x], n)
                                    : formulas::variance(values_[x], square_values_[x], static_cast<double>(n));
    }
  }

  SumsRow sum_, counts_;
  std::optional<SumsRow> squares_;
  std::int64_t channels_, count_channels_;
  bool integers_, integer_squares_ = false;
  kernels::Statistic statistic_;
  Type type_;
  std::vector<double> values_;
  std::vector<std::uint64_t> magnitudes_, square_magnitudes_;
  std::vector<double> square_values_;
};

// The same windows over a table of counts. Cells beyond the edge that have a value are valid.
cpu::WindowedTable counted(const SatView& table, Window window) {
  const TableView& count = *table.count;
  if (window.edge == Edge::zero) window.edge = Edge::constant;
  window.value = 1;
  cpu::WindowedTable windows = windowed(count, window, "count");
  require(!is_float(count.view.type), "count: it has entries of ", name_of(count.view.type), ", counts are integers");
  require_count(table.sum, count);
  return windows;
}

// Over the valid pixels only.
void answer_valid(const SatView& table, const Window& window, const View& out, const Execution& execution,
                  kernels::Statistic statistic) {
  const bool squared = statistic != kernels::Statistic::mean;
  cpu::WindowedTable sums = windowed(table.sum, window, "sum"), counts = counted(table, window);
  std::optional<cpu::WindowedTable> squares;
  if (squared) squares = windowed(*table.squares, window, "squares", TableKind::squares);
  require_windows_output(sums, out, "sum");
  if (squared) require_windows_output(*squares, out, "squares");
  require(!may_overlap(counts.table.view, out), "out: it overlaps the table `count`");
  QueryCall call(execution, {{"sum", table.sum.memory()}, {"count", table.count->memory()}});
  require(call.on_cpu(), "count: windows over the valid pixels alone are computed in host memory by the CPU");
  require(!squared || table.squares->memory() == table.sum.memory(),
          "squares: they lie in another memory than the sums");
  const View there = call.out(out, "out");
  const std::vector<formulas::Pieces> rim = rim_of(sums.columns);
  sums.rim = counts.rim = rim;
  if (squares) squares->rim = rim;
  for_each_row(there, 1, call.threads(),
               [&] { return ValidRow(sums, squares ? &*squares : nullptr, counts, statistic, there.type); });
}

void answer(QueryCall& call, kernels::Statistic statistic, const cpu::WindowedTable& sum, const View& out,
            Rounding rounding, const cpu::WindowedTable* squares = nullptr) {
  kernels::WindowsRequest request{statistic, sum.table,  std::nullopt, sum.columns, sum.rows,
                                  out,       sum.beyond, {},           rounding};
  if (squares) request.squares = squares->table, request.squares_beyond = squares->beyond;
  request.walks = policy::walks_windows(sum.columns.edge, statistic == kernels::Statistic::mean, out.shape);
  call.answer(request);
}

void variances(const SatView& table, const Window& window, const View& out, const Execution& execution, bool root) {
  require_squares(table);
  const auto statistic = root ? kernels::Statistic::standard_deviation : kernels::Statistic::variance;
  if (table.count) {
    require_same_image(table.sum, *table.squares, "squares");
    return answer_valid(table, window, out, execution, statistic);
  }
  const TableView &sum = table.sum, &squares = *table.squares;
  cpu::WindowedTable sum_windows = windowed(sum, window, "sum");
  cpu::WindowedTable square_windows = windowed(squares, window, "squares", TableKind::squares);
  require_same_image(sum, squares, "squares");
  require_windows_output(sum_windows, out, "sum");
  require_windows_output(square_windows, out, "squares");
  QueryCall call(execution, {{"sum", sum.memory()}, {"squares", squares.memory()}});
  const View there = call.out(out, "out");
  if (!call.on_cpu()) return answer(call, statistic, sum_windows, there, window.rounding, &square_windows);
  const std::int64_t together = std::min(channels_together(there, sum), channels_together(there, squares));
  sum_windows.channels_together = square_windows.channels_together = together;
  const std::vector<formulas::Pieces> rim = rim_of(sum_windows.columns);
  sum_windows.rim = square_windows.rim = rim;
  for_each_row(there, together, call.threads(),
               [&] { return VarianceRow(sum_windows, square_windows, root, there.type); });
}

void sums_or_means(const SatView& table, const Window& window, const View& out, const Execution& execution,
                   kernels::Statistic statistic) {
  cpu::WindowedTable windows = windowed(table.sum, window, "table");
  require_windows_output(windows, out, "table");
  QueryCall call(execution, {{"table", table.memory()}});
  const View there = call.out(out, "out");
  if (!call.on_cpu()) return answer(call, statistic, windows, there, window.rounding);
  windows.channels_together = channels_together(there, table.sum);
  const std::vector<formulas::Pieces> rim = rim_of(windows.columns);
  windows.rim = rim;
  for_each_row(there, windows.channels_together, call.threads(),
               [&] { return StoredRow(windows, there.type, window.rounding, statistic == kernels::Statistic::mean); });
}

}  // namespace

void window_sums(const SatView& table, const Window& window, const View& out, const Execution& execution) {
  sums_or_means(table, window, out, execution, kernels::Statistic::sum);
}

void window_means(const SatView& table, const Window& window, const View& out, const Execution& execution) {
  if (table.count) return answer_valid(table, window, out, execution, kernels::Statistic::mean);
  sums_or_means(table, window, out, execution, kernels::Statistic::mean);
}

void window_variances(const SatView& table, const Window& window, const View& out, const Execution& execution) {
  variances(table, window, out, execution, false);
}

void window_standard_deviations(const SatView& table, const Window& window, const View& out,
                                const Execution& execution) {
  variances(table, window, out, execution, true);
}

}  // namespace areal
