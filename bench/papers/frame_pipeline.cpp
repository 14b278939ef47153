#include "bench/papers/frame_pipeline.hpp"
#include <algorithm>
#include <areal/device.hpp>
#include <areal/research/histogram.hpp>
#include <array>
#include <chrono>

namespace areal::bench {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int tile = 64;  // the paper's best

/// The events of a frame. A slot has two sets: a round is queued before the previous round's results are checked.
struct Marks {
  Event begin, uploaded, starting, initialised, computed, leaving, end;
  bool is_initialised = false;  // is `initialised` recorded?
  double read_begin = 0, read_end = 0;
  explicit Marks(const Execution& on)
      : begin(on), uploaded(on), starting(on), initialised(on), computed(on), leaving(on), end(on) {}
};

}  // namespace

std::string_view name_of(IssueOrder order) noexcept { return order == IssueOrder::breadth ? "breadth" : "depth"; }
std::string_view name_of(FrameStage stage) noexcept {
  constexpr std::string_view names[] = {"read", "up", "initialise", "scan", "down"};
  return names[static_cast<int>(stage)];
}
double StageTimes::longest() const { return std::max({read, up, kernels(), down}); }

struct FramePipeline::Slot {
  OwnedStream stream;
  std::array<Marks, 2> marks;
  Marks* current = &marks[0];
  HistogramPlan plan;
  Workspace workspace;
  PinnedArray image, tensor;
  DeviceArray image_there, tensor_there;

  Slot(const Size& size, const PipelineOptions& options)
      : stream(options.on),
        marks{Marks(options.on), Marks(options.on)},
        plan(plan_of(size, options)),
        workspace(plan),
        image({size.width, size.height}, Type::u8, options.on),
        tensor(plan.tensor_shape(), Type::u32, options.on),
        image_there(image.shape(), Type::u8, options.on),
        tensor_there(plan.tensor_shape(), Type::u32, options.on) {}

  HistogramPlan plan_of(const Size& size, const PipelineOptions& options) {
    research::HistogramParameters parameters{.tile = tile};
    // The first launch of the paper's algorithms initialises the tensor.
    if (options.timeline && options.algorithm != "auto" && options.on.backend != Backend::cpu)
      parameters.on_launch = [this](const LaunchCounts&) {
        if (current->is_initialised) return;
        current->initialised.record(stream);
        current->is_initialised = true;
      };
    Execution on = stream.execution();
    on.threads = options.on.threads;
    return research::histogram_plan({size.width, size.height}, Type::u8, Binning::uniform(options.bins, 0, 256),
                                    {.algorithm = options.algorithm}, parameters, on);
  }
};

/// What one run needs.
class FramePipeline::Run {
 public:
  Run(FramePipeline& of, std::int64_t frames,
      const std::function<void(std::int64_t frame, const ConstView& tensor)>& check)
      : of_(of), check_(check), origin_(of.options_.on) {
    run_.algorithm = of.slots_[0]->plan.algorithm();
    run_.frames = frames;
    // Checking the first frame may take longer than the second round.
    warm_ = 2 * static_cast<std::int64_t>(of.slots_.size());
    // On an idle stream an event happens when it is recorded: this synchronises the device's clock with the host's.
    begin_ = Clock::now();
    origin_.record(of.slots_[0]->stream);
    origin_.wait();
  }

  PipelineRun run() {
    const auto slots = static_cast<std::int64_t>(of_.slots_.size());
    const std::int64_t rounds = run_.frames / slots;
    const auto each = [&](const auto& stage) {
      for (std::int64_t s = 0; s < slots; ++s) stage(s);
    };
    for (std::int64_t round = 0; round < rounds; ++round) {
      const auto read = [&](std::int64_t s) { this->read(s, round); };
      const auto up = [&](std::int64_t s) { upload(s); };
      const auto compute = [&](std::int64_t s) { this->compute(s); };
      const auto down = [&](std::int64_t s) {
        if (round > 0 && slots > 1) answer(s, round - 1);
        download(s);
        if (slots == 1) answer(s, round);
      };
      if (of_.options_.order == IssueOrder::breadth) {
        each(read), each(up), each(compute), each(down);
      } else {
        each([&](std::int64_t s) { read(s), up(s), compute(s), down(s); });
      }
    }
    if (slots > 1) each([&](std::int64_t s) { answer(s, rounds - 1); });
    const auto n = static_cast<double>(run_.frames);
    for (double* const time :
         {&run_.stages.read, &run_.stages.up, &run_.stages.initialise, &run_.stages.scan, &run_.stages.down})
      *time *= 1e6 / n;
    run_.frame_us = (last_ - first_) * 1e6 / static_cast<double>(run_.frames - warm_);
    return std::move(run_);
  }

 private:
  Slot& slot(std::int64_t s) { return *of_.slots_[static_cast<std::size_t>(s)]; }
  static Marks& marks(Slot& slot, std::int64_t round) { return slot.marks[static_cast<std::size_t>(round % 2)]; }
  double now() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }
  std::int64_t frame(std::int64_t s, std::int64_t round) const {
    return round * static_cast<std::int64_t>(of_.slots_.size()) + s;
  }

  // The image's memory is free once the previous frame is on the device.
  void read(std::int64_t s, std::int64_t round) {
    Slot& at = slot(s);
    if (round > 0) marks(at, round - 1).uploaded.wait();
    at.current = &marks(at, round);
    at.current->is_initialised = false;
    at.current->read_begin = now();
    of_.file_.read(frame(s, round), at.image.data());
    at.current->read_end = now();
  }
  void upload(std::int64_t s) {
    Slot& at = slot(s);
    at.current->begin.record(at.stream);
    copy_view(at.image.view(), at.image_there.view(), at.stream.get());
    at.current->uploaded.record(at.stream);
  }
  void compute(std::int64_t s) {
    Slot& at = slot(s);
    at.current->starting.record(at.stream);
    at.plan.execute({at.image_there.view(), at.tensor_there.view()}, at.workspace);
    at.current->computed.record(at.stream);
  }
  void download(std::int64_t s) {
    Slot& at = slot(s);
    at.current->leaving.record(at.stream);
    copy_view(at.tensor_there.view(), at.tensor.view(), at.stream.get());
    at.current->end.record(at.stream);
  }

  // The tensor's memory is free after the check.
  void answer(std::int64_t s, std::int64_t round) {
    Slot& at = slot(s);
    const Marks& of = marks(at, round);
    of.end.wait();
    const Event& computing = of.is_initialised ? of.initialised : of.starting;
    run_.stages.read += of.read_end - of.read_begin;
    run_.stages.up += of.uploaded.seconds_since(of.begin);
    run_.stages.initialise += computing.seconds_since(of.starting);
    run_.stages.scan += of.computed.seconds_since(computing);
    run_.stages.down += of.end.seconds_since(of.leaving);
    const auto since = [&](const Event& event) { return event.seconds_since(origin_); };
    last_ = since(of.end);
    if (++answers_ == warm_) first_ = last_;
    const std::int64_t number = frame(s, round);
    if (of_.options_.timeline) {
      const auto add_span = [&](FrameStage stage, double from, double to) {
        if (to > from) run_.timeline.push_back({stage, static_cast<int>(s), number, from, to});
      };
      add_span(FrameStage::read, of.read_begin, of.read_end);
      add_span(FrameStage::up, since(of.begin), since(of.uploaded));
      add_span(FrameStage::initialise, since(of.starting), since(computing));
      add_span(FrameStage::scan, since(computing), since(of.computed));
      add_span(FrameStage::down, since(of.leaving), last_);
    }
    check_(number, at.tensor.view());
  }

  FramePipeline& of_;
  const std::function<void(std::int64_t, const ConstView&)>& check_;
  Event origin_;
  Clock::time_point begin_;
  double first_ = 0, last_ = 0;  // begin and end of the timed frames
  std::int64_t warm_ = 0, answers_ = 0;
  PipelineRun run_;
};

FramePipeline::FramePipeline(const FrameFile& file, const PipelineOptions& options) : file_(file), options_(options) {
  for (int i = 0; i < options.slots; ++i) slots_.push_back(std::make_unique<Slot>(file.size(), options));
}
FramePipeline::~FramePipeline() {
  for (const std::unique_ptr<Slot>& slot : slots_) try {
      slot->stream.wait();  // before its memory is freed
    } catch (...) {         // the lost device has been reported
    }
}

std::int64_t FramePipeline::rounded(std::int64_t frames) const {
  const auto slots = static_cast<std::int64_t>(slots_.size());
  return std::max<std::int64_t>(3, (frames + slots - 1) / slots) * slots;
}

PipelineRun FramePipeline::run(std::int64_t frames,
                               const std::function<void(std::int64_t frame, const ConstView& tensor)>& check) {
  return Run(*this, rounded(frames), check).run();
}

}  // namespace areal::bench
