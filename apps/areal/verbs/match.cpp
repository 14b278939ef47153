// areal match: finds a template in a picture, an .npy, a folder of pictures or a video.

#include <CLI/CLI.hpp>
#include <areal/error.hpp>
#include <areal/match.hpp>
#include <cmath>
#include <cstring>
#include <memory>
#include <utility>
#include "io/help.hpp"
#include "io/input.hpp"
#include "io/numbers.hpp"
#include "io/out.hpp"
#include "io/pixels.hpp"
#include "io/progress.hpp"
#include "io/rows.hpp"
#include "io/word_list.hpp"
#include "media/media.hpp"
#include "verbs.hpp"

namespace areal::command {
namespace {

struct MatchRequest {
  InputOptions input;
  std::string templ, box, method = "ccoeff-normed", scales, top, threshold, distance, algorithm = "auto", output;
};

std::vector<std::string> methods() {
  std::vector<std::string> names;
  for (int i = 0; i < 6; ++i) names.emplace_back(name_of(static_cast<MatchMethod>(i)));
  return names;
}

/// "0.5:2:1.1", the powers of the last from the first to the second, or "0.5,1,2".
std::vector<double> scales_of(const std::string& text) {
  if (text.empty()) return {1};
  const auto parts = split(text, ':');
  if (parts.size() == 1) return number_list("--scales", text);
  if (parts.size() != 3)
    refuse("--scales ", text, ": may be LEAST:MOST:FACTOR or a list of numbers, for example 0.5:2:1.1 or 0.5,1,2");
  const double least = number("--scales", parts[0]), most = number("--scales", parts[1]),
               factor = number("--scales", parts[2]);
  if (!(least > 0 && most >= least && std::isfinite(most) && factor > 1 && std::isfinite(factor)))
    refuse("--scales ", text, ": needs 0 < LEAST <= MOST and a FACTOR above 1");
  const double first = std::ceil(std::log(least) / std::log(factor) - 1e-9),
               last = std::floor(std::log(most) / std::log(factor) + 1e-9);
  if (!(last >= first && last - first < 10000))
    refuse("--scales ", text, ": 1 to 10000 powers of FACTOR may lie between LEAST and MOST");
  std::vector<double> scales;
  for (double power = first; power <= last; ++power) scales.push_back(std::pow(factor, power));
  return scales;
}

Array cropped(const ConstView& image, const Region& box, const std::string& text) {
  const Shape& shape = image.shape;
  if (box.x < 0 || box.y < 0 || box.width < 1 || box.height < 1 || box.x > shape.width - box.width ||
      box.y > shape.height - box.height)
    refuse("--box ", text, ": does not lie inside the picture, which has ", std::to_string(shape.width), "x",
           std::to_string(shape.height), " pixels");
  Array part({box.width, box.height, shape.channels}, image.type);
  const View to = part.view();
  for (std::int64_t y = 0; y < box.height; ++y)
    std::memcpy(to.row(y), static_cast<const char*>(image.row(box.y + y)) + box.x * image.column_pitch(),
                static_cast<std::size_t>(to.row_pitch));
  return part;
}

class Matching {
 public:
  Matching(const MatchRequest& request, const Settings& settings) : request_(request), settings_(settings) {
    const auto method = match_method_named(request.method);
    if (!method) refuse("--method ", request.method, ": may be ", word_list(methods()));
    options_.method = *method;
    options_.algorithm = request.algorithm;
    if (!request.threshold.empty()) options_.threshold = number("--threshold", request.threshold);
    if (!request.distance.empty()) options_.distance = whole_number("--distance", request.distance, 0);
    options_.top = !request.top.empty() ? whole_number("--top", request.top, 1) : request.threshold.empty() ? 1 : 0;
    scales_ = scales_of(request.scales);
    if (request.templ.empty() && request.box.empty())
      refuse("--template: needed, a picture or .npy to find; or --box, as X,Y,W,H of the input's first image");
    if (!request.output.empty() && scales_.size() > 1)
      refuse("-o ", request.output, ": scores are of one scale, but --scales has ", std::to_string(scales_.size()));
    if (!request.box.empty()) box_ = media::parse_region(request.box).region;
    if (request.templ.empty()) return;
    templ_ = load_image(request.templ, request.input, settings);
    if (!request.box.empty()) templ_ = cropped(std::as_const(templ_).view(), box_, request.box);
  }

  std::vector<Hit> operator()(const ConstView& image) {
    if (templ_.shape().empty()) templ_ = cropped(image, box_, request_.box);
    const ConstView templ = std::as_const(templ_).view();
    if (templ.type != image.type)
      refuse(request_.templ, ": its pixels are ", name_of(templ.type), ", those of ", request_.input.path, " ",
             name_of(image.type));
    if (templ.shape.channels != image.shape.channels)
      refuse(request_.templ, ": has ", std::to_string(templ.shape.channels), " channels, ", request_.input.path,
             " has ", std::to_string(image.shape.channels));
    if (templ.shape.width <= image.shape.width && templ.shape.height <= image.shape.height) {
      const MatchPlan plan(image.shape, templ.shape, image.type, Type::f64, {options_.method, options_.algorithm},
                           settings_.execution());
      settings_.detail("{}: algorithm {}, {}", request_.input.path, plan.algorithm(), plan.reason());
      if (!request_.output.empty()) write_scores(plan, image, templ);
    } else if (scales_ == std::vector<double>{1}) {
      refuse("template of ", std::to_string(templ.shape.width), "x", std::to_string(templ.shape.height),
             ": larger than ", request_.input.path, ", which has ", std::to_string(image.shape.width), "x",
             std::to_string(image.shape.height), " pixels");
    }
    return match_hits(image, templ, scales_, options_, settings_.execution());
  }

 private:
  void write_scores(const MatchPlan& plan, const ConstView& image, const ConstView& templ) const {
    if (scales_[0] != 1) refuse("-o ", request_.output, ": scores are of scale 1, but --scales is ", request_.scales);
    Array scores(plan.out_shape(), Type::f64);
    Workspace workspace(plan);
    plan.execute({image, templ, scores.view()}, workspace);
    const ConstView made = std::as_const(scores).view();
    if (request_.output.ends_with(".npy")) return media::write_npy(request_.output, made);
    const bool floats =
        request_.output.ends_with(".tif") || request_.output.ends_with(".tiff") || request_.output.ends_with(".exr");
    const Array picture = floats ? converted(made, Type::f32) : to_8u(made);
    media::write_picture(request_.output, picture.view());
  }

  const MatchRequest& request_;
  const Settings& settings_;
  HitOptions options_;
  std::vector<double> scales_;
  Region box_;
  Array templ_;
};

void run(const MatchRequest& request, const Settings& settings) {
  media::require_other_files({request.output}, {request.input.path, request.templ});
  Matching matching(request, settings);
  const auto source = open_source(request.input, settings);
  if (source->is_sequence() && !request.output.empty())
    refuse("-o ", request.output, ": ", request.input.path, " has frames; scores are written of a picture");
  RowWriter rows(settings.json);
  ProgressBar bar("frames", source->count(), settings.quiet || !source->is_sequence());
  Item item;
  std::int64_t frames = 0;
  for (; source->next(item); bar.update(++frames)) {
    for (const Hit& hit : matching(item.pixels.view())) {
      if (source->is_sequence()) rows.put("frame", item.number);
      rows.put("x", hit.x), rows.put("y", hit.y);
      rows.put("width", hit.width), rows.put("height", hit.height);
      rows.put("scale", hit.scale), rows.put("score", hit.score);
      rows.end();
    }
    flush_out();
  }
  if (frames == 0) refuse(request.input.path, ": has no frames");
  if (!source->damage().empty()) throw IoError(source->damage());
  if (!request.output.empty()) settings.detail("wrote {}", request.output);
}

}  // namespace

void add_match(CLI::App& app, Settings& settings) {
  CLI::App* verb = app.add_subcommand("match", "Where a template is found in a picture or a video, at several scales");
  auto request = std::make_shared<MatchRequest>();
  request->input.add_to(*verb);
  begin_group(*verb, group::what);
  verb->add_option("--template", request->templ, "A picture or .npy to find")->type_name("FILE");
  verb->add_option("--box", request->box, "Find this part of the template or, without one, of the input's first image")
      ->type_name("X,Y,W,H");
  verb->add_option("--method", request->method, word_list(methods()) + " (ccoeff-normed)")->type_name("NAME");
  verb->add_option("--scales", request->scales,
                   "Resize the template by the powers of FACTOR, 1 among them, or by each of a list, as 0.5,1,2 (1)")
      ->type_name("LEAST:MOST:FACTOR");
  verb->add_option("--threshold", request->threshold, "Hits reach this score; of sqdiff, are at most it")
      ->type_name("T");
  verb->add_option("--top", request->top, "The best N hits of each image (1; all with --threshold)")->type_name("N");
  verb->add_option("--distance", request->distance,
                   "A hit is the best within so many columns and rows (half the template's smaller side)")
      ->type_name("N");
  begin_group(*verb, group::where);
  verb->add_option("--algorithm", request->algorithm, "fft or direct (auto)")->type_name("ID");
  begin_group(*verb, group::output);
  verb->add_option("-o,--output", request->output,
                   "Write the scores at scale 1: a picture from the least (black) to the largest (white), or a .npy, "
                   ".tif or .exr of the values")
      ->type_name("FILE");
  verb->footer(
      "Prints a line for each hit, the best first: x,y,width,height,scale,score, after the frame's number of "
      "frames.\n\n"
      "Example:\n  areal match data/sudoku.png --box 186,186,28,36 --threshold 0.75 -o scores.png\n"
      "  areal match data/vtest.avi --box 430,100,30,60 --json\n"
      "  areal match data/home.jpg --all-channels --box 100,120,60,40 --scales 0.8:1.25:1.1 --top 3");
  verb->callback([request, &settings] {
    settings.resolve();
    run(*request, settings);
  });
}

}  // namespace areal::command
