// The share of some rows of a table or a tensor in answers about regions.
//
// The sum of a region is the sum of the rows above its end, less that of the rows above its begin, each between its
// columns. The place that has the row computes each, as a region from the top of its rows.

#include <algorithm>
#include <areal/region.hpp>
#include <areal/region_histogram.hpp>
#include <type_traits>
#include <vector>
#include "api/core/planes.hpp"
#include "api/core/require.hpp"
#include "api/core/table_check.hpp"

namespace areal {
namespace {

/// Sums of the image's rows up to each of [first, first + H): a table of border `none` from its first row on.
struct SumRows {
  ConstView view;
  std::int64_t first = 0;

  SumRows(const ConstView& rows, Border border, std::int64_t row) : view(rows), first(row) {
    if (border == Border::none || rows.shape.empty()) return;
    const std::int64_t zeros = row == 0 ? 1 : 0;  // the table's row 0
    view.data = static_cast<const char*>(rows.row(zeros)) + rows.column_pitch();
    view.shape.width -= 1, view.shape.height -= zeros;
    first = row + zeros - 1;
  }
  bool has(std::int64_t row) const { return row >= first && row < first + view.shape.height; }
};

/// One region of these rows, and the factor of its answers.
struct Part {
  std::size_t region;
  bool subtracts;
};

template <class Out>
Out negative(Out value) {
  if constexpr (std::is_same_v<Out, double>)
    return -value;
  else
    return static_cast<Out>(0 - static_cast<std::uint64_t>(value));
}

/// ask(rows, regions, answers) answers regions of rows of border `none`.
template <class Out, class Ask>
void add_parts(const ConstView& rows, Border border, std::int64_t first, std::int64_t image_width,
               std::int64_t image_height, Span<const Region> regions, Span<Out> out, const Ask& ask) {
  const std::int64_t most = image_height + (border == Border::zero ? 1 : 0) - rows.shape.height;
  require(first >= 0 && first <= most, "first ", first, ": ", rows.shape.height, " rows of an image of ", image_height,
          " begin at row 0 to ", most);
  require(regions.memory().is_host() && out.memory().is_host(), "regions and out: they must lie in host memory");
  const SumRows sums(rows, border, first);
  std::vector<Region> local;
  std::vector<Part> parts;
  for (std::size_t i = 0; i < regions.size(); ++i) {
    const Region r =
        checked_region(regions[i], static_cast<std::int64_t>(i), image_width, image_height, Outside::error, border);
    if (r.width == 0 || r.height == 0) continue;
    const std::int64_t end = r.y + r.height;
    const bool has_end = sums.has(end - 1), has_begin = r.y > 0 && sums.has(r.y - 1);
    if (!has_end && !has_begin) continue;
    const std::int64_t from = has_end && has_begin ? r.y - sums.first : 0;
    local.push_back({r.x, from, r.width, (has_end ? end : r.y) - sums.first - from});
    parts.push_back({i, !has_end});
  }
  std::fill_n(out.data(), out.size(), Out(0));
  if (local.empty()) return;
  const auto planes = static_cast<std::size_t>(planes_of(rows.shape));
  std::vector<Out> answers(local.size() * planes);
  ask(sums.view, local, Span<Out>(answers));
  for (std::size_t k = 0; k < parts.size(); ++k)
    for (std::size_t p = 0; p < planes; ++p) {
      const Out answer = answers[k * planes + p];
      out[parts[k].region * planes + p] = parts[k].subtracts ? negative(answer) : answer;
    }
}

template <class Out>
void sums_of(const TableView& rows, std::int64_t first, std::int64_t image_height, Span<const Region> regions,
             Span<Out> out, const Execution& execution) {
  if (rows.view.shape.empty()) return std::fill(out.begin(), out.end(), Out(0));
  require_tables(rows, "rows");
  require_answers(out.size(), "sums", regions.size(), rows.view.shape);
  require_sums(rows, type_of<Out>);
  add_parts(rows.view, rows.border, first, rows.image_width(), image_height, regions, out,
            [&](const ConstView& view, Span<const Region> of_place, Span<Out> answers) {
              region_sums(SatView(view, Border::none), of_place, answers, {.execution = execution});
            });
}

template <class Out>
void histograms_of(const TensorView& rows, std::int64_t first, std::int64_t image_height, Span<const Region> regions,
                   Span<Out> out, const Execution& execution) {
  if (rows.view.shape.empty()) return std::fill(out.begin(), out.end(), Out(0));
  require_tensor(rows);
  require_histograms(out.size(), regions.size(), rows.bins());
  require_counts(rows, type_of<Out>);
  add_parts(rows.view, rows.border, first, rows.image_width(), image_height, regions, out,
            [&](const ConstView& view, Span<const Region> of_place, Span<Out> answers) {
              region_histograms(TensorView(view, Border::none), of_place, answers, {.execution = execution});
            });
}

}  // namespace

void partial_region_sums(const TableView& rows, std::int64_t first, std::int64_t image_height,
                         Span<const Region> regions, Span<double> out, const Execution& execution) {
  sums_of(rows, first, image_height, regions, out, execution);
}
void partial_region_sums(const TableView& rows, std::int64_t first, std::int64_t image_height,
                         Span<const Region> regions, Span<std::uint64_t> out, const Execution& execution) {
  sums_of(rows, first, image_height, regions, out, execution);
}
void partial_region_sums(const TableView& rows, std::int64_t first, std::int64_t image_height,
                         Span<const Region> regions, Span<std::int64_t> out, const Execution& execution) {
  sums_of(rows, first, image_height, regions, out, execution);
}

void partial_region_histograms(const TensorView& rows, std::int64_t first, std::int64_t image_height,
                               Span<const Region> regions, Span<double> out, const Execution& execution) {
  histograms_of(rows, first, image_height, regions, out, execution);
}
void partial_region_histograms(const TensorView& rows, std::int64_t first, std::int64_t image_height,
                               Span<const Region> regions, Span<std::uint64_t> out, const Execution& execution) {
  histograms_of(rows, first, image_height, regions, out, execution);
}

}  // namespace areal
