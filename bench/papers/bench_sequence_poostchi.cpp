// areal bench sequence --figure poostchi: Figures 12 to 15 of Poostchi et al. 2017. Algorithm 6 as printed
// (frame_pipeline.hpp), against one slot, in which nothing overlaps, and against HistogramSequence.
//
// Time on an H200: the copies of the tensors, 100 frames of 60 to 470 MB in 28 runs, half a minute; cw-b, whose
// launches take up to a second a frame, a minute and a half.

#include <fmt/format.h>
#include <algorithm>
#include <areal/device.hpp>
#include <areal/error.hpp>
#include <areal/research/histogram.hpp>
#include <chrono>
#include <cmath>
#include "bench/harness/device_floors.hpp"
#include "bench/papers/figure.hpp"
#include "bench/papers/frame_pipeline.hpp"

namespace areal::bench {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int ring_slots = 4;
constexpr const char* ring = "ring";  // the order of HistogramSequence
constexpr std::int64_t drawn_frames = 12, first_drawn = 4;
constexpr double short_run_us = 3e5;  // of Figure 15

/// Frames of one size and number of bins, whose tensors go to the host.
struct SequenceCase {
  Size size;
  std::int64_t bins = 0;
  struct Run {
    std::string request;  // an algorithm or auto; the record has the choice of auto
    Record record;
  };
  std::vector<Run> runs = {};

  const Record* find(const std::string& request, int slots, const std::string& order) const {
    for (const Run& run : runs)
      if (run.request == request && run.record.pipelined->slots == slots && run.record.pipelined->order == order)
        return &run.record;
    return nullptr;
  }
};

StageTimes stages_of(const Record& record) {
  const Pipelined& p = *record.pipelined;
  return {p.read, p.up, p.initialise, p.scan, p.down};
}

/// What the longest of them is called.
std::string longest_of(const StageTimes& stages) {
  const double longest = stages.longest();
  return longest == stages.read ? "read" : longest == stages.kernels() ? "compute" : "link";
}

/// The stages that began from frame `first_drawn` on.
Timeline timeline_of(int slots, const std::vector<StageSpan>& spans) {
  Timeline of{slots};
  const auto us = [](double seconds) { return std::round(seconds * 1e9) / 1e3; };  // events have no finer resolution
  for (const StageSpan& span : spans)
    if (span.frame >= first_drawn)
      of.spans.push_back({std::string(name_of(span.stage)), span.slot, span.frame, us(span.begin), us(span.end)});
  return of;
}

class Measurement {
 public:
  Measurement(const Options& options, Report& report) : options_(options), report_(report) {
    on_ = {.backend = options.backend, .device = options.device};
    if (on_.backend == Backend::cpu) on_.threads = options.threads.back();
    frames_ = options.regions.value_or(100);
  }

  /// Throws Unavailable without a GPU; the message says how to run without one.
  void require_backend() const {
    try {
      const OwnedStream stream(on_);
    } catch (const Unavailable& error) {
      throw Unavailable(
          fmt::format("--figure poostchi: {}; --backend simt or cpu runs it without a GPU", error.what()));
    }
  }

  void copies(const SequenceCase& of, const FrameFile& file) const {
    const auto image = static_cast<std::uint64_t>(file.size().width * file.size().height);
    const LinkFloor link =
        link_floor(image, 4 * image * static_cast<std::uint64_t>(of.bins), on_, std::min(options_.repetitions, 5));
    for (const auto& [name, time] : {std::pair("image up", link.up), {"tensor down", link.down}, {"both", link.both}}) {
      Record record = record_of(of, name);
      record.what = "transfer";
      record.time = time;
      report_.add(record);
    }
  }

  /// How many frames take about that long.
  std::int64_t frames_for(double frame_us) const {
    const auto fit = static_cast<std::int64_t>(short_run_us / std::max(frame_us, 1.0));
    return std::clamp<std::int64_t>(fit, 4, std::max<std::int64_t>(4, options_.regions.value_or(400)));
  }
  std::int64_t frames() const { return frames_; }

  /// Runs the pipeline, keeps its record and returns microseconds per frame; on failure notes why and returns 0.
  double pipeline(SequenceCase& of, const FrameFile& file, const std::string& algorithm, int slots, IssueOrder order,
                  std::int64_t frames, int repetitions) {
    return noted(of, algorithm, slots, [&] {
      FramePipeline pipeline(file, {of.bins, algorithm, slots, order, on_, false});
      keep(of, algorithm, std::string(name_of(order)), slots, repetitions, [&](Record& record) {
        const PipelineRun run = checked(pipeline, of, file, frames);
        record.algorithm = run.algorithm;
        Pipelined& p = *record.pipelined;
        p.frames = run.frames;
        p.read = run.stages.read, p.up = run.stages.up, p.scan = run.stages.scan, p.down = run.stages.down;
        return run.frame_us;
      });
    });
  }

  /// The same with HistogramSequence.
  double sequence(SequenceCase& of, const FrameFile& file, std::int64_t at_least, int repetitions) {
    const std::int64_t frames = std::max<std::int64_t>(at_least, 4 * ring_slots);
    return noted(of, "auto", ring_slots, [&] {
      const Worker worker{on_.backend, on_.device, on_.threads};
      HistogramSequence sequence({of.size.width, of.size.height}, Type::u8, Binning::uniform(of.bins, 0, 256),
                                 {.workers = {worker}, .slots = ring_slots, .tensors = true});
      const std::string algorithm =
          HistogramPlan({of.size.width, of.size.height}, Type::u8, Binning::uniform(of.bins, 0, 256), {}, on_)
              .algorithm();
      keep(of, "auto", ring, ring_slots, repetitions, [&](Record& record) {
        record.algorithm = algorithm;
        return once(sequence, of, file, frames, *record.pipelined);
      });
    });
  }

  /// The stages in one slot, with the initialisation as a stage, and when those of some frames ran in one slot and in
  /// two.
  void stages(SequenceCase& of, const FrameFile& file, const std::string& algorithm, double frame_us, int repetitions) {
    const std::size_t before = of.runs.size();
    for (const int slots : {1, 2})
      noted(of, algorithm, slots, [&] {
        FramePipeline pipeline(file, {of.bins, algorithm, slots, IssueOrder::breadth, on_, true});
        if (slots == 1) {
          keep(of, algorithm, "stages", 1, repetitions, [&](Record& record) {
            const PipelineRun run = checked(pipeline, of, file, frames_for(frame_us));
            record.algorithm = run.algorithm;
            record.pipelined = Pipelined{1,
                                         "stages",
                                         run.frames,
                                         run.stages.read,
                                         run.stages.up,
                                         run.stages.initialise,
                                         run.stages.scan,
                                         run.stages.down};
            return run.frame_us;
          });
        }
        const PipelineRun run = checked(pipeline, of, file, drawn_frames);
        if (of.runs.size() > before) of.runs.back().record.timelines.push_back(timeline_of(slots, run.timeline));
      });
  }

  /// Sets the floor of every record of the case to the longest stage of the same algorithm in one slot.
  void add_all(SequenceCase& of) const {
    for (SequenceCase::Run& run : of.runs) {
      const Record* alone = nullptr;
      for (const char* order : {"stages", "depth", "breadth"})
        if (const Record* const found = of.find(run.request, 1, order)) alone = found;
      if (alone != nullptr) {
        const StageTimes stages = stages_of(*alone);
        run.record.floor = longest_of(stages);
        run.record.floor_time = {stages.longest(), stages.longest(), stages.longest()};
      }
      report_.add(run.record);
    }
  }

 private:
  Record record_of(const SequenceCase& of, const std::string& algorithm) const {
    Record record{"sequence", algorithm, "8u32u", of.size.width, of.size.height, of.bins};
    record.threads = on_.backend == Backend::cpu ? on_.threads : 0;
    record.backend = on_.backend;
    if (on_.backend == Backend::cuda) record.device = device_name(on_.device);
    record.border = Border::none;
    record.shown = options_.shown;
    record.bytes =
        static_cast<std::uint64_t>(of.size.width * of.size.height) * (1 + 4 * static_cast<std::uint64_t>(of.bins));
    return record;
  }

  template <class Run>
  double noted(const SequenceCase& of, const std::string& algorithm, int slots, const Run& run) {
    const std::size_t before = of.runs.size();
    const auto why = [&](const std::string& what) {
      report_.note(fmt::format("{}, {} bins: {} in {} slot{} did not run: {}", text_of(of.size), of.bins, algorithm,
                               slots, slots == 1 ? "" : "s", what));
    };
    try {
      run();
    } catch (const OutOfMemory& error) {
      why(error.what());
    } catch (const Unavailable& error) {  // the CPU lacks the papers' algorithms
      why(error.what());
    }
    return of.runs.size() > before ? of.runs.back().record.time.median : 0;
  }

  template <class Run>
  void keep(SequenceCase& of, const std::string& request, const std::string& order, int slots, int repetitions,
            const Run& run) {
    Record record = record_of(of, request);
    record.pipelined = Pipelined{slots, order};
    std::vector<std::pair<double, Pipelined>> runs;
    for (int i = 0; i < repetitions; ++i) {
      const double time = run(record);
      runs.emplace_back(time, *record.pipelined);
    }
    std::sort(runs.begin(), runs.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<double> times;
    for (const auto& [time, stages] : runs) times.push_back(time);
    record.time = times_of(times), record.pipelined = runs[runs.size() / 2].second;  // the stages of the median
    of.runs.push_back({request, record});
  }

  void report_wrong(const SequenceCase& of, const std::string& what) const {
    if (!what.empty() && options_.wrong)
      options_.wrong(fmt::format("{}, {} bins: {}", text_of(of.size), of.bins, what));
  }
  void counted(const SequenceCase& of, std::int64_t answered, std::int64_t frames) const {
    if (answered != frames) report_wrong(of, fmt::format("{} of {} frames came", answered, frames));
  }

  PipelineRun checked(FramePipeline& pipeline, const SequenceCase& of, const FrameFile& file,
                      std::int64_t frames) const {
    FrameChecks checks(file, of.bins, pipeline.rounded(frames));
    PipelineRun run = pipeline.run(
        frames, [&](std::int64_t frame, const ConstView& tensor) { report_wrong(of, checks.check(frame, tensor)); });
    counted(of, checks.frames(), pipeline.rounded(frames));
    return run;
  }

  double once(HistogramSequence& sequence, const SequenceCase& of, const FrameFile& file, std::int64_t frames,
              Pipelined& stages) const {
    FrameChecks checks(file, of.bins, frames);
    std::int64_t next = 0;
    Clock::time_point first, last;
    const std::int64_t warm = 2 * ring_slots;
    const SequenceReport report = sequence.run(
        [&](const View& buffer, Frame& frame) {
          if (next == frames) return false;
          file.read(next, buffer.data);
          frame.number = next++;
          return true;
        },
        [](const Frame&, std::vector<Region>&) {},
        [&](const FrameAnswer& answer) {
          last = Clock::now();
          if (checks.frames() + 1 == warm) first = last;
          report_wrong(of, checks.check(answer.frame.number, answer.tensor->view));
          return true;
        });
    counted(of, checks.frames(), frames);
    const auto stage = [&](StageTime::Stage s) { return report.stage_seconds[s] * 1e6 / static_cast<double>(frames); };
    stages.frames = frames;
    stages.read = stage(StageTime::read), stages.up = stage(StageTime::upload);
    stages.scan = stage(StageTime::compute), stages.down = stage(StageTime::download);
    return std::chrono::duration<double, std::micro>(last - first).count() / static_cast<double>(frames - warm);
  }

  const Options& options_;
  Report& report_;
  Execution on_;
  std::int64_t frames_;
};

/// That one if it is among them, else the last.
template <class T, class Same>
const T& chosen(const std::vector<T>& list, const Same& same) {
  const auto found = std::find_if(list.begin(), list.end(), same);
  return found == list.end() ? list.back() : *found;
}

}  // namespace

void bench_sequence_poostchi(const Options& options, Report& report) {
  Options checked = options;
  checked.algorithms.clear();
  check_figure(checked);
  Measurement measurement(options, report);
  measurement.require_backend();
  const std::vector<Size> sizes =
      !options.sizes.empty() ? options.sizes
                             : std::vector<Size>{{256, 256}, {512, 512}, {640, 480}, {1024, 1024}, {2048, 2048}};
  const std::vector<std::int64_t> all_bins =
      options.bins.empty() ? std::vector<std::int64_t>{16, 32, 64, 128} : options.bins;
  const std::int64_t bins = *std::min_element(all_bins.begin(), all_bins.end(), [](std::int64_t a, std::int64_t b) {
    return std::pair(a != 32, a) < std::pair(b != 32, b);  // 32, or the fewest
  });
  const Size overlapped = options.sizes.empty() ? Size{1280, 720} : options.sizes.back();
  const Size by_bins = chosen(sizes, [](const Size& s) { return s.width == 512 && s.height == 512; });
  const int repetitions = options.is_repetitions_given ? options.repetitions : 3;

  const IssueOrder order = options.order == "depth" ? IssueOrder::depth : IssueOrder::breadth;
  std::vector<int> all_slots = options.slots.empty() ? std::vector<int>{1, 2, 4} : options.slots;
  if (all_slots.front() != 1) all_slots.insert(all_slots.begin(), 1);
  all_slots.erase(std::unique(all_slots.begin(), all_slots.end()), all_slots.end());
  const auto selected = [&](const std::vector<std::string>& all) {
    std::vector<std::string> some;
    for (const std::string& one : all)
      if ((options.algorithms.empty() ||
           std::find(options.algorithms.begin(), options.algorithms.end(), one) != options.algorithms.end()) &&
          (options.backend != Backend::cpu || one == "auto"))
        some.push_back(one);
    return some;
  };
  const std::vector<std::string> in_overlap = selected({"wf-tis", "auto"});
  const std::vector<std::string> in_frames = selected({"cw-b", "cw-sts", "cw-tis", "wf-tis", "auto"});
  if (in_frames.empty())
    throw InvalidArgument(
        "--algorithm: --figure poostchi has auto and, not on the CPU, cw-b, cw-sts, cw-tis and wf-tis");
  if (options.backend == Backend::cpu) report.note("the paper's algorithms are not on the CPU: only auto runs");

  bool any = false;
  {  // Figures 12 to 14
    const FrameFile file(overlapped, measurement.frames());
    for (const std::int64_t b : all_bins) {
      SequenceCase of{overlapped, b};
      measurement.copies(of, file);
      for (const std::string& algorithm : in_overlap) {
        for (const int slots : all_slots)
          measurement.pipeline(of, file, algorithm, slots, order, measurement.frames(), repetitions);
        if (algorithm == "auto") measurement.sequence(of, file, measurement.frames(), repetitions);
      }
      measurement.add_all(of);
      any = any || !of.runs.empty();
    }
    SequenceCase staged{overlapped, bins};
    for (const std::string& algorithm : selected({"wf-tis", "cw-b", "auto"})) {
      const double first = measurement.pipeline(staged, file, algorithm, 1, order, 4, 1);
      if (first == 0) continue;
      staged.runs.pop_back();  // it only served to choose the number of frames
      measurement.stages(staged, file, algorithm, first, repetitions);
    }
    measurement.add_all(staged);
  }
  const auto figure_15 = [&](const Size& size, std::int64_t b) {
    const FrameFile file(size, 100);
    SequenceCase of{size, b};
    measurement.copies(of, file);
    for (const std::string& algorithm : in_frames) {
      const double one = measurement.pipeline(of, file, algorithm, 1, order, 4, 1);
      if (one == 0) continue;
      of.runs.pop_back();  // it only served to choose the number of frames
      for (const int slots : {1, 2})
        measurement.pipeline(of, file, algorithm, slots, order, measurement.frames_for(one), repetitions);
      if (algorithm == "auto") measurement.sequence(of, file, measurement.frames_for(one), repetitions);
    }
    measurement.add_all(of);
    any = any || !of.runs.empty();
  };
  for (const Size& size : sizes) figure_15(size, bins);
  for (const std::int64_t b : all_bins)
    if (b != bins) figure_15(by_bins, b);
  if (!any) throw Unavailable("--figure poostchi: nothing ran; the notes say why");
}

}  // namespace areal::bench
