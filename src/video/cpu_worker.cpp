// Frames run in parallel on lanes of few threads each: separate frames share less than the parts of one frame do.

#include <algorithm>
#include <areal/error.hpp>
#include <areal/info.hpp>
#include <areal/region_histogram.hpp>
#include <optional>
#include <utility>
#include <vector>
#include "api/core/pixel_rule.hpp"
#include "api/core/planned.hpp"
#include "cpu/histogram/direct.hpp"
#include "cpu/histogram/streamed.hpp"
#include "cpu/threads.hpp"
#include "video/frame_rule.hpp"
#include "video/frame_worker.hpp"
#include "video/levels_cache.hpp"

namespace areal::video {
namespace {

class CpuWorker final : public FrameWorker {
 public:
  CpuWorker(const FrameWork& work, const Worker& worker, int most_lanes, int number, SlotRing& ring,
            const StageClock& clock)
      : FrameWorker(number, ring, clock), work_(work), name_(name_of(worker)) {
    const int threads = worker.threads > 0 ? std::min(worker.threads, cpu::default_threads()) : cpu::default_threads();
    const int lanes = std::clamp(threads, 1, most_lanes);
    threads_ = std::max(1, threads / lanes);
    lanes_.resize(static_cast<std::size_t>(lanes));
    const HistogramPlan shapes = plan(work.binning);
    // A tensor for each lane, if frames may need one.
    tensor_fits_ = work.tensors || shapes.tensor_bytes() < free_memory() / 2 / static_cast<std::uint64_t>(lanes);
  }

  std::string name() const override { return name_; }
  int lanes() const override { return static_cast<int>(lanes_.size()); }
  void begin(int number) override { rule_of(lanes_[static_cast<std::size_t>(number)], nullptr); }

 private:
  struct Buffers {
    LevelsCache<cpu::PixelBins> rules;
    LevelsCache<Planned<HistogramPlan>> plans;
    Array tensor;
    std::vector<std::int64_t> rows;
  };

  HistogramPlan plan(const Binning& binning) const {
    HistogramOptions options;
    options.border = work_.border;
    return HistogramPlan(work_.shape, work_.type, binning, options, {.backend = Backend::cpu, .threads = threads_});
  }

  const cpu::PixelBins& rule_of(Buffers& lane, const std::uint8_t* levels) const {
    return lane.rules.get(levels,
                          [&] { return pixel_bins(folded(work_.binning, levels), work_.type, work_.shape.channels); });
  }

  // Rows at which regions begin or end: streaming copies bins x width counts for each.
  static std::int64_t distinct_rows(std::span<const Region> regions, std::vector<std::int64_t>& rows) {
    rows.clear();
    for (const Region& region : regions) rows.push_back(region.y), rows.push_back(region.y + region.height);
    std::sort(rows.begin(), rows.end());
    return std::unique(rows.begin(), rows.end()) - rows.begin();
  }

  void answer(int number, Slot& slot) override {
    const double begin = now();
    Buffers& lane = lanes_[static_cast<std::size_t>(number)];
    const Frame& frame = slot.frame;
    if (!frame.pixels.memory.is_host())
      throw InvalidArgument("frame: its pixels lie on a device, which a worker on the CPU does not read");
    const cpu::PixelBins& rule = rule_of(lane, frame.levels);
    slot.counts.resize(slot.regions.size() * static_cast<std::size_t>(rule.bins));
    const bool direct = cpu::has_direct_counts(rule, work_.shape) && cpu::direct_is_less(work_.shape, slot.regions);
    if (work_.tensors || (!direct && tensor_fits_ && distinct_rows(slot.regions, lane.rows) > work_.shape.height / 2))
      from_tensor(lane, slot);
    else if (direct)
      cpu::direct_counts(rule, frame.pixels, slot.regions, slot.counts, threads_);
    else
      cpu::streamed_counts(rule, frame.pixels, slot.regions, slot.counts, threads_);
    record(StageTime::compute, slot, number, begin, now());
  }

  void from_tensor(Buffers& lane, Slot& slot) {
    const std::uint8_t* const levels = slot.frame.levels;
    Planned<HistogramPlan>& planned = lane.plans.get(
        levels, [&] { return Planned<HistogramPlan>(plan(folded(work_.binning, levels)), Stream::host()); });
    if (!work_.tensors && lane.tensor.data() == nullptr)
      lane.tensor = Array(planned.plan.tensor_shape(), planned.plan.options().counter);
    const View tensor = work_.tensors ? slot.tensor.view() : lane.tensor.view();
    planned.plan.execute({slot.frame.pixels, tensor}, planned.workspace);
    region_histograms(TensorView(tensor, work_.border), slot.regions, Span<std::uint64_t>(slot.counts),
                      {.execution = {.backend = Backend::cpu, .threads = threads_}});
  }

  FrameWork work_;
  std::string name_;
  int threads_ = 1;
  bool tensor_fits_ = false;
  std::vector<Buffers> lanes_;
};

}  // namespace

std::unique_ptr<FrameWorker> cpu_worker(const FrameWork& work, const Worker& worker, int most_lanes, int number,
                                        SlotRing& ring, const StageClock& clock) {
  return std::make_unique<CpuWorker>(work, worker, most_lanes, number, ring, clock);
}

}  // namespace areal::video
