// areal track: follows boxes through a video, and scores boxes against the ground truth.

#include <CLI/CLI.hpp>
#include <areal/error.hpp>
#include <areal/histogram.hpp>
#include <areal/sequence.hpp>
#include <areal/track.hpp>
#include <chrono>
#include <map>
#include "io/help.hpp"
#include "io/input.hpp"
#include "io/numbers.hpp"
#include "io/out.hpp"
#include "io/progress.hpp"
#include "io/rows.hpp"
#include "io/track_drawing.hpp"
#include "io/track_file.hpp"
#include "io/track_score.hpp"
#include "io/word_list.hpp"
#include "media/media.hpp"
#include "verbs.hpp"

namespace areal::command {
namespace {

constexpr std::int64_t bins = 16;

struct TrackRequest {
  InputOptions input;
  std::vector<std::string> boxes;
  std::string output, format, algorithm = "fragments", scales, radius, from, frames, draw, score, truth, devices;

  Execution execution;
  std::vector<Region> regions;
  TrackerOptions options;
  std::int64_t first = 0;
  std::optional<std::int64_t> most_frames;
  TrackFormat rows = TrackFormat::csv;
};

std::vector<std::string> names() { return {tracker_names().begin(), tracker_names().end()}; }

void resolve(TrackRequest& request, const Settings& settings) {
  if (request.boxes.empty()) refuse("--box: needed, the box to follow as X,Y,W,H");
  for (const std::string& text : request.boxes) request.regions.push_back(media::parse_region(text).region);
  if (!request.format.empty() && request.format != "csv" && request.format != "mot")
    refuse("--format ", request.format, ": may be csv or mot");
  if (!request.format.empty() && settings.json) refuse("--format and --json: only one of the two");
  request.rows = settings.json ? TrackFormat::json : request.format == "mot" ? TrackFormat::mot : TrackFormat::csv;
  const auto known = tracker_names();
  if (std::find(known.begin(), known.end(), request.algorithm) == known.end())
    refuse("--algorithm ", request.algorithm, ": may be ", word_list(names()));
  if (!request.scales.empty()) request.options.scales = number_list("--scales", request.scales);
  if (!request.radius.empty()) request.options.radius = whole_number("--radius", request.radius);
  if (!request.from.empty()) request.first = whole_number("--from", request.from, 0);
  if (!request.frames.empty()) request.most_frames = whole_number("--frames", request.frames, 1);
  request.execution = settings.execution();
  if (request.devices.empty()) return;
  if (settings.backend != Backend::automatic) refuse("--devices and --backend: only one of the two");
  const std::vector<Worker> workers = workers_named(request.devices);
  if (workers.size() > 1)
    refuse("--devices ", request.devices, ": a stream that is tracked keeps its worker, name one");
  request.execution = {.backend = workers[0].backend, .device = workers[0].device, .threads = workers[0].threads};
}

/// The trackers of all boxes, and the tensor that they read. If a device computes the tensor, it also searches the
/// fragments.
class Followed {
 public:
  Followed(const TrackRequest& request, const Settings& settings) : request_(request), settings_(settings) {}

  const std::vector<TrackedBox>& next(const ConstView& image) {
    const bool is_first = boxes_.empty();
    if (is_first) start(image);
    if (tensor_) plan_->execute(image, *tensor_, *workspace_);
    if (on_device_) {
      if (is_first)
        on_device_->start(*tensor_, request_.regions);
      else
        on_device_->step(*tensor_);
      return boxes_ = on_device_->fetch();
    }
    const TrackerFrame frame = tensor_ ? TrackerFrame(*tensor_, image) : TrackerFrame(image);
    for (std::size_t i = 0; i < trackers_.size(); ++i) {
      if (is_first) trackers_[i]->start(frame, request_.regions[i]);
      boxes_[i] = is_first ? trackers_[i]->box() : trackers_[i]->step(frame);
    }
    return boxes_;
  }

 private:
  void start(const ConstView& image) {
    plan_.emplace(image.shape, image.type, Binning::of_type(image.type, bins), HistogramOptions{}, request_.execution);
    boxes_.resize(request_.regions.size());
    if (request_.algorithm == "fragments" && plan_->backend() != Backend::cpu) {
      on_device_.emplace(Execution{.backend = plan_->backend(), .device = plan_->execution().device}, request_.options);
    } else {
      for (std::size_t i = 0; i < boxes_.size(); ++i)
        trackers_.push_back(make_tracker(request_.algorithm, plan_->binning(), request_.options));
      if (!trackers_[0]->reads_tensor()) return;
    }
    settings_.detail("backend {}, algorithm {} ({}), tensor of {} bytes; boxes are searched on {}",
                     name_of(plan_->backend()), plan_->algorithm(), plan_->reason(), plan_->tensor_bytes(),
                     on_device_ ? name_of(plan_->backend()) : name_of(Backend::cpu));
    tensor_.emplace(on_device_ ? plan_->allocate() : plan_->allocate(MemoryPlace{}));
    workspace_.emplace(*plan_);
  }

  const TrackRequest& request_;
  const Settings& settings_;
  std::optional<HistogramPlan> plan_;
  std::optional<Workspace> workspace_;
  std::optional<HistogramTensor> tensor_;
  std::vector<std::unique_ptr<Tracker>> trackers_;  // for search on the CPU
  std::optional<FragmentTrackers> on_device_;
  std::vector<TrackedBox> boxes_;
};

/// Rows to a file, or to standard output.
class Rows {
 public:
  Rows(const std::string& path, TrackFormat format) : format_(format) {
    if (!path.empty()) file_.emplace(path);
  }
  void put(const FrameBox& row, std::optional<double> seconds) {
    if (!has_header_) write(header_of(format_));  // not earlier: a failure leaves standard output empty
    has_header_ = true;
    write(line_of(format_, row, seconds));
  }
  void flush() const {
    if (!file_) flush_out();
  }
  void finish() {
    if (file_) file_->commit();
    flush();
  }

 private:
  void write(const std::string& text) {
    if (file_)
      file_->write(text.data(), text.size());
    else
      write_out(text);
  }
  TrackFormat format_;
  bool has_header_ = false;
  std::optional<media::OutputFile> file_;
};

void track(TrackRequest& request, const Settings& settings) {
  resolve(request, settings);
  media::require_other_files({request.output, request.draw}, {request.input.path});
  if (!request.draw.empty()) drawing_to(request.draw, 0);  // refuse a wrong name before the work
  const auto source = open_source(request.input, settings);
  const auto drawing = request.draw.empty() ? nullptr : drawing_to(request.draw, source->frames_per_second());
  Followed followed(request, settings);
  Rows rows(request.output, request.rows);
  std::int64_t frames = 0;
  Item item;
  const auto start = std::chrono::steady_clock::now();
  {
    ProgressBar bar("frames", source->count(), settings.quiet || !source->is_sequence());
    while ((!request.most_frames || frames < *request.most_frames) && source->next(item)) {
      if (item.number < request.first) continue;
      const std::vector<TrackedBox>& boxes = followed.next(item.pixels.view());
      for (std::size_t i = 0; i < boxes.size(); ++i)
        rows.put({item.number, static_cast<std::int64_t>(i), boxes[i]}, item.seconds);
      rows.flush();
      if (drawing) drawing->put(item, boxes);
      bar.update(++frames);
    }
  }
  const bool has_ended = !request.most_frames || frames < *request.most_frames;
  if (frames == 0 && source->damage().empty())
    refuse(request.input.path, ": has no frame ", std::to_string(request.first), " to begin with");
  rows.finish();
  if (drawing) drawing->finish();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  settings.detail("{} frames in {:.2f} s, {:.0f} frames per second", frames, seconds,
                  static_cast<double>(frames) / seconds);
  if (has_ended && !source->damage().empty()) throw IoError(source->damage());
}

using Boxes = std::map<std::int64_t, std::map<std::int64_t, TrackedBox>>;  // by id, by frame

Boxes read_boxes(const std::string& path) {
  Boxes boxes;
  for (const FrameBox& row : read_frame_boxes(path))
    if (!boxes[row.id].emplace(row.frame, row.box).second)
      refuse(path, ": frame ", std::to_string(row.frame), " has two boxes of id ", std::to_string(row.id));
  if (boxes.empty()) throw IoError(path + ": holds no boxes");
  return boxes;
}

void put_score(RowWriter& rows, std::string_view id, const std::vector<BoxPair>& pairs, std::int64_t missing) {
  const TrackScore found = score(pairs, missing);
  rows.put("id", id);
  rows.put("frames", static_cast<std::int64_t>(pairs.size()) + missing);
  rows.put("missing", missing);
  rows.put("mean_iou", found.mean_overlap);
  rows.put("success_auc", found.success);
  rows.put("precision_20px", found.precision);
  rows.end();
}

void compare(const TrackRequest& request, const Settings& settings) {
  if (request.truth.empty()) refuse("--score: needs --truth, the file of true boxes");
  if (!request.input.path.empty() || !request.boxes.empty() || !request.output.empty() || !request.draw.empty())
    refuse("--score: takes --truth alone, no INPUT, --box, -o or --draw");
  Boxes found = read_boxes(request.score);
  const Boxes truth = read_boxes(request.truth);
  if (found.size() == 1 && truth.size() == 1 && found.begin()->first != truth.begin()->first) {
    auto only = found.extract(found.begin());  // with one box each, ids may differ
    only.key() = truth.begin()->first;
    found.insert(std::move(only));
  }
  RowWriter rows(settings.json);
  std::vector<BoxPair> all;
  std::int64_t all_missing = 0;
  for (const auto& [id, frames] : truth) {
    const auto mine = found.find(id);
    if (mine == found.end())
      refuse(request.score, ": has no id ", std::to_string(id), ", which ", request.truth, " has");
    std::vector<BoxPair> pairs;
    std::int64_t missing = 0;
    for (const auto& [frame, box] : frames) {
      const auto at = mine->second.find(frame);
      if (at == mine->second.end())
        ++missing;
      else
        pairs.push_back({at->second, box});
    }
    if (pairs.empty()) refuse(request.score, ": has no frame of ", request.truth);
    if (missing > 0)
      settings.note("{} frames of {} have no box in {}: they count as 0", missing, request.truth, request.score);
    put_score(rows, std::to_string(id), pairs, missing);
    all.insert(all.end(), pairs.begin(), pairs.end());
    all_missing += missing;
  }
  if (truth.size() > 1) put_score(rows, "all", all, all_missing);
}

}  // namespace

void add_track(CLI::App& app, Settings& settings) {
  CLI::App* verb = app.add_subcommand("track", "Follow boxes through a video by their histograms");
  auto request = std::make_shared<TrackRequest>();
  begin_group(*verb, group::input);
  verb->add_option("INPUT", request->input.path, "A video, a folder of pictures, a picture, or - (.npy arrays)");
  verb->add_option("--from", request->from, "Begin with this frame, by default 0")->type_name("FRAME");
  verb->add_option("--frames", request->frames, "Stop after this many frames")->type_name("N");
  begin_group(*verb, group::what);
  verb->add_option("--box", request->boxes, "A box of the first frame; may be given several times: ids 0, 1, ..")
      ->type_name("X,Y,W,H")
      ->allow_extra_args(false);
  verb->add_option("--algorithm", request->algorithm, word_list(names()) + "; by default fragments")->type_name("NAME");
  verb->add_option("--scales", request->scales,
                   "Changes of scale between two frames, by default 0.95,1,1.05; 1 keeps the size")
      ->type_name("A,B,..");
  verb->add_option("--radius", request->radius, "How far a box may move between two frames; by default 7 pixels")
      ->type_name("N");
  verb->add_option("--score", request->score, "Instead, score the boxes of this file against those of --truth")
      ->type_name("FILE");
  verb->add_option("--truth", request->truth,
                   "The true boxes: OTB's (x,y,w,h a line), MOT's, or the CSV that this verb writes")
      ->type_name("FILE");
  begin_group(*verb, group::where);
  verb->add_option("--devices", request->devices,
                   "Worker that computes tensors and searches fragments: cpu:THREADS, simt or a CUDA device's number")
      ->type_name("WORKER");
  begin_group(*verb, group::output);
  verb->add_option("-o,--output", request->output, "Write the rows to this file instead of standard output")
      ->type_name("FILE");
  verb->add_option("--format", request->format,
                   "csv (default), or mot: MOT's ten columns, with frame, left and top from 1")
      ->type_name("NAME");
  verb->add_option(
          "--draw", request->draw,
          "Draw the boxes: a video, F.mp4, .avi or .mkv; a folder of pictures, F/; or the first frame, F.png or F.jpg")
      ->type_name("FILE");
  verb->footer(
      "Rows: frame,seconds,id,x,y,width,height,distance; numbers count from 0. The distance is to the box's histogram\n"
      "in the first frame. --score prints for each id the mean IoU, the area under OTB's success curve and the\n"
      "precision at 20 pixels; true boxes without a found box count as 0. x and y of OTB files are not shifted.\n\n"
      "With --backend cuda or --devices 0 the tensors stay on the GPU, which searches the fragments; the boxes are "
      "the\n"
      "same.\n\n"
      "Example:\n  areal track data/vtest.avi --box 254,220,31,89 --frames 20");
  verb->callback([request, &settings] {
    settings.resolve();
    if (!request->score.empty()) return compare(*request, settings);
    if (!request->truth.empty()) refuse("--truth: needs --score, the file to compare");
    if (request->input.path.empty()) refuse("INPUT: needed, a video, a folder or a picture");
    track(*request, settings);
  });
}

}  // namespace areal::command
