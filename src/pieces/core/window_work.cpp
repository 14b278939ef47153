#include "pieces/core/window_work.hpp"
#include <algorithm>
#include <areal/array.hpp>
#include <cmath>
#include <cstring>
#include <optional>
#include <tuple>
#include <utility>
#include "api/core/copy_rows.hpp"
#include "api/core/require.hpp"
#include "pieces/core/finite_windows.hpp"

namespace areal::pieces {
namespace {

std::int64_t anchor_of(std::int64_t anchor, std::int64_t size) { return anchor < 0 ? size / 2 : anchor; }

bool has_squares(WindowStatistic statistic) {
  return statistic == WindowStatistic::variance || statistic == WindowStatistic::standard_deviation;
}

bool is_of_values(WindowStatistic statistic) {
  return statistic != WindowStatistic::count && statistic != WindowStatistic::pixel;
}

/// Whether counts need a table of ones.
bool needs_ones(const std::vector<WindowStatistic>& statistics, bool has_counts) {
  return !has_counts && std::find(statistics.begin(), statistics.end(), WindowStatistic::count) != statistics.end();
}

/// Are all the pixels of a table of sums finite? What is not has spread into the last entry of its channel.
bool is_finite(const ConstView& sums) {
  if (!is_float(sums.type)) return true;
  for (std::int64_t c = 0; c < sums.shape.channels; ++c) {
    const char* const row = static_cast<const char*>(sums.row(sums.shape.height - 1, c));
    const char* const last = row + (sums.shape.width - 1) * sums.column_pitch();
    float single = 0;
    double value = 0;
    sums.type == Type::f32 ? std::memcpy(&single, last, sizeof(single)) : std::memcpy(&value, last, sizeof(value));
    if (!std::isfinite(single) || !std::isfinite(value)) return false;
  }
  return true;
}

/// Allocates while it executes where pixels are not finite.
class WindowStep final : public Step {
 public:
  WindowStep(SatPlan plan, const Window& window, const std::vector<WindowStatistic>& statistics, bool ignore_nan,
             int threads)
      : plan_(std::move(plan)),
        workspace_(plan_),
        table_(plan_.allocate(MemoryPlace{})),
        window_(window),
        statistics_(statistics),
        ignore_nan_(ignore_nan),
        windows_{.backend = Backend::cpu, .threads = threads} {
    if (!needs_ones(statistics, table_.count().data != nullptr)) return;
    const Shape& image = plan_.image_shape();
    Array ones({image.width, image.height}, Type::u8);
    std::fill_n(ones.as<std::uint8_t>(), bytes_of(ones.shape(), Type::u8), std::uint8_t{1});
    ones_ = sat(ones.view(), {}, windows_);
  }

  void execute(const Views& views) override {
    const ConstView& image = views.inputs[0];
    const ConstView mask = views.inputs.size() > 1 ? views.inputs[1] : ConstView();
    const Shape shape = window_shape(image.shape.width, image.shape.height, window_);
    plan_.execute(image, table_, workspace_, mask);
    std::optional<FiniteWindows> finite;
    if (!is_finite(table_.sum())) {
      finite.emplace(image, mask, ignore_nan_, window_, windows_);
      plan_.execute(finite->pixels(), table_, workspace_, mask);
    }
    for (std::size_t s = 0; s < statistics_.size(); ++s) {
      View out = views.outputs[s];
      out.shape.width = shape.width, out.shape.height = shape.height;
      const WindowStatistic statistic = statistics_[s];
      if (statistic == WindowStatistic::pixel)
        pixels(image, out);
      else if (statistic == WindowStatistic::count)
        counts(out);
      else
        answer(statistic, out);
      if (finite && is_of_values(statistic)) finite->mark(out, has_squares(statistic));
    }
  }

 private:
  void answer(WindowStatistic statistic, const View& out) const {
    const auto table = [&](const ConstView& view) { return TableView(view, table_.border()); };
    SatView planes(table(table_.sum()));
    if (table_.squares().data != nullptr) planes.squares = table(table_.squares());
    if (table_.count().data != nullptr) planes.count = table(table_.count());
    switch (statistic) {
      case WindowStatistic::sum:
        return window_sums(planes, window_, out, windows_);
      case WindowStatistic::mean:
        return window_means(planes, window_, out, windows_);
      case WindowStatistic::variance:
        return window_variances(planes, window_, out, windows_);
      default:
        return window_standard_deviations(planes, window_, out, windows_);
    }
  }

  /// Cells beyond the edge are valid but for `shrink`.
  void counts(const View& out) const {
    Window window = window_;
    if (window.edge == Edge::zero) window.edge = Edge::constant;
    window.value = 1;
    const ConstView& valid = ones_ ? ones_->sum() : table_.count();
    window_sums(SatView(TableView(valid, table_.border())), window, out, windows_);
  }

  void pixels(const ConstView& image, const View& out) const {
    ConstView anchors = image;
    if (window_.edge == Edge::valid && !out.shape.empty())
      anchors.data = static_cast<const char*>(image.row(anchor_of(window_.anchor_y, window_.height))) +
                     anchor_of(window_.anchor_x, window_.width) * image.column_pitch();
    anchors.shape = out.shape;
    copy_rows(anchors, out);
  }

  SatPlan plan_;
  Workspace workspace_;
  SatTable table_;
  std::optional<SatTable> ones_;  // counts of pixels, where all are valid
  Window window_;
  std::vector<WindowStatistic> statistics_;
  bool ignore_nan_;
  Execution windows_;
};

}  // namespace

Halo halo_of(const formulas::WindowAxis& rows, bool twice) {
  const std::int64_t before = rows.before, after = rows.size - 1 - before;
  std::int64_t above = before, below = after;
  // Reflections look as far back from an edge as the window reaches over it.
  if (rows.edge == Edge::reflect || rows.edge == Edge::symmetric) above = below = std::max(before, after);
  if (twice) std::tie(above, below) = std::pair(before + below, after + above);
  if (rows.edge == Edge::wrap)
    return above + below < rows.extent ? Halo{above, below, Halo::Beyond::wrap} : Halo{.is_whole = true};
  return {std::min(above, rows.extent), std::min(below, rows.extent),
          rows.edge == Edge::valid ? Halo::Beyond::inside : Halo::Beyond::cut};
}

WindowWork::WindowWork(const Shape& image, Type type, const Window& window, const StripWindowsOptions& options,
                       const Execution& execution)
    : image_(image), type_(type), window_(window), statistics_(options.statistics), where_(execution) {
  require(!statistics_.empty(), "statistics: there is none");
  tables_.types = options.types ? *options.types : default_types(image, type);
  tables_.mask = options.mask, tables_.ignore_nan = options.ignore_nan;
  if (std::any_of(statistics_.begin(), statistics_.end(), has_squares)) tables_.squares = Squares::automatic;
  where_ = plan_of(image.width, std::min<std::int64_t>(image.height, 256)).execution();
  execution_ = where_;
  execution_.backend = Backend::cpu;
  form_.inputs.push_back({type, image.channels, image.layout});
  if (options.mask) form_.inputs.push_back({Type::u8, 1, Layout::interleaved});
  for (const WindowStatistic statistic : statistics_)
    form_.outputs.push_back({statistic == WindowStatistic::pixel ? type : options.output,
                             statistic == WindowStatistic::count ? 1 : image.channels, image.layout});
  form_.margin = 0;
  form_.downloads = true;
  form_.usual_bytes = std::uint64_t{64} << 20;
  refuse_invalid(options);
  form_.halo = halo_of(window_axes(image.width, image.height, window).rows);
}

// What windows refuse, they refuse of one pixel. Sums see the output's type, whatever the statistics.
void WindowWork::refuse_invalid(const StripWindowsOptions& options) const {
  std::vector<WindowStatistic> statistics = statistics_;
  statistics.push_back(WindowStatistic::sum);
  std::vector<Rows> outputs = form_.outputs;
  outputs.push_back({options.output, image_.channels, image_.layout});
  std::vector<Array> arrays;
  const auto pixel = [&](const Rows& rows) {
    arrays.emplace_back(rows.of(1, 1), rows.type);
    std::memset(arrays.back().data(), 0, bytes_of(rows.of(1, 1), rows.type));
    return arrays.back().view();
  };
  Views views;
  for (const Rows& rows : form_.inputs) views.inputs.emplace_back(pixel(rows));
  for (const Rows& rows : outputs) views.outputs.push_back(pixel(rows));
  const SatPlan plan({1, 1, image_.channels, 1, image_.layout}, type_, tables_, {.backend = Backend::cpu});
  WindowStep(plan, window_, statistics, options.ignore_nan, 1).execute(views);
}

SatPlan WindowWork::plan_of(std::int64_t width, std::int64_t rows) const {
  return SatPlan({width, rows, image_.channels, 1, image_.layout}, type_, tables_, where_);
}
std::size_t WindowWork::workspace_bytes(std::int64_t width, std::int64_t rows) const {
  const SatPlan plan = plan_of(width, rows);
  const bool ones = needs_ones(statistics_, tables_.mask || tables_.ignore_nan);
  return plan.table_bytes() + plan.workspace_bytes() + (ones ? bytes_of({width + 1, rows + 1}, Type::u32) : 0);
}
std::unique_ptr<Step> WindowWork::plan(std::int64_t width, std::int64_t rows, Stream) const {
  return std::make_unique<WindowStep>(plan_of(width, rows), window_, statistics_, tables_.ignore_nan, where_.threads);
}

}  // namespace areal::pieces
