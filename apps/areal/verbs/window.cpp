// areal window: dense windows as a picture: box blur, local deviation, thresholds from local means.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <areal/window.hpp>
#include "io/answers.hpp"
#include "io/listed.hpp"
#include "io/numbers.hpp"
#include "io/pixels.hpp"
#include "io/table_maker.hpp"
#include "verbs.hpp"

namespace areal::command {
namespace {

struct Request {
  InputOptions input;
  std::string output, size, edge = "shrink", value, threshold;
  bool sum = false, mean = false, deviation = false;
};

// In the order of Edge.
const std::vector<std::string> edge_names{"valid",   "shrink",    "zero", "replicate",
                                          "reflect", "symmetric", "wrap", "constant"};

Edge edge_named(const std::string& name) {
  const auto at = std::find(edge_names.begin(), edge_names.end(), name);
  if (at == edge_names.end()) refuse("--edge ", name, ": may be ", listed(edge_names));
  return static_cast<Edge>(at - edge_names.begin());
}

Window window_for(const Request& request, const ConstView& image) {
  Window window;
  window.edge = edge_named(request.edge);
  if (!request.value.empty()) window.value = number("--value", request.value);
  if (!request.size.empty()) {
    const Size cells = size("--size", request.size);
    window.width = cells.width;
    window.height = cells.height;
  } else {
    // Bradley and Roth 2007: an eighth of the image's width.
    window.width = window.height = std::max<std::int64_t>(1, image.shape.width / 8);
  }
  if (window.edge == Edge::valid && (window.width > image.shape.width || window.height > image.shape.height))
    refuse("--size ", fmt::format("{}x{}", window.width, window.height),
           ": with --edge valid it may not exceed the image, ",
           fmt::format("{}x{}", image.shape.width, image.shape.height));
  return window;
}

// Number of cells, of the window at position `at`, that lie inside [0, size): the divisor of `shrink`.
std::int64_t inside(std::int64_t at, std::int64_t anchor, std::int64_t cells, std::int64_t size) {
  return std::min(at - anchor + cells, size) - std::max<std::int64_t>(at - anchor, 0);
}

// Bradley and Roth 2007: black where the pixel is `percent` or more below its window's mean. Compared as
// pixel * count * 100 <= sum * (100 - percent), which is exact for integer pixels: no division rounds.
Array thresholded(const ConstView& image, std::int64_t channel, const SatView& table, const Window& window,
                  double percent, const Execution& execution) {
  const Shape shape = window_shape(image.shape.width, image.shape.height, window);
  Array sums(shape, Type::f64), result(shape, Type::u8);
  window_sums(table, window, sums.view(), execution);
  const std::int64_t anchor_x = window.width / 2, anchor_y = window.height / 2;
  const bool valid = window.edge == Edge::valid, shrinks = window.edge == Edge::shrink;
  std::vector<double> pixels(static_cast<std::size_t>(image.shape.width)), row(static_cast<std::size_t>(shape.width));
  for (std::int64_t y = 0; y < shape.height; ++y) {
    load_row(image, y + (valid ? anchor_y : 0), channel, 0, pixels);
    load_row(sums.view(), y, 0, 0, row);
    const std::int64_t rows = shrinks ? inside(y, anchor_y, window.height, image.shape.height) : window.height;
    for (std::int64_t x = 0; x < shape.width; ++x) {
      const std::int64_t columns = shrinks ? inside(x, anchor_x, window.width, image.shape.width) : window.width;
      const double pixel = pixels[static_cast<std::size_t>(x + (valid ? anchor_x : 0))];
      double& value = row[static_cast<std::size_t>(x)];
      value = pixel * static_cast<double>(rows * columns) * 100 <= value * (100 - percent) ? 0 : 255;
    }
    store_row(result.view(), y, 0, 0, row);
  }
  return result;
}

// All channels of the image, into `out`.
void answer(const Request& request, const ConstView& image, const TableMaker& maker, const Window& window,
            const View& out, const Execution& execution) {
  const SatTable& table = maker.table();
  SatView planes(table.sum(), table.border());
  if (request.sum) return window_sums(planes, window, out, execution);
  if (request.mean) return window_means(planes, window, out, execution);
  if (request.deviation) {
    planes.squares.emplace(table.squares(), table.border());
    return window_standard_deviations(planes, window, out, execution);
  }
  const double percent = number("--threshold", request.threshold);
  std::vector<double> row(static_cast<std::size_t>(out.shape.width));
  for (std::int64_t c = 0; c < out.shape.channels; ++c) {
    const Array one = thresholded(image, c, table.view(c), window, percent, execution);
    for (std::int64_t y = 0; y < out.shape.height; ++y) {
      load_row(one.view(), y, 0, 0, row);
      store_row(out, y, c, 0, row);
    }
  }
}

// Pictures keep the image's depth, with rounding; .npy keeps the values, as 64f. Sums do not fit a picture's 8 or 16
// bits.
Type output_type(const Request& request, Type image, bool is_npy) {
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

void resolve(const Request& request) {
  const int chosen = request.sum + request.mean + request.deviation + !request.threshold.empty();
  if (chosen != 1) refuse("window: exactly one of --sum, --mean, --std and --threshold is needed");
  if (request.size.empty() && request.threshold.empty()) refuse("--size is required, for example --size 15x15");
  if (!request.size.empty()) size("--size", request.size);
  const Edge edge = edge_named(request.edge);
  if (!request.value.empty() && edge != Edge::constant)
    refuse("--value ", request.value, ": needs --edge constant, but --edge is ", request.edge);
  if (!request.threshold.empty()) {
    const double percent = number("--threshold", request.threshold);
    if (!(percent >= -100 && percent <= 100)) refuse("--threshold ", request.threshold, ": may be -100 to 100 percent");
  }
}

void run(const Request& request, const Settings& settings) {
  resolve(request);
  const auto source = open_source(request.input, settings);
  if (source->is_sequence()) refuse(request.input.path, ": window takes one picture");
  Item item;
  source->next(item);
  const ConstView image = item.pixels.view();
  if (image.shape.empty()) refuse(request.input.path, ": is empty; a window needs pixels");
  const bool is_npy = request.output.ends_with(".npy");
  const Type type = output_type(request, image.type, is_npy);
  const Window window = window_for(request, image);

  TableRequest table;
  if (request.deviation) table.squares = "auto";
  TableMaker maker(std::move(table));
  maker.make(image, {}, request.input.path, settings);
  Shape shape = window_shape(image.shape.width, image.shape.height, window);
  shape.channels = image.shape.channels;
  Array result(shape, type);
  answer(request, image, maker, window, result.view(), settings.on_host());
  if (is_npy)
    media::write_npy(request.output, result.view());
  else
    media::write_picture(request.output, result.view());
  settings.detail("wrote {}: {}x{} {}, windows of {}x{}", request.output, shape.width, shape.height, name_of(type),
                  window.width, window.height);
}

}  // namespace

void add_window(CLI::App& app, Settings& settings) {
  CLI::App* verb = app.add_subcommand("window", "Sum, mean, deviation or threshold of a window around every pixel");
  auto request = std::make_shared<Request>();
  request->input.add_to(*verb);
  verb->add_option("--size", request->size, "Size of the window (with --threshold, by default an eighth of the width)")
      ->type_name("WxH");
  verb->add_flag("--sum", request->sum, "Sums");
  verb->add_flag("--mean", request->mean, "Means: a box blur");
  verb->add_flag("--std", request->deviation, "Standard deviations: local contrast");
  verb->add_option("--threshold", request->threshold,
                   "Black where a pixel is T percent or more below the local mean (try 15), else white")
      ->type_name("T");
  verb->add_option("--edge", request->edge, "What lies beyond the edge of the image: " + listed(edge_names))
      ->type_name("NAME");
  verb->add_option("--value", request->value, "With --edge constant: the value of pixels beyond the edge (0)")
      ->type_name("V");
  verb->add_option("-o,--output", request->output, "Write this picture, or an .npy with unrounded values")
      ->type_name("FILE")
      ->required();
  verb->footer("Example:\n  areal window data/sudoku.png --threshold 15 -o sudoku-black-white.png");
  verb->callback([request, &settings] {
    settings.resolve();
    run(*request, settings);
  });
}

}  // namespace areal::command
