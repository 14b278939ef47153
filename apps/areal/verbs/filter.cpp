// areal filter: a filter of the window around every pixel, of a picture, an .npy, a folder of pictures or a video.

#include <CLI/CLI.hpp>
#include <areal/error.hpp>
#include <areal/filter.hpp>
#include <filesystem>
#include <memory>
#include <utility>
#include "filter_request.hpp"
#include "filter_strips.hpp"
#include "io/help.hpp"
#include "io/numbers.hpp"
#include "io/pixels.hpp"
#include "io/progress.hpp"
#include "io/routing.hpp"
#include "io/word_list.hpp"
#include "verbs.hpp"
#include "window_answer.hpp"

namespace areal::command {
namespace {

struct FilterVerbRequest : FilterRequest {
  InputOptions input;
  std::string output, type, memory;
};

/// Pictures keep the image's depth where the values fit; arrays keep the values.
Type output_type(const FilterVerbRequest& request, Type image, bool is_video) {
  if (!request.type.empty()) {
    const auto type = type_named(request.type);
    if (!type) refuse("--type ", request.type, ": may be 8u, 8s, 16u, 16s, 32s, 32f or 64f");
    return *type;
  }
  if (is_video && image != Type::u8 && !is_threshold(request))
    refuse("-o ", request.output, ": ", name_of(image),
           " pixels do not fit a video; write pictures into a folder, whose name ends in /, or give --type 8u");
  for (const char* const name : {"min", "max", "median", "percentile", "equalize", "otsu", "modal"})
    if (request.name == name) return image;  // one of the pixels, or a number of their range
  if (is_threshold(request) || is_video) return Type::u8;
  const bool keeps =
      request.name == "mean" || request.name == "guided" || request.name == "gaussian" || request.name == "bilateral";
  if (request.output.ends_with(".npy")) {
    if (keeps) return image == Type::f16 ? Type::f32 : image == Type::u32 ? Type::f64 : image;
    return request.name == "count" ? Type::s32 : Type::f64;
  }
  const bool is_folder = request.output.ends_with('/');  // of .png
  const std::string extension = is_folder ? ".png" : std::filesystem::path(request.output).extension().string();
  const bool holds_floats = extension == ".tif" || extension == ".tiff" || extension == ".exr";
  if (!keeps && holds_floats) return Type::f32;
  const bool fits = keeps || request.name == "std";
  if ((image == Type::u8 || image == Type::u16) && fits) return extension == ".exr" ? Type::f32 : image;
  if (!holds_floats)
    refuse("-o ", request.output, ": ",
           fits                        ? std::string(name_of(image)) + " pixels"
           : request.name == "var"     ? "variances"
           : request.name == "entropy" ? "entropies"
                                       : request.name + "s",
           " do not fit this format; write .npy, .tif or .exr");
  return Type::f32;
}

bool is_video(const std::string& path) {
  return path.ends_with(".mp4") || path.ends_with(".avi") || path.ends_with(".mkv");
}

/// Keeps the plan, the workspace and the output of images of one shape and type.
class Filtering {
 public:
  Filtering(const FilterVerbRequest& request, const FilterJob& job, const Limits& limits, const Settings& settings)
      : request_(request), job_(job), limits_(limits), settings_(settings), options_(job.options) {
    if (!request.mask.empty()) mask_ = load_plane(request.mask, settings);
    InputOptions all;
    all.all_channels = true;
    if (!request.sizes.empty()) sizes_ = load_image(request.sizes, all, settings);
    if (sizes_.type() == Type::u8 && !request.sizes.empty()) sizes_ = wider(sizes_);
    if (request.guide.empty()) return;
    guide_ = load_image(request.guide, all, settings);
    if (guide_.shape().channels != 1 && guide_.shape().channels != 3) guide_ = load_plane(request.guide, settings);
    options_.guide = guide_.shape().channels, options_.guide_type = guide_.type();
  }

  ConstView operator()(const ConstView& image) {
    if (!plan_ || plan_->image_shape() != image.shape || plan_->in() != image.type) prepare(image);
    FilterArguments arguments{.image = image, .out = out_.view()};
    if (options_.mask) arguments.mask = std::as_const(mask_).view();
    if (options_.guide > 0) arguments.guide = std::as_const(guide_).view();
    if (options_.sizes) arguments.sizes = std::as_const(sizes_).view();
    plan_->execute(arguments, *workspace_);
    workspace_->wait();
    return std::as_const(out_).view();
  }

 private:
  /// Bytes as 16u.
  static Array wider(const Array& bytes) {
    Array wide(bytes.shape(), Type::u16);
    const ConstView from = bytes.view();
    const View to = wide.view();
    const Shape& s = from.shape;
    const std::int64_t n = s.width * (s.layout == Layout::interleaved ? s.channels : 1);
    for (std::int64_t c = 0; c < (s.layout == Layout::interleaved ? 1 : s.channels); ++c)
      for (std::int64_t y = 0; y < s.height; ++y)
        std::copy_n(static_cast<const std::uint8_t*>(from.row(y, c)), n, static_cast<std::uint16_t*>(to.row(y, c)));
    return wide;
  }
  void prepare(const ConstView& image) {
    if (image.shape.empty()) require_output(job_, image.shape, {});
    const Type type = job_.output_type(image.type);
    workspace_.reset();
    plan_.emplace(image.shape, image.type, type, job_.filter, options_, settings_.execution());
    if (limits_.memory > 0)
      memory_left(limits_,
                  bytes_of(image.shape, image.type) + bytes_of(plan_->out_shape(), type) + plan_->workspace_bytes(),
                  "the image and its filter");
    workspace_.emplace(*plan_);
    require_output(job_, image.shape, plan_->out_shape());
    out_ = Array(plan_->out_shape(), type);
    settings_.detail("{}: algorithm {} on {}, {}", request_.input.path, plan_->algorithm(), name_of(plan_->backend()),
                     plan_->reason());
  }

  const FilterVerbRequest& request_;
  const FilterJob& job_;
  const Limits& limits_;
  const Settings& settings_;
  FilterOptions options_;
  Array mask_, guide_, sizes_, out_;
  std::optional<FilterPlan> plan_;
  std::optional<Workspace> workspace_;
};

/// Where filtered images go.
class Sink {
 public:
  Sink(std::string path, double rate) : path_(std::move(path)), rate_(rate > 0 ? rate : 25) {}
  void put(const ConstView& image, std::int64_t number) {
    if (is_video(path_)) {
      if (!video_) video_ = media::open_video_writer(path_, image.shape.width, image.shape.height, rate_);
      video_->write(image);
    } else if (path_.ends_with('/')) {
      if (number == 0) make_folder();
      media::write_picture(std::filesystem::path(path_) / fmt::format("{:06}.png", number), image);
    } else if (path_.ends_with(".npy")) {
      media::write_npy(path_, image);
    } else {
      media::write_picture(path_, image);
    }
  }
  void finish() {
    if (video_) video_->finish();
  }

 private:
  void make_folder() const {
    std::error_code error;
    std::filesystem::create_directories(path_, error);
    if (error) throw IoError(path_ + ": cannot be made: " + error.message());
  }

  std::string path_;
  double rate_;
  std::unique_ptr<media::VideoWriter> video_;
};

void run_whole(const FilterVerbRequest& request, const FilterJob& job, const Limits& limits, const Settings& settings) {
  Filtering filtered(request, job, limits, settings);
  const auto source = open_source(request.input, settings);
  const bool is_sequence = source->is_sequence();
  const bool takes_frames = is_video(request.output) || request.output.ends_with('/');
  if (is_sequence && !takes_frames)
    refuse("-o ", request.output, ": ", request.input.path,
           " has frames; write a video, .mp4, .avi or .mkv, or pictures into a folder, whose name ends in /");
  Sink sink(request.output, source->frames_per_second());
  ProgressBar bar("frames", source->count(), settings.quiet || !is_sequence);
  Item item;
  std::int64_t frames = 0;
  for (; source->next(item); bar.update(++frames)) sink.put(filtered(item.pixels.view()), frames);
  if (frames == 0) refuse(request.input.path, ": has no frames");
  sink.finish();
  if (!source->damage().empty()) throw IoError(source->damage());
}

void run(const FilterVerbRequest& request, std::vector<GivenOption> given, const Settings& settings) {
  const bool takes_frames = is_video(request.output) || request.output.ends_with('/');
  const FilterJob job{.input = request.input,
                      .output = request.output,
                      .mask = request.mask,
                      .guide = request.guide,
                      .size = !request.sizes.empty() ? "--sizes " + request.sizes
                              : request.size.empty() ? "--sigma " + request.sigma
                                                     : "--size " + request.size,
                      .filter = filter_of(request),
                      .options = options_of(request),
                      .output_type = [&](Type image) { return output_type(request, image, is_video(request.output)); }};
  media::require_other_files({request.output}, {request.input.path, request.mask, request.guide, request.sizes});
  const Limits limits = limits_of(request.memory, "", "", settings);
  InputFacts facts = facts_of(request.input);
  if (takes_frames) facts.only_way = Way::frames;  // of one picture, one frame
  given.push_back({request.name});
  if (request.name == "equalize" && !limits.memory_option.empty() && !facts.is_stream && !facts.only_way)
    given.back().value = name_of(image_type(job, settings));  // the bins of 16 bits follow from the image
  RouteRequest wanted{Product::filters, request.output, given};
  if (!limits.memory_option.empty() && !facts.is_stream && !facts.only_way &&
      !answers(Product::filters, Way::strips, given))
    wanted.whole_bytes = whole_bytes(job, settings);
  run_by_route(facts, wanted, limits, false, settings, [&](Way way) {
    if (way == Way::strips) return filter_by_strips(job, limits, settings);
    run_whole(request, job, limits, settings);
  });
  settings.detail("wrote {}", request.output);
}

}  // namespace

void add_filter(CLI::App& app, Settings& settings) {
  CLI::App* verb = app.add_subcommand("filter",
                                      "Mean, deviation, extreme, percentile, entropy or threshold of the window around "
                                      "every pixel, guided or bilateral filter, Gaussian");
  auto request = std::make_shared<FilterVerbRequest>();
  begin_group(*verb, group::what);
  verb->add_option("NAME", request->name, word_list(filter_names))->required();
  request->input.add_to(*verb);
  begin_group(*verb, group::what);
  verb->add_option("--size", request->size, "Size of the window, N or WxH")->type_name("WxH");
  verb->add_option("--sizes", request->sizes,
                   "A picture or .npy of 1 channel, rows and columns of each pixel's window, or of 2, rows first; for "
                   "sums, means, counts, deviations and thresholds")
      ->type_name("FILE");
  verb->add_option("--anchor", request->anchor, "Column and row of the pixel in its window (default: the middle)")
      ->type_name("XxY");
  verb->add_option("--edge", request->edge,
                   "What lies beyond the edge of the image: " + word_list(WindowRequest::edge_names))
      ->type_name("NAME");
  verb->add_option("--value", request->value, "With --edge constant: the value of pixels beyond the edge (0)")
      ->type_name("V");
  verb->add_option("--k", request->k, "bradley 0.15, niblack -0.2, sauvola 0.2, wolf 0.5, nick -0.2")->type_name("K");
  verb->add_option("--r", request->r, "sauvola: the range of deviations (half the range of 8 and 16 bits)")
      ->type_name("R");
  verb->add_option("--offset", request->offset, "Thresholds: is subtracted from each (0)")->type_name("C");
  verb->add_option("--high", request->high, "Thresholds: the value of pixels above theirs (255)")->type_name("V");
  verb->add_flag("--inverted", request->inverted, "Thresholds: pixels above theirs are 0, the others --high");
  verb->add_option("--ddof", request->ddof, "var, std: divide by the number of pixels less this (0)")->type_name("N");
  verb->add_option("--q", request->q, "percentile: 0 to 100")->type_name("Q");
  verb->add_option("--eps", request->eps, "guided: what counts as noise, in the square of the guide's units")
      ->type_name("E");
  verb->add_option("--guide", request->guide,
                   "guided: a picture or .npy of 1 or 3 channels whose edges stay (default: the image itself)")
      ->type_name("FILE");
  verb->add_option("--sigma", request->sigma, "gaussian: the standard deviation, S or SxS")->type_name("SxS");
  verb->add_option("--truncate", request->truncate, "gaussian: weights reach so many sigmas, up to sigma 8 (4)")
      ->type_name("T");
  verb->add_option("--passes", request->passes,
                   "gaussian: boxes that repeat, at the same cost for any sigma (5 above sigma 8)")
      ->type_name("N");
  verb->add_option("--sigma-range", request->sigma_range,
                   "bilateral: pixels of a window that differ by more hardly count, in levels of 8 bits")
      ->type_name("S");
  verb->add_option("--mask", request->mask, "A picture or .npy of 8 bits: pixels where it is 0 are left out")
      ->type_name("FILE");
  verb->add_option("--nan", request->nan,
                   "propagate (default): windows that hold a NaN give NaN; omit: NaN are left out")
      ->type_name("NAME");
  verb->add_option("--min-count", request->min_count, "Windows with fewer valid pixels give --fill (1)")
      ->type_name("N");
  verb->add_option("--fill", request->fill, "Their value (NaN; 0 in integers)")->type_name("V");
  begin_group(*verb, group::where);
  verb->add_option("--memory", request->memory,
                   "Take that much memory, for example 1G: a picture of any size passes strip by strip")
      ->type_name("BYTES");
  begin_group(*verb, group::output);
  verb->add_option("-o,--output", request->output,
                   "A picture or an .npy; of frames a video, .mp4, .avi or .mkv, or a folder, whose name ends in /")
      ->type_name("FILE")
      ->required();
  verb->add_option("--type", request->type, "Type of the values, for example 32f; of thresholds with floats, theirs")
      ->type_name("TYPE");
  verb->footer(
      "With --memory a picture, an .npy or synthetic:WxH:SEED of any size is read by strips, with the rows that its "
      "windows\n"
      "need, and the output is written as they come.\n\n"
      "Example:\n  areal filter sauvola data/sudoku.png --size 31 -o sudoku-black-white.png\n"
      "  areal filter mean data/vtest.avi --size 15 -o soft.mp4\n"
      "  areal filter median data/home.jpg --size 9 --all-channels -o calm.png\n"
      "  areal filter entropy data/home.jpg --size 9 -o texture.tif\n"
      "  areal filter guided data/home.jpg --all-channels --size 17 --eps 400 -o home-smooth.jpg\n"
      "  areal filter bilateral data/home.jpg --all-channels --size 15 --sigma-range 25 -o home-flat.jpg\n"
      "  areal filter gaussian data/home.jpg --all-channels --sigma 20 -o home-blurred.jpg");
  verb->callback([request, verb, &settings] {
    settings.resolve();
    run(*request, given_options(*verb, settings), settings);
  });
}

}  // namespace areal::command
