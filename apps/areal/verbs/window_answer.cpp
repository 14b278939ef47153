#include "window_answer.hpp"

#include <algorithm>
#include <areal/window.hpp>
#include <filesystem>
#include "io/numbers.hpp"
#include "io/pixels.hpp"
#include "io/word_list.hpp"
#include "window_finite.hpp"

namespace areal::command {
namespace {

// Number of cells, of the window at position `at`, that lie inside [0, size): the divisor of `shrink`.
std::int64_t inside(std::int64_t at, std::int64_t anchor, std::int64_t cells, std::int64_t size) {
  return std::min(at - anchor + cells, size) - std::max<std::int64_t>(at - anchor, 0);
}

Array thresholded(const ConstView& image, std::int64_t channel, const SatView& table, const Window& window,
                  double percent, const FiniteWindows* finite, const Execution& execution) {
  const Shape shape = window_shape(image.shape.width, image.shape.height, window);
  Array sums(shape, Type::f64), result(shape, Type::u8), counts;
  window_sums(table, window, sums.view(), execution);
  if (table.count) {
    Window same = window;
    if (same.edge == Edge::zero) same.edge = Edge::constant;
    same.value = 1;  // cells beyond the edge are valid
    counts = Array(shape, Type::f64);
    window_sums(SatView(*table.count), same, counts.view(), execution);
  }
  const std::int64_t anchor_x = window.width / 2, anchor_y = window.height / 2;
  const bool valid = window.edge == Edge::valid, shrinks = window.edge == Edge::shrink;
  const auto width = static_cast<std::size_t>(shape.width);
  std::vector<double> pixels(static_cast<std::size_t>(image.shape.width)), row(width), of(width);
  for (std::int64_t y = 0; y < shape.height; ++y) {
    load_row(image, y + (valid ? anchor_y : 0), channel, 0, pixels);
    load_row(sums.view(), y, 0, 0, row);
    if (finite != nullptr) finite->put(y, channel, false, row);
    if (valid) std::move(pixels.begin() + anchor_x, pixels.begin() + anchor_x + shape.width, pixels.begin());
    const std::int64_t rows = shrinks ? inside(y, anchor_y, window.height, image.shape.height) : window.height;
    for (std::int64_t x = 0; x < shape.width; ++x)
      of[static_cast<std::size_t>(x)] =
          static_cast<double>(rows * (shrinks ? inside(x, anchor_x, window.width, image.shape.width) : window.width));
    if (table.count) load_row(counts.view(), y, 0, 0, of);
    apply_threshold(percent, pixels, of, row);
    store_row(result.view(), y, 0, 0, row);
  }
  return result;
}

}  // namespace

const std::vector<std::string> WindowRequest::edge_names{"valid",   "shrink",    "zero", "replicate",
                                                         "reflect", "symmetric", "wrap", "constant"};

Edge WindowRequest::edge_named(const std::string& name) {
  const auto at = std::find(edge_names.begin(), edge_names.end(), name);
  if (at == edge_names.end()) refuse("--edge ", name, ": may be ", word_list(edge_names));
  return static_cast<Edge>(at - edge_names.begin());
}

Window window_for(const WindowRequest& request, const Shape& image) {
  Window window;
  window.edge = WindowRequest::edge_named(request.edge);
  if (!request.value.empty()) window.value = number("--value", request.value);
  if (!request.size.empty()) {
    const Size cells = window_cells("--size", request.size, 1);
    window.width = cells.width;
    window.height = cells.height;
  } else {
    // Bradley and Roth 2007: an eighth of the image's width.
    window.width = window.height = std::max<std::int64_t>(1, image.width / 8);
  }
  if (window.edge == Edge::valid && (window.width > image.width || window.height > image.height))
    refuse("--size ", fmt::format("{}x{}", window.width, window.height),
           ": with --edge valid it may not exceed the image, ", fmt::format("{}x{}", image.width, image.height));
  return window;
}

ExactWindows::ExactWindows(TypePair types, std::optional<Type> squares, const Window& window, const Shape& image)
    : window_(window),
      in_table_{types, squares, range_of(types.input)},
      in_64_bits_(in_table_),
      cells_(window.width * window.height),
      inside_(std::min(window.width, image.width) * std::min(window.height, image.height)) {
  in_64_bits_.types.table = is_signed_integer(types.table) ? Type::s64 : Type::u64;
  always_fits_ = is_float(types.input) || fits();
}

void ExactWindows::see(const ConstView& pixels) {
  if (always_fits_) return;
  range_ = range_ ? union_of(*range_, range_of(pixels)) : range_of(pixels);
  PixelRange range = *range_;
  if (window_.edge == Edge::constant)
    range = union_of(range, {std::min<std::int64_t>(0, static_cast<std::int64_t>(window_.value)),
                             static_cast<std::uint64_t>(std::max(0.0, window_.value))});
  in_table_.pixels = in_64_bits_.pixels = range;
  if (!fits())
    refuse(fmt::format("--size {}x{}", window_.width, window_.height), ": the sum of a window may exceed ",
           name_of(in_table_.types.table), ", as pixels are up to ",
           std::to_string(std::max(range.most, 0 - static_cast<std::uint64_t>(range.least))), "; make the pixels 64f");
}

void apply_threshold(double percent, const std::vector<double>& pixels, const std::vector<double>& counts,
                     std::vector<double>& sums) {
  for (std::size_t x = 0; x < sums.size(); ++x)
    sums[x] = pixels[x] * counts[x] * 100 <= sums[x] * (100 - percent) ? 0 : 255;
}

TableRequest tables_for(const WindowRequest& request) {
  TableRequest tables;
  if (request.deviation) tables.squares = "auto";
  tables.options.ignore_nan = request.ignore_nan;
  return tables;
}

void answer_windows(const WindowRequest& request, const ConstView& image, TableMaker& maker, const Window& window,
                    const View& out, const Settings& settings) {
  const Execution execution = settings.on_host();
  maker.make(image, {}, request.input.path, settings);
  const SumTypes& types = maker.sum_types();
  ExactWindows(types.types, types.squares, window, image.shape).see(image);
  std::optional<FiniteWindows> finite;
  if (!is_finite(maker.table())) {
    finite.emplace(image, request.ignore_nan);
    finite->look(window, execution);
    maker.make(finite->pixels(), {}, request.input.path, settings);
  }
  const SatTable& table = maker.table();
  SatView planes(table.sum(), table.border());
  if (request.deviation) planes.squares.emplace(table.squares(), table.border());
  if (request.ignore_nan) planes.count.emplace(table.count(), table.border());
  std::vector<double> row(static_cast<std::size_t>(out.shape.width));
  if (request.threshold.empty()) {
    if (request.sum) window_sums(planes, window, out, execution);
    if (request.mean) window_means(planes, window, out, execution);
    if (request.deviation) window_standard_deviations(planes, window, out, execution);
    for (std::int64_t c = 0; finite && c < out.shape.channels; ++c)
      for (std::int64_t y = 0; y < out.shape.height; ++y) {
        load_row(out, y, c, 0, row);
        finite->put(y, c, request.deviation, row);
        store_row(out, y, c, 0, row);
      }
    return;
  }
  const double percent = number("--threshold", request.threshold);
  for (std::int64_t c = 0; c < out.shape.channels; ++c) {
    const Array one = thresholded(image, c, table.view(c), window, percent, finite ? &*finite : nullptr, execution);
    for (std::int64_t y = 0; y < out.shape.height; ++y) {
      load_row(one.view(), y, 0, 0, row);
      store_row(out, y, c, 0, row);
    }
  }
}

Type output_type(const WindowRequest& request, Type image, bool is_npy) {
  if (!request.threshold.empty()) return Type::u8;
  if (is_npy) return Type::f64;
  const std::string extension = std::filesystem::path(request.output).extension().string();
  const bool holds_floats = extension == ".tif" || extension == ".tiff" || extension == ".exr";
  if (request.sum && !holds_floats)
    refuse("-o ", request.output, ": sums do not fit this format; write .npy, .tif or .exr");
  if (image == Type::u8 || image == Type::u16) return request.sum || extension == ".exr" ? Type::f32 : image;
  if (!holds_floats)
    refuse("-o ", request.output, ": ", name_of(image), " pixels do not fit this format; write .npy, .tif or .exr");
  return Type::f32;
}

}  // namespace areal::command
