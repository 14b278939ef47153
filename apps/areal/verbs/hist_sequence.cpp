#include "hist_sequence.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <areal/error.hpp>
#include <areal/sequence.hpp>
#include <memory>
#include <optional>
#include <utility>
#include "frame_streams.hpp"
#include "hist_answer.hpp"
#include "hist_frame_boxes.hpp"
#include "io/answers.hpp"
#include "io/help.hpp"
#include "io/interrupt.hpp"
#include "io/numbers.hpp"
#include "io/out.hpp"
#include "io/pixels.hpp"
#include "io/progress.hpp"
#include "io/timeline.hpp"

namespace areal::command {

void SequenceRequest::add_to(CLI::App& verb) {
  begin_group(verb, group::what);
  verb.add_option(
          "--boxes", boxes,
          "A CSV file of moving regions: frame,id,x,y,width,height, or MOT's columns without a header; one per INPUT")
      ->type_name("CSV")
      ->allow_extra_args(false);
  begin_group(verb, group::where);
  verb.add_option("--devices", devices,
                  "Workers for frames, or for parts of one image: all, or a list of cpu:THREADS, CUDA device numbers "
                  "and simt")
      ->type_name("LIST");
  verb.add_option("--device-memory", device_memory,
                  "Most memory of a device for frames, or for parts of one image, e.g. 2G (default: 9/10 of its free "
                  "memory)")
      ->type_name("SIZE");
  verb.add_option(
          "--decode", decode,
          "Decoder of videos: cpu; gpu, the NVDEC of the CUDA device that is the only worker (H.264 and H.265 in 8-bit "
          "4:2:0; it does not detect damage inside coded pictures); or auto (default), gpu if it supports the video")
      ->type_name("WHAT");
  verb.add_option("--slots", slots, "Frames in flight, 1 to 1024 (default 8 per worker)")->type_name("N");
  begin_group(verb, group::input);
  verb.add_flag("--live", live, "INPUT is a camera: drop the oldest queued frame instead of blocking the camera");
  verb.add_option("--damaged", damaged, "On damage: stop (default), or skip to the next key frame")->type_name("WHAT");
  verb.add_option("--luma", luma,
                  "Range of the luma of --raw WxHxnv12: full (default), or limited, which is expanded to full")
      ->type_name("RANGE");
  begin_group(verb, group::output);
  verb.add_option("--timeline", timeline, "Write when each frame was read, computed and written: .svg or .json")
      ->type_name("FILE");
}

void SequenceRequest::check() const {
  if (!slots.empty()) whole_number("--slots", slots, 1, 1024);
  if (!device_memory.empty()) byte_size("--device-memory", device_memory);
  if (damaged != "stop" && damaged != "skip") refuse("--damaged ", damaged, ": may be stop or skip");
  if (decode != "auto" && decode != "cpu" && decode != "gpu") refuse("--decode ", decode, ": may be auto, cpu or gpu");
  if (decode == "gpu" && damaged == "skip")
    refuse("--decode gpu and --damaged skip: only one of the two, NVDEC does not tell which pictures are damaged");
  if (!timeline.empty() && !timeline.ends_with(".svg") && !timeline.ends_with(".json"))
    refuse("--timeline ", timeline, ": its name must end in .svg or .json");
  if (!boxes.empty() && boxes.size() != inputs.size())
    refuse("--boxes: given ", std::to_string(boxes.size()), boxes.size() == 1 ? " time" : " times", " for ",
           std::to_string(inputs.size()), inputs.size() == 1 ? " input" : " inputs", "; each input needs one");
}

std::string SequenceRequest::first_option() const {
  if (inputs.size() > 1) return "several inputs";
  if (!boxes.empty()) return "--boxes";
  if (live) return "--live";
  if (damaged != "stop") return "--damaged";
  if (!timeline.empty()) return "--timeline";
  if (decode == "gpu") return "--decode gpu";
  return {};
}

std::vector<Worker> workers_of(const SequenceRequest& sequence, const Settings& settings) {
  if (!sequence.devices.empty()) {
    if (settings.backend != Backend::automatic) refuse("--devices and --backend: only one of the two");
    return workers_named(sequence.devices);
  }
  if (settings.backend == Backend::cuda) return {{.backend = Backend::cuda, .device = settings.device}};
  if (settings.backend == Backend::simt) return {{.backend = Backend::simt}};
  return {{.backend = Backend::cpu, .threads = settings.threads}};
}

namespace {
bool needs_picture(const HistRequest& request) { return !request.regions.draw.empty() || request.search.given(); }

/// The device to decode videos on, if it supports them: only a single worker can use frames in its memory.
std::optional<int> decoding_device(const HistRequest& request, const std::vector<Worker>& workers) {
  const SequenceRequest& sequence = request.sequence;
  const bool one_device = workers.size() == 1 && workers.front().backend == Backend::cuda;
  if (sequence.decode == "gpu" && !one_device)
    refuse("--decode gpu: needs one CUDA device and no other worker, e.g. --devices 0");
  if (sequence.decode == "gpu" && needs_picture(request))
    refuse("--decode gpu and ", request.search.given() ? "--template" : "--draw",
           ": only one of the two, NVDEC leaves frames in the device's memory");
  if (sequence.decode == "cpu" || !one_device || needs_picture(request) || sequence.damaged == "skip")
    return std::nullopt;
  return workers.front().device;
}

/// A copy of the frame with its levels applied.
Array picture_of(const Frame& frame) {
  Array picture(frame.pixels.shape, frame.pixels.type);
  const auto row_bytes = static_cast<std::size_t>(frame.pixels.shape.width * frame.pixels.column_pitch());
  for (std::int64_t y = 0; y < frame.pixels.shape.height; ++y) {
    auto* const to = static_cast<std::uint8_t*>(picture.view().row(y));
    const auto* const from = static_cast<const std::uint8_t*>(frame.pixels.row(y));
    for (std::size_t x = 0; x < row_bytes; ++x) to[x] = frame.levels != nullptr ? frame.levels[from[x]] : from[x];
  }
  return picture;
}

void say_report(const SequenceReport& report, const Settings& settings) {
  settings.detail("{} frames in {:.2f} s, {:.0f} frames per second; the slowest stage is {}", report.answered,
                  report.seconds, static_cast<double>(report.answered) / report.seconds, name_of(report.slowest()));
  for (const SequenceReport::OfWorker& worker : report.workers)
    settings.detail("{}: {} frames, busy for {:.2f} s", worker.name, worker.frames, worker.busy_seconds);
  if (report.dropped > 0) settings.note("{} of {} frames were dropped", report.dropped, report.produced);
}

}  // namespace

bool run_sequence(HistRequest& request, const std::vector<GivenOption>& given, const Limits& limits,
                  const Settings& settings) {
  SequenceRequest& requested = request.sequence;
  requested.check();
  request.input.luma_text = requested.luma;
  request.input.luma_range();
  const std::string sequence_alone = requested.first_option();
  if (!sequence_alone.empty()) require_answered(Product::histograms, Way::frames, given, sequence_alone);
  if (!answers(Product::histograms, Way::frames, given)) return false;
  SequenceOptions options;
  options.workers = workers_of(requested, settings);
  options.slots = requested.slots.empty() ? std::min(1024, 8 * static_cast<int>(options.workers.size()))
                                          : static_cast<int>(whole_number("--slots", requested.slots, 1, 1024));
  options.device_bytes = limits.device_memory;
  std::optional<FrameStreams> streams =
      FrameStreams::open(request.input, requested, decoding_device(request, options.workers), options.slots, settings);
  if (!streams) {
    if (!sequence_alone.empty())
      refuse(sequence_alone, ": ", request.input.path, " is no video, folder or stream of raw frames");
    return false;
  }
  const ConstView first = streams->first();
  const Shape shape = first.shape;
  if (limits.memory > 0) {  // half for frames, half for the workers' stores
    const std::uint64_t frame = bytes_of(shape, first.type), workers = options.workers.size();
    if (limits.memory / 2 < frame)
      throw OutOfMemory(fmt::format("{}: a frame takes {} bytes, and {} are left for frames", limits.memory_option,
                                    frame, limits.memory / 2),
                        2 * frame);
    options.slots =
        static_cast<int>(std::min<std::uint64_t>(options.slots, limits.memory / 2 / std::max<std::uint64_t>(1, frame)));
    if (options.device_bytes == 0) options.device_bytes = limits.memory / 2 / workers;
  }
  settings.detail("{}: {}", request.input.path, name_of(Way::frames));
  const Binning binning = request.binning.for_image(first, request.input.path, true);
  settings.detail("frames: store none where few pixels lie in regions, else compact");
  const FrameBoxes boxes(request, shape);
  const bool several = requested.inputs.size() > 1;

  options.when_full = requested.live ? WhenFull::drop_oldest : WhenFull::wait;
  options.timeline = !requested.timeline.empty();
  options.note = [&](const std::string& sentence) { settings.note("{}", sentence); };
  ProgressBar bar("frames", streams->count(), settings.quiet);
  if (bar.shown())
    options.progress = [&](const SequenceProgress& so_far) {
      if (!bar.due()) return;
      const std::string dropped = so_far.dropped > 0 ? fmt::format(", {} dropped", so_far.dropped) : "";
      bar.update(so_far.answered, fmt::format("{}, slowest is {}", dropped, name_of(so_far.slowest)));
    };
  HistogramSequence sequence(shape, first.type, binning, options);

  RowWriter rows(settings.json);
  HistAnswer answer(request, rows, true);
  const InterruptScope interrupt;
  std::int64_t frames = 0;
  const auto source = [&](const View& buffer, Frame& frame) {
    return !interrupt.interrupted() && streams->next(buffer, frame);
  };
  const auto regions = [&](const Frame& frame, std::vector<Region>& out) {
    boxes.each(frame.stream, frame.number, [&](const media::NamedRegion& region) { out.push_back(region.region); });
  };
  std::vector<media::NamedRegion> named;
  const auto sink = [&](const FrameAnswer& of) {
    Item item;
    item.number = of.frame.number;
    if (streams->has_time()) item.seconds = of.frame.seconds;
    named.clear();
    boxes.each(of.frame.stream, of.frame.number, [&](const media::NamedRegion& region) { named.push_back(region); });
    const Array picture = frames == 0 && needs_picture(request) ? picture_of(of.frame) : Array();
    if (frames == 0) request.search.find_target(picture.view(), binning, request.reducers, settings);
    answer.write(item, binning, named, of.counts, several ? std::optional(of.frame.stream) : std::nullopt,
                 std::nullopt);
    if (frames == 0 && !request.regions.draw.empty())
      draw_to(request.regions.draw, request.input, settings, picture.view(), named, answer.histograms());
    flush_out();
    ++frames;
    return true;
  };
  streams->read_ahead(options.slots, [&] { return interrupt.interrupted(); });
  const SequenceReport report = sequence.run(source, regions, sink);
  say_report(report, settings);
  answer.report(settings);
  if (!requested.timeline.empty()) write_timeline(requested.timeline, report);
  for (int stream = 0; stream < static_cast<int>(requested.boxes.size()) && !interrupt.interrupted(); ++stream)
    boxes.note_late(stream, streams->frames(stream), settings);
  flush_out();
  interrupt.end_if_interrupted();
  streams->throw_damage();
  return true;
}

}  // namespace areal::command
