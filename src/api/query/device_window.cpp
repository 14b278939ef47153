// Dense windows, distance maps and other borders of tables on a device: checks, then one request.
#include <areal/device_region.hpp>
#include "api/core/table_check.hpp"
#include "api/query/region_device.hpp"
#include "api/query/window_check.hpp"
#include "api/sat/border_check.hpp"

namespace areal {

namespace {

using kernels::Statistic;

void windows(const Place& on, Statistic statistic, const TableView& table, const Window& window, const View& out) {
  const cpu::WindowedTable all = windowed(table, window, "table");
  require_windows_output(all, out, "table");
  answer(on, kernels::WindowsRequest{statistic, table, std::nullopt, all.columns, all.rows, out, all.beyond, {}});
}

void variances(const Place& on, Statistic statistic, const TableView& sum, const TableView& squares,
               const Window& window, const View& out) {
  const cpu::WindowedTable all = windowed(sum, window, "sum"),
                           of_squares = windowed(squares, window, "squares", TableKind::squares);
  require_same_image(sum, squares, "squares");
  require_windows_output(all, out, "sum");
  require_windows_output(of_squares, out, "squares");
  answer(on,
         kernels::WindowsRequest{statistic, sum, squares, all.columns, all.rows, out, all.beyond, of_squares.beyond});
}

}  // namespace

void window_sums(const Place& on, const TableView& table, const Window& window, const View& out) {
  windows(on, Statistic::sum, table, window, out);
}

void window_means(const Place& on, const TableView& table, const Window& window, const View& out) {
  windows(on, Statistic::mean, table, window, out);
}

void window_variances(const Place& on, const TableView& sum, const TableView& squares, const Window& window,
                      const View& out) {
  variances(on, Statistic::variance, sum, squares, window, out);
}

void window_standard_deviations(const Place& on, const TableView& sum, const TableView& squares, const Window& window,
                                const View& out) {
  variances(on, Statistic::standard_deviation, sum, squares, window, out);
}

void distance_map(const Place& on, const TensorView& tensor, std::int64_t width, std::int64_t height,
                  std::span<const double> target, Distance measure, const View& out) {
  require_distance_map(tensor, width, height, target.size(), out);
  require_span(target, "target");
  answer(on, kernels::DistanceMapRequest{tensor, width, height, target.data(), measure, out});
}

void convert_border(const Place& on, const TableView& from, const View& to, Border to_border, const ConstView* image) {
  const bool completes = require_conversion(from, to, to_border, image);
  answer(on, kernels::ConvertRequest{from, to, to_border, completes ? std::optional(*image) : std::nullopt});
}

}  // namespace areal
