// areal detect: objects that a cascade finds in a picture, an .npy, a folder of pictures or a video.

#include <CLI/CLI.hpp>
#include <areal/cascade.hpp>
#include <areal/error.hpp>
#include <areal/track.hpp>
#include <memory>
#include <string>
#include <vector>
#include "io/help.hpp"
#include "io/input.hpp"
#include "io/numbers.hpp"
#include "io/out.hpp"
#include "io/progress.hpp"
#include "io/rows.hpp"
#include "io/track_drawing.hpp"
#include "media/media.hpp"
#include "verbs.hpp"

namespace areal::command {
namespace {

struct DetectRequest {
  InputOptions input;
  std::string cascade, scale_factor, min_neighbors, min_size, max_size, draw;
};

/// "WxH", or one number for both.
BoxSize box_size(std::string_view option, const std::string& text) {
  if (text.empty()) return {};
  if (text.find('x') == std::string::npos) {
    const std::int64_t side = whole_number(option, text, 1);
    return {side, side};
  }
  const Size both = size(option, text);
  return {both.width, both.height};
}

DetectOptions options_of(const DetectRequest& request) {
  DetectOptions options;
  if (!request.scale_factor.empty()) options.scale_factor = number("--scale-factor", request.scale_factor);
  if (!(options.scale_factor > 1)) refuse("--scale-factor ", request.scale_factor, ": may be any number above 1");
  if (!request.min_neighbors.empty()) options.min_neighbors = whole_number("--min-neighbors", request.min_neighbors, 0);
  options.min_size = box_size("--min-size", request.min_size);
  options.max_size = box_size("--max-size", request.max_size);
  return options;
}

void run(const DetectRequest& request, const Settings& settings) {
  if (request.cascade.empty()) refuse("--cascade: needed, a cascade in OpenCV's XML");
  media::require_other_files({request.draw}, {request.input.path, request.cascade});
  if (!request.draw.empty()) drawing_to(request.draw, 0);  // refuse a wrong name before the work
  const DetectOptions options = options_of(request);
  const Cascade cascade = Cascade::load(request.cascade);
  settings.detail("{}: {} features in {} stages, window of {}x{}", request.cascade, name_of(cascade.kind()),
                  cascade.stages(), cascade.window().width, cascade.window().height);
  const auto source = open_source(request.input, settings);
  const auto drawing = request.draw.empty() ? nullptr : drawing_to(request.draw, source->frames_per_second());
  RowWriter rows(settings.json);
  ProgressBar bar("frames", source->count(), settings.quiet || !source->is_sequence());
  Item item;
  std::int64_t frames = 0;
  for (; source->next(item); bar.update(++frames)) {
    std::vector<TrackedBox> boxes;
    for (const Detection& box : detect(cascade, item.pixels.view(), options, settings.execution())) {
      if (source->is_sequence()) rows.put("frame", item.number);
      rows.put("x", box.x), rows.put("y", box.y);
      rows.put("width", box.width), rows.put("height", box.height);
      rows.put("neighbors", box.neighbors);
      rows.end();
      boxes.push_back({static_cast<double>(box.x), static_cast<double>(box.y), static_cast<double>(box.width),
                       static_cast<double>(box.height)});
    }
    flush_out();
    if (drawing) drawing->put(item, boxes);
  }
  if (frames == 0) refuse(request.input.path, ": has no frames");
  if (drawing) drawing->finish();
  if (!source->damage().empty()) throw IoError(source->damage());
}

}  // namespace

void add_detect(CLI::App& app, Settings& settings) {
  CLI::App* verb = app.add_subcommand("detect", "Objects that a cascade finds in a picture or a video, as faces");
  auto request = std::make_shared<DetectRequest>();
  request->input.add_to(*verb);
  begin_group(*verb, group::what);
  verb->add_option("--cascade", request->cascade, "A cascade of Haar or LBP features in OpenCV's XML")
      ->type_name("FILE");
  verb->add_option("--scale-factor", request->scale_factor, "The step from one window's size to the next (1.1)")
      ->type_name("F");
  verb->add_option("--min-neighbors", request->min_neighbors,
                   "A box needs more than N windows that agree; 0 prints every window (3)")
      ->type_name("N");
  verb->add_option("--min-size", request->min_size, "The smallest window")->type_name("WxH");
  verb->add_option("--max-size", request->max_size, "The largest window")->type_name("WxH");
  begin_group(*verb, group::output);
  verb->add_option(
          "--draw", request->draw,
          "Draw the boxes: NAME.mp4, .avi or .mkv, a video; NAME/, a folder with a picture a frame; NAME.png or "
          ".jpg, the first picture")
      ->type_name("NAME");
  verb->footer(
      "Prints a line for each box: x,y,width,height,neighbors, after the frame's number of frames. The boxes are those "
      "of OpenCV's detectMultiScale, for the same gray pixels.\n\n"
      "Example:\n  areal detect data/sudoku.png --cascade data/cells.xml --min-size 40 --max-size 60 --draw cells.png\n"
      "  areal detect data/vtest.avi --cascade data/cells.xml --min-size 300 --min-neighbors 5 --json");
  verb->callback([request, &settings] {
    settings.resolve();
    run(*request, settings);
  });
}

}  // namespace areal::command
