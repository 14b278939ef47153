// Sequences of frames: checks and allocations before the first frame.

#include <algorithm>
#include <areal/error.hpp>
#include <areal/sequence.hpp>
#include <utility>
#include "api/core/pixel_rule.hpp"
#include "api/core/require.hpp"
#include "api/core/view_check.hpp"
#include "queue/workers.hpp"
#include "video/run_frames.hpp"

namespace areal {

std::string_view name_of(StageTime::Stage stage) noexcept {
  switch (stage) {
    case StageTime::read:
      return "read";
    case StageTime::upload:
      return "upload";
    case StageTime::compute:
      return "compute";
    case StageTime::download:
      return "download";
    case StageTime::sink:
      return "sink";
  }
  return "";
}

StageTime::Stage SequenceReport::slowest() const noexcept {
  const auto busy = [&](StageTime::Stage stage) {
    return stage_seconds[stage] / (stage == StageTime::read || stage == StageTime::sink ? 1 : std::max(1, lanes));
  };
  StageTime::Stage most = StageTime::read;
  for (const StageTime::Stage stage : {StageTime::upload, StageTime::compute, StageTime::download, StageTime::sink})
    if (busy(stage) > busy(most)) most = stage;
  return most;
}

struct HistogramSequence::State {
  video::FrameWork work;
  SequenceOptions options;
  std::vector<video::Slot> slots;  // between runs
  std::uint64_t bytes = 0;
};

HistogramSequence::HistogramSequence(const Shape& frame, Type type, const Binning& binning, SequenceOptions options) {
  check_shape("frame", frame, type);
  require(frame.batch == 1, "frame of a batch of ", frame.batch, ": a frame is one image");
  require(options.slots >= 1 && options.slots <= 1024, "slots ", options.slots, ": they may be 1 to 1024");
  if (options.workers.empty()) options.workers.emplace_back();
  pixel_bins(binning, type, frame.channels);  // throws if binning, type and channels do not match
  queue::require_workers(options.workers);
  const bool pinned = std::any_of(options.workers.begin(), options.workers.end(),
                                  [](const Worker& worker) { return worker.backend == Backend::cuda; });
  state_ = std::make_unique<State>(
      State{{frame, type, binning, options.tensors, options.border, options.device_bytes}, std::move(options), {}, 0});
  State& s = *state_;
  const HistogramPlan shapes(frame, type, binning, {.border = s.options.border}, {.backend = Backend::cpu});
  for (int i = 0; i < s.options.slots; ++i) {
    video::Slot& slot = s.slots.emplace_back();
    slot.buffer = OwnedView::of_host(frame, type, pinned);
    if (s.options.tensors) slot.tensor = OwnedView::of_host(shapes.tensor_shape(), Type::u32, pinned);
    s.bytes += bytes_of(frame, type) + (s.options.tensors ? shapes.tensor_bytes() : 0);
  }
}
HistogramSequence::~HistogramSequence() = default;
HistogramSequence::HistogramSequence(HistogramSequence&&) noexcept = default;
HistogramSequence& HistogramSequence::operator=(HistogramSequence&&) noexcept = default;

const Shape& HistogramSequence::frame_shape() const noexcept { return state_->work.shape; }
const Binning& HistogramSequence::binning() const noexcept { return state_->work.binning; }
const SequenceOptions& HistogramSequence::options() const noexcept { return state_->options; }
std::uint64_t HistogramSequence::bytes() const noexcept { return state_->bytes; }

SequenceReport HistogramSequence::run(const FrameSource& source, const FrameRegions& regions, const FrameSink& sink) {
  State& s = *state_;
  // With a camera a frame must find a slot even if every lane and the sink have one.
  const int most_lanes = s.options.when_full == WhenFull::wait ? s.options.slots : std::max(1, s.options.slots - 2);
  const auto make = [&](video::SlotRing& ring, const video::StageClock& clock) {
    std::vector<std::unique_ptr<queue::TaskWorker>> workers;
    for (const Worker& worker : s.options.workers) {
      const int number = static_cast<int>(workers.size());
      workers.push_back(worker.backend == Backend::cpu
                            ? video::cpu_worker(s.work, worker, most_lanes, number, ring, clock)
                            : video::device_worker(s.work, worker, most_lanes, number, ring, clock));
    }
    return workers;
  };
  return video::run_frames({s.work, s.options, s.slots, make}, source, regions, sink);
}

}  // namespace areal
