#pragma once
// What the matrix asks of engines that compute dense windows, and what each answer must be, cell by cell.

#include <areal/strips.hpp>
#include <areal/window.hpp>
#include <cmath>
#include <optional>
#include <string>
#include <vector>
#include "piece_matrix/pixels_with_holes.hpp"

namespace areal::piece_matrix {

struct WindowsQuestion {
  Shape image;
  Cut cut{};
  Type type = Type::u8, output = Type::f64;
  Window window{.width = 4, .height = 5};
  WindowStatistic statistic = WindowStatistic::mean;
  conformance::Fill fill = conformance::Fill::wild;
  bool mask = false, ignore_nan = false, progress = false;
  std::vector<std::string> named;
  std::uint64_t seed = 1;

  std::string words() const {
    std::string words = std::string(name_of(type)) + ", " + cut.name;
    for (const std::string& name : named) words += ", " + name;
    return words + ", seed " + std::to_string(seed);
  }
  bool has_squares() const {
    return statistic == WindowStatistic::variance || statistic == WindowStatistic::standard_deviation;
  }
  /// Whether an answer is made of integers alone, so that no cut changes a bit.
  bool is_exact() const { return !is_float(type) && (!has_squares() || size_of(type) <= 2); }
  Type type_of_answer() const { return statistic == WindowStatistic::pixel ? type : output; }
};
/// As TableOption.
struct WindowsOption {
  const char *group, *name;
  void (*set)(WindowsQuestion&);
};
inline void set_size(WindowsQuestion& q, std::int64_t width, std::int64_t height) {
  q.window.width = width, q.window.height = height;
}
inline constexpr WindowsOption windows_options[] = {
    {"values", "wild", [](WindowsQuestion&) {}},
    {"values", "most", [](WindowsQuestion& q) { q.fill = conformance::Fill::most; }},
    {"values", "small", [](WindowsQuestion& q) { q.fill = conformance::Fill::exact; }},
    {"values", "NaN and infinities", [](WindowsQuestion& q) { q.fill = conformance::Fill::holes; }},
    {"edge", "valid", [](WindowsQuestion& q) { q.window.edge = Edge::valid; }},
    {"edge", "zero", [](WindowsQuestion& q) { q.window.edge = Edge::zero; }},
    {"edge", "replicate", [](WindowsQuestion& q) { q.window.edge = Edge::replicate; }},
    {"edge", "reflect", [](WindowsQuestion& q) { q.window.edge = Edge::reflect; }},
    {"edge", "symmetric", [](WindowsQuestion& q) { q.window.edge = Edge::symmetric; }},
    {"edge", "wrap", [](WindowsQuestion& q) { q.window.edge = Edge::wrap; }},
    {"edge", "constant", [](WindowsQuestion& q) { q.window.edge = Edge::constant, q.window.value = 9; }},
    {"size", "1x1", [](WindowsQuestion& q) { set_size(q, 1, 1); }},
    {"size", "2x2", [](WindowsQuestion& q) { set_size(q, 2, 2); }},
    {"size", "3x7", [](WindowsQuestion& q) { set_size(q, 3, 7); }},
    {"size", "7x12", [](WindowsQuestion& q) { set_size(q, 7, 12); }},
    {"size", "as high as the image", [](WindowsQuestion& q) { set_size(q, 2, q.cut.image_height + 1); }},
    {"size", "3x40", [](WindowsQuestion& q) { set_size(q, 3, 40); }},
    {"size", "90x3", [](WindowsQuestion& q) { set_size(q, 90, 3); }},
    {"anchor", "first", [](WindowsQuestion& q) { q.window.anchor_x = q.window.anchor_y = 0; }},
    {"anchor", "last",
     [](WindowsQuestion& q) { q.window.anchor_x = q.window.width - 1, q.window.anchor_y = q.window.height - 1; }},
    {"statistic", "sum", [](WindowsQuestion& q) { q.statistic = WindowStatistic::sum; }},
    {"statistic", "variance", [](WindowsQuestion& q) { q.statistic = WindowStatistic::variance; }},
    {"statistic", "deviation", [](WindowsQuestion& q) { q.statistic = WindowStatistic::standard_deviation; }},
    {"statistic", "count", [](WindowsQuestion& q) { q.statistic = WindowStatistic::count; }},
    {"statistic", "pixel", [](WindowsQuestion& q) { q.statistic = WindowStatistic::pixel; }},
    {"output", "8u", [](WindowsQuestion& q) { q.output = Type::u8; }},
    {"output", "16s", [](WindowsQuestion& q) { q.output = Type::s16; }},
    {"output", "32f", [](WindowsQuestion& q) { q.output = Type::f32; }},
    {"output", "64u", [](WindowsQuestion& q) { q.output = Type::u64; }},
    {"rounding", "as OpenCV", [](WindowsQuestion& q) { q.window.rounding = Rounding::opencv; }},
    {"channels", "3 interleaved", [](WindowsQuestion& q) { q.image.channels = 3; }},
    {"channels", "2 planar", [](WindowsQuestion& q) { q.image.channels = 2, q.image.layout = Layout::planar; }},
    {"mask", "of 8u", [](WindowsQuestion& q) { q.mask = true; }},
    {"ignore_nan", "of floats", [](WindowsQuestion& q) { q.ignore_nan = true, q.fill = conformance::Fill::holes; }},
    {"batch", "2 images", [](WindowsQuestion& q) { q.image.batch = 2; }},
    {"progress", "counted", [](WindowsQuestion& q) { q.progress = true; }},
};
inline WindowsQuestion windows_question(Type type, const Cut& cut, const std::vector<const WindowsOption*>& options) {
  WindowsQuestion q;
  q.cut = cut, q.type = type;
  q.image = {cut.image_width, cut.image_height};
  for (const WindowsOption* const option : options) {
    option->set(q);
    q.named.push_back(std::string(option->group) + " " + option->name);
  }
  if (!is_float(type) && size_of(type) == 8) q.fill = conformance::Fill::exact;  // else their tables wrap
  return q;
}

struct WindowsInputs : PixelsWithHoles {
  explicit WindowsInputs(const WindowsQuestion& q) : PixelsWithHoles(q.type, q.image, q.fill, q.seed) {
    if (q.mask) add_mask(q.image, q.seed);
  }
};

/// Which pixel of an axis a cell at i shows; none: none.
inline std::optional<std::int64_t> shown(std::int64_t i, std::int64_t extent, Edge edge) {
  while (i < 0 || i >= extent) {
    switch (edge) {
      case Edge::replicate:
        i = i < 0 ? 0 : extent - 1;
        break;
      case Edge::reflect:
        if (extent == 1) return 0;
        i = i < 0 ? -i : 2 * (extent - 1) - i;
        break;
      case Edge::symmetric:
        i = i < 0 ? -1 - i : 2 * extent - 1 - i;
        break;
      case Edge::wrap:
        i += i < 0 ? extent : -extent;
        break;
      default:
        return std::nullopt;
    }
  }
  return i;
}

/// The answer for the window at output (x, y), and by how much a right one may differ.
struct Expected {
  long double value = 0, bound = 0;
};
/// Bounds are those of fault_in in sums_question.hpp; beyond the edge a pixel is added once more for each cell.
inline Expected expected_at(const WindowsQuestion& q, const WindowsInputs& in, std::int64_t x, std::int64_t y,
                            std::int64_t channel, std::int64_t n) {
  const Window& w = q.window;
  const bool is_valid = w.edge == Edge::valid;
  const std::int64_t anchor_x = w.anchor_x < 0 ? w.width / 2 : w.anchor_x;
  const std::int64_t anchor_y = w.anchor_y < 0 ? w.height / 2 : w.anchor_y;
  if (q.statistic == WindowStatistic::pixel)
    return {in.image.number(in.image.at(x + (is_valid ? anchor_x : 0), y + (is_valid ? anchor_y : 0), channel, n)), 0};
  std::vector<long double> values;
  std::int64_t count = 0;
  for (std::int64_t v = 0; v < w.height; ++v)
    for (std::int64_t u = 0; u < w.width; ++u) {
      const auto column = shown(x + u - (is_valid ? 0 : anchor_x), q.image.width, w.edge);
      const auto row = shown(y + v - (is_valid ? 0 : anchor_y), q.image.height, w.edge);
      if (!column || !row) {
        if (w.edge == Edge::shrink) continue;
        values.push_back(w.edge == Edge::constant ? w.value : 0), ++count;
        continue;
      }
      bool counts = !in.second || in.second->integer[in.second->at(*column, *row, 0, n)] != 0;
      for (std::int64_t c = 0; q.ignore_nan && c < q.image.channels; ++c)
        counts = counts && !std::isnan(in.image.number(in.image.at(*column, *row, c, n)));
      if (counts) values.push_back(in.image.number(in.image.at(*column, *row, channel, n))), ++count;
    }
  long double sum = 0, squares = 0, variance = 0, s1 = 0, s2 = 0;
  for (const long double value : values) sum += value, squares += value * value;
  const auto cells = static_cast<long double>(count);
  for (const long double value : values) variance += (value - sum / cells) * (value - sum / cells) / cells;
  for (std::size_t i = 0; i < in.image.size(); ++i)
    if (const long double v = in.image.number(i); std::isfinite(v)) s1 += std::fabs(v), s2 += v * v;
  const long double u = 0x1p-53L;
  const long double terms = 8 * (static_cast<long double>(q.image.width * q.image.height) + 1) *
                            static_cast<long double>(w.width * w.height + 1) * u;
  const bool rounds = is_float(q.type), squares_round = rounds || size_of(q.type) > 2;
  const long double e1 = rounds ? terms * s1 : 0, e2 = squares_round ? terms * s2 : 0, mean = sum / cells;
  switch (q.statistic) {
    case WindowStatistic::sum:
      return {sum, e1 + u * std::fabs(sum)};
    case WindowStatistic::mean:
      return {mean, e1 / cells + 2 * u * std::fabs(mean)};
    case WindowStatistic::count:
      return {cells, 0};
    default:  // the square of a deviation is looked at
      return {variance, (e2 + 2 * std::fabs(mean) * e1) / cells + 8 * u * (squares / cells + mean * mean)};
  }
}

/// Empty, or the first answer that is wrong.
inline std::string fault_in(const WindowsQuestion& q, const WindowsInputs& in, const Values& got) {
  const Shape shape = window_shape(q.image.width, q.image.height, q.window);
  const std::int64_t channels = q.statistic == WindowStatistic::count ? 1 : q.image.channels;
  const Type type = q.type_of_answer();
  if (got.type != type || got.shape.width != shape.width || got.shape.height != shape.height ||
      got.shape.channels != channels)
    return "another type or shape";
  const bool is_root = q.statistic == WindowStatistic::standard_deviation;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    Expected right = expected_at(q, in, at % shape.width, at / shape.width % shape.height,
                                 at / shape.width / shape.height % channels, 0);
    long double is = got.number(i);
    if (q.statistic != WindowStatistic::pixel && !is_float(type)) {  // rounded, and held to the type's range
      if (is_root) right.value = std::sqrt(right.value), right.bound = std::sqrt(right.bound);
      const long double least = type == Type::u8 ? 0 : -0x1p15L, most = type == Type::u8 ? 255 : 0x1p15L - 1;
      right.value = std::isnan(right.value) ? 0 : std::fmin(std::fmax(right.value, least), most);
      right.bound += q.window.rounding == Rounding::opencv ? 1 : 0.5L + 1e-9L;
    } else if (type == Type::f32 && q.statistic != WindowStatistic::pixel) {
      right.bound += 0x1p-22L * std::fabs(right.value) + (is_root ? 2 : 1) * 0x1p-149L;
      if (right.value > 0x1.fffffep127L && std::isinf(is)) continue;
      if (is_root) is *= is;
    } else if (is_root) {
      is *= is;
    }
    if (std::isnan(right.value) ? !std::isnan(is) : !(is == right.value || std::fabs(is - right.value) <= right.bound))
      return "element (" + conformance::place_of(got.shape, i) + ") is " + std::to_string(is) + ", not " +
             std::to_string(right.value) + " within " + std::to_string(right.bound);
  }
  return {};
}

}  // namespace areal::piece_matrix
