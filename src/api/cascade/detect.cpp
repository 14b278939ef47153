// Detection: the sizes to search, and bands of positions, each with tables of its own.
#include <algorithm>
#include <areal/array.hpp>
#include <areal/cascade.hpp>
#include <areal/error.hpp>
#include <areal/sat.hpp>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>
#include <vector>
#include "api/cascade/cascade_state.hpp"
#include "api/cascade/grouping.hpp"
#include "api/core/require.hpp"
#include "api/core/view_check.hpp"
#include "cpu/cascade/linear_exact.hpp"
#include "cpu/cascade/windows.hpp"
#include "cpu/threads.hpp"
#include "formulas/float_environment.hpp"

namespace areal {
namespace {

using cpu::CascadeLayout;
using cpu::CascadeModel;
using cpu::CascadeWindows;

constexpr std::size_t most_levels = 65'536;

/// As OpenCV's cvRound.
std::int64_t rounded(double value) { return static_cast<std::int64_t>(std::nearbyint(value)); }

/// The image at one size.
struct Level {
  float scale = 1;
  std::int64_t width = 0, height = 0;  // of the image
  std::int64_t rows = 0;               // in which positions lie
  int step = 1;
};

BoxSize window_at(const BoxSize& window, double scale) {
  return {rounded(static_cast<double>(window.width) * scale), rounded(static_cast<double>(window.height) * scale)};
}
/// In float, as OpenCV computes boxes.
BoxSize window_at(const BoxSize& window, float scale) {
  return {rounded(static_cast<double>(static_cast<float>(window.width) * scale)),
          rounded(static_cast<double>(static_cast<float>(window.height) * scale))};
}

std::vector<float> scales_of(const BoxSize& window, const Shape& image, const DetectOptions& options) {
  std::vector<float> all, wanted;
  for (double scale = 1;; scale *= options.scale_factor) {
    const BoxSize size = window_at(window, scale);
    if (size.width > image.width || size.height > image.height) break;
    require(all.size() < most_levels, "scale_factor ", options.scale_factor, ": makes more than ", most_levels,
            " sizes of windows");
    all.push_back(static_cast<float>(scale));
  }
  const bool any = options.max_size.width == 0 || options.max_size.height == 0;
  const BoxSize most = any ? BoxSize{image.width, image.height} : options.max_size;
  for (const float scale : all) {
    const BoxSize size = window_at(window, scale);
    if (size.width > most.width || size.height > most.height) break;
    if (size.width >= options.min_size.width && size.height >= options.min_size.height) wanted.push_back(scale);
  }
  if (!wanted.empty() || all.empty()) return wanted;
  // OpenCV's rule, for a min_size equal to max_size that is no power: the nearest.
  const auto distance = [&](float scale) {
    const BoxSize size = window_at(window, scale);
    const auto dx = static_cast<double>(options.min_size.width - size.width),
               dy = static_cast<double>(options.min_size.height - size.height);
    return dx * dx + dy * dy;
  };
  return {*std::ranges::min_element(all, {}, distance)};
}

std::vector<Level> levels_of(const BoxSize& window, const Shape& image, const DetectOptions& options) {
  std::vector<Level> levels;
  std::int64_t stripes = 0;
  for (const float scale : scales_of(window, image, options)) {
    Level level{scale, rounded(static_cast<double>(static_cast<float>(image.width) / scale)),
                rounded(static_cast<double>(static_cast<float>(image.height) / scale)), 0, scale >= 2 ? 1 : 2};
    const std::int64_t columns = std::max<std::int64_t>(level.width + 1 - window.width, 0),
                       rows = std::max<std::int64_t>(level.height + 1 - window.height, 0);
    // OpenCV cuts the rows in stripes, whose number depends on the first level. With step 2 they can lack the last row.
    if (levels.empty()) stripes = (columns + 31) / 32;
    const std::int64_t stripe = std::max<std::int64_t>((rows / level.step + stripes - 1) / stripes, 1) * level.step;
    level.rows = columns == 0 ? 0 : std::min(rows, stripes * stripe);
    levels.push_back(level);
  }
  return levels;
}

/// Rows of positions of a level.
struct Band {
  std::size_t level = 0;
  std::int64_t begin = 0, end = 0;
};

/// Searches the bands of a cascade in one image.
class Search {
 public:
  Search(const CascadeModel& model, const ConstView& image, std::vector<Level> levels)
      : model_(model), image_(image), levels_(std::move(levels)) {
    std::int64_t widest = 0;
    for (const Level& level : levels_) widest = std::max(widest, level.width);
    for (const int step : {1, 2}) {
      if (std::ranges::none_of(levels_, [&](const Level& level) { return level.step == step; })) continue;
      const auto s = static_cast<std::size_t>(step - 1);
      layouts_[s] = std::make_unique<CascadeLayout>(model, widest + 1, step);
      require(layouts_[s]->row <= std::numeric_limits<std::int32_t>::max() / (model.height + 2), "image of ",
              image.shape.width, " columns: too wide for a cascade with a window of ", model.height, " rows");
      windows_[s] = std::make_unique<CascadeWindows>(model, *layouts_[s]);
    }
    // Each band computes the tables of a window more than its rows.
    const std::int64_t rows = std::max<std::int64_t>(96, 4 * model.height) / 2 * 2;
    for (std::size_t i = 0; i < levels_.size(); ++i)
      for (std::int64_t begin = 0; begin < levels_[i].rows; begin += rows)
        bands_.push_back({i, begin, std::min(levels_[i].rows, begin + rows)});
  }

  std::vector<Detection> operator()(int threads) const {
    std::vector<std::vector<Detection>> found(bands_.size());
    cpu::parallel_for(threads, static_cast<std::int64_t>(bands_.size()), [&](std::int64_t i) {
      const auto k = static_cast<std::size_t>(i);
      search(bands_[k], found[k]);
    });
    std::vector<Detection> all;
    for (const auto& part : found) all.insert(all.end(), part.begin(), part.end());
    return all;
  }

 private:
  void search(const Band& band, std::vector<Detection>& found) const {
    const Level& level = levels_[band.level];
    const auto s = static_cast<std::size_t>(level.step - 1);
    const CascadeLayout& layout = *layouts_[s];
    // The last position of the band is that of its last row.
    const std::int64_t last = band.begin + (band.end - 1 - band.begin) / level.step * level.step,
                       height = last + model_.height - band.begin;
    const std::vector<std::uint32_t> tables = tables_of(level, layout, band.begin, height);
    const std::int64_t positions = (level.width - model_.width) / level.step + 1;
    const BoxSize size = window_at({model_.width, model_.height}, level.scale);
    CascadeWindows::Scratch scratch;
    std::vector<std::int64_t> passed;
    for (std::int64_t y = band.begin; y <= last; y += level.step) {
      passed.clear();
      windows_[s]->row(tables.data() + (y - band.begin) * layout.row, positions, scratch, passed);
      for (const std::int64_t i : passed)
        found.push_back({scaled(i * level.step, level.scale), scaled(y, level.scale), size.width, size.height, 1});
    }
  }

  static std::int64_t scaled(std::int64_t at, float scale) {
    return rounded(static_cast<double>(static_cast<float>(at) * scale));
  }

  std::vector<std::uint32_t> tables_of(const Level& level, const CascadeLayout& layout, std::int64_t y,
                                       std::int64_t height) const {
    Array resized;
    ConstView pixels(image_.row(y), Type::u8, {level.width, height}, image_.row_pitch);
    if (level.width != image_.shape.width || level.height != image_.shape.height) {
      resized = Array({level.width, height}, Type::u8);
      const cpu::LinearAxis columns(image_.shape.width, level.width), rows(image_.shape.height, level.height);
      cpu::LinearRows source(image_, columns, rows);
      for (std::int64_t i = 0; i < height; ++i) source.read(y + i, static_cast<std::uint8_t*>(resized.view().row(i)));
      pixels = std::as_const(resized).view();
    }
    SatOptions options;
    options.types = TypePair{Type::u8, Type::u32};
    options.squares = model_.is_lbp ? Squares::no : Squares::u32;
    options.tilted = model_.has_tilted;
    Execution alone;
    alone.backend = Backend::cpu;
    alone.threads = 1;
    const SatTable table = sat(pixels, options, alone);
    std::vector<std::uint32_t> placed(static_cast<std::size_t>((height + 1) * layout.row + CascadeLayout::padding));
    const auto place = [&](const ConstView& from, std::int64_t offset) {
      for (std::int64_t i = 0; i <= height; ++i)
        layout.place(static_cast<const std::uint32_t*>(from.row(i)), level.width + 1,
                     placed.data() + i * layout.row + offset);
    };
    place(table.sum(), 0);
    if (model_.has_tilted) place(table.tilted(), layout.tilted);
    if (!model_.is_lbp) place(table.squares(), layout.squares);
    return placed;
  }

  const CascadeModel& model_;
  ConstView image_;
  std::vector<Level> levels_;
  std::vector<Band> bands_;
  std::unique_ptr<const CascadeLayout> layouts_[2];
  std::unique_ptr<const CascadeWindows> windows_[2];
};

}  // namespace

std::vector<Detection> detect(const Cascade& cascade, const ConstView& image, const DetectOptions& options,
                              const Execution& execution) {
  require(image.type == Type::u8, "image type ", name_of(image.type), ": it may be 8u");
  require(image.shape.channels == 1 && image.shape.batch == 1, "image: ", image.shape.channels, " channels and ",
          image.shape.batch, " images, it may have one of each");
  check_view("image", image, image.shape, image.type);
  require(image.memory.is_host(), "image is in device memory: cascades run on the CPU");
  require(execution.backend == Backend::automatic || execution.backend == Backend::cpu, "backend ",
          name_of(execution.backend), ": cascades run on the CPU");
  require(options.scale_factor > 1 && std::isfinite(options.scale_factor), "scale_factor ", options.scale_factor,
          ": it may be any finite number above 1");
  require(options.min_neighbors >= 0, "min_neighbors ", options.min_neighbors, ": it may be 0 or more");
  for (const auto& [name, size] : {std::pair("min_size", options.min_size), std::pair("max_size", options.max_size)})
    require(size.width >= 0 && size.height >= 0, name, " ", size.width, "x", size.height, ": it may not be negative");
  const FloatEnvironment floats;
  const BoxSize window = cascade.window();
  if (image.shape.width < window.width || image.shape.height < window.height) return {};
  const Search search(cascade.state().model, image, levels_of(window, image.shape, options));
  std::vector<Detection> boxes = search(execution.threads);
  if (options.min_neighbors > 0) boxes = grouped(boxes, options.min_neighbors);
  for (Detection& box : boxes) {  // rounding can carry a box over the edge
    box.width = std::min(box.width, image.shape.width - box.x);
    box.height = std::min(box.height, image.shape.height - box.y);
  }
  std::erase_if(boxes, [](const Detection& box) { return box.width <= 0 || box.height <= 0; });
  return boxes;
}

}  // namespace areal
