// areal window: dense windows as a picture: box blur, local deviation, thresholds from local means.

#include <CLI/CLI.hpp>
#include <areal/error.hpp>
#include <areal/window.hpp>
#include <filesystem>
#include "io/help.hpp"
#include "io/numbers.hpp"
#include "io/routing.hpp"
#include "io/word_list.hpp"
#include "verbs.hpp"
#include "window_answer.hpp"
#include "window_strips.hpp"

namespace areal::command {
namespace {

void resolve(const WindowRequest& request) {
  const int chosen = request.sum + request.mean + request.deviation + !request.threshold.empty();
  if (chosen != 1) refuse("window: exactly one of --sum, --mean, --std and --threshold is needed");
  if (request.size.empty() && request.threshold.empty()) refuse("--size is required, for example --size 15x15");
  if (!request.size.empty()) window_cells("--size", request.size, 1);
  const Edge edge = WindowRequest::edge_named(request.edge);
  if (!request.value.empty() && edge != Edge::constant)
    refuse("--value ", request.value, ": needs --edge constant, but --edge is ", request.edge);
  if (!request.threshold.empty()) {
    const double percent = number("--threshold", request.threshold);
    if (!(percent >= -100 && percent <= 100)) refuse("--threshold ", request.threshold, ": may be -100 to 100 percent");
  }
}

void run_whole(const WindowRequest& request, const Limits& limits, const Settings& settings) {
  const auto source = open_source(request.input, settings);
  if (source->is_sequence()) require_answered(Product::windows, Way::frames, {}, request.input.path);
  Item item;
  source->next(item);
  const ConstView image = item.pixels.view();
  if (image.shape.empty()) refuse(request.input.path, ": is empty; a window needs pixels");
  const Type type = output_type(request, image.type, request.to_npy());
  const Window window = window_for(request, image.shape);

  Shape shape = window_shape(image.shape.width, image.shape.height, window);
  shape.channels = image.shape.channels;
  TableRequest tables = tables_for(request);
  tables.memory_option = limits.memory_option;
  if (limits.memory > 0) tables.memory = memory_left(limits, bytes_of(shape, type), "the windows");
  TableMaker maker(tables);
  Array result(shape, type);
  answer_windows(request, image, maker, window, result.view(), settings);
  if (request.to_npy())
    media::write_npy(request.output, result.view());
  else
    media::write_picture(request.output, result.view());
  settings.detail("wrote {}: {}x{} {}, windows of {}x{}", request.output, shape.width, shape.height, name_of(type),
                  window.width, window.height);
}

void run(const WindowRequest& request, const std::vector<GivenOption>& options, const Settings& settings) {
  resolve(request);
  media::require_other_files({request.output}, {request.input.path});
  const Limits limits = limits_of(request.memory, "", "", settings);
  run_by_route(facts_of(request.input), {Product::windows, request.output, options}, limits, false, settings,
               [&](Way way) {
                 if (way == Way::strips) return windows_by_strips(request, limits, settings);
                 run_whole(request, limits, settings);
               });
}

}  // namespace

void add_window(CLI::App& app, Settings& settings) {
  CLI::App* verb = app.add_subcommand("window", "Sum, mean, deviation or threshold of a window around every pixel");
  auto request = std::make_shared<WindowRequest>();
  request->input.add_to(*verb, "A picture, an .npy of one image, or - (an .npy on standard input)");
  begin_group(*verb, group::what);
  verb->add_option("--size", request->size,
                   "Size of the window, N or WxH (with --threshold, by default an eighth of the width)")
      ->type_name("WxH");
  verb->add_flag("--sum", request->sum, "Sums");
  verb->add_flag("--mean", request->mean, "Means: a box blur");
  verb->add_flag("--std", request->deviation, "Standard deviations: local contrast");
  verb->add_option("--threshold", request->threshold,
                   "Black where a pixel is T percent or more below the local mean (try 15), else white")
      ->type_name("T");
  verb->add_option("--edge", request->edge,
                   "What lies beyond the edge of the image: " + word_list(WindowRequest::edge_names))
      ->type_name("NAME");
  verb->add_option("--value", request->value, "With --edge constant: the value of pixels beyond the edge (0)")
      ->type_name("V");
  verb->add_flag("--ignore-nan", request->ignore_nan, "Leave out NaN: means and deviations are of the other pixels");
  begin_group(*verb, group::where);
  verb->add_option("--memory", request->memory,
                   "Take that much memory, for example 1G: a picture of any size passes strip by strip")
      ->type_name("BYTES");
  begin_group(*verb, group::output);
  verb->add_option("-o,--output", request->output, "Write this picture, or an .npy with unrounded values")
      ->type_name("FILE")
      ->required();
  verb->footer(
      "With --memory a picture, an .npy or synthetic:WxH:SEED of any size is read by strips, with the rows that its "
      "windows\n"
      "need, and the output is written as they come.\n\nExample:\n  areal window data/sudoku.png --threshold 15 -o "
      "sudoku-black-white.png");
  verb->callback([request, verb, &settings] {
    settings.resolve();
    run(*request, given_options(*verb, settings), settings);
  });
}

}  // namespace areal::command
