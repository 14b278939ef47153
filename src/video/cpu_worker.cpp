// Frames run in parallel on lanes of few threads each: separate frames share less than the parts of one frame do.

#include <algorithm>
#include <areal/error.hpp>
#include <areal/info.hpp>
#include <optional>
#include <utility>
#include <vector>
#include "api/core/pixel_rule.hpp"
#include "api/core/planned.hpp"
#include "api/core/store_choice.hpp"
#include "cpu/histogram/direct.hpp"
#include "cpu/histogram/streamed.hpp"
#include "cpu/threads.hpp"
#include "video/frame_rule.hpp"
#include "video/frame_store.hpp"
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
    // A compact store for each lane, if it fits.
    compact_.emplace(store_plan(work.binning));
    if (compact_->bytes() >= free_memory() / 2 / static_cast<std::uint64_t>(lanes)) compact_.reset();
  }

  std::string name() const override { return name_; }
  int lanes() const override { return static_cast<int>(lanes_.size()); }
  void begin(int number) override { rule_of(lanes_[static_cast<std::size_t>(number)], nullptr); }

 private:
  struct Buffers {
    LevelsCache<cpu::PixelBins> rules;
    LevelsCache<Planned<HistogramPlan>> plans;
    LevelsCache<FrameStore> stores;
  };

  Execution here() const { return {.backend = Backend::cpu, .threads = threads_}; }
  HistogramPlan plan(const Binning& binning) const {
    HistogramOptions options;
    options.border = work_.border;
    return HistogramPlan(work_.shape, work_.type, binning, options, here());
  }
  StorePlan store_plan(const Binning& binning) const {
    return StorePlan(work_.shape, work_.type, binning, {.store = Store::compact}, here());
  }

  const cpu::PixelBins& rule_of(Buffers& lane, const std::uint8_t* levels) const {
    return lane.rules.get(levels,
                          [&] { return pixel_bins(folded(work_.binning, levels), work_.type, work_.shape.channels); });
  }

  void answer(int number, Slot& slot) override {
    const double begin = now();
    Buffers& lane = lanes_[static_cast<std::size_t>(number)];
    const Frame& frame = slot.frame;
    if (!frame.pixels.memory.is_host())
      throw InvalidArgument("frame: its pixels lie on a device, which a worker on the CPU does not read");
    const cpu::PixelBins& rule = rule_of(lane, frame.levels);
    slot.counts.resize(slot.regions.size() * static_cast<std::size_t>(rule.bins));
    if (work_.tensors)
      from_tensor(lane, slot);
    else if (compact_ && !counting_is_less(*compact_, slot.regions))
      from_store(lane, slot);
    else if (cpu::has_direct_counts(work_.type, work_.shape) && cpu::direct_is_less(rule, work_.shape, slot.regions))
      cpu::direct_counts(rule, frame.pixels, slot.regions, slot.counts, threads_);
    else
      cpu::streamed_counts(rule, frame.pixels, slot.regions, slot.counts, threads_);
    record(StageTime::compute, slot, number, begin, now());
  }

  void from_store(Buffers& lane, Slot& slot) {
    const std::uint8_t* const levels = slot.frame.levels;
    FrameStore& of = lane.stores.get(levels, [&] { return FrameStore{store_plan(folded(work_.binning, levels)), {}}; });
    of.plan.build({slot.frame.pixels}, of.store);
    region_histograms(of.store, slot.regions, Span<std::uint64_t>(slot.counts), {.execution = here()});
  }

  void from_tensor(Buffers& lane, Slot& slot) {
    const std::uint8_t* const levels = slot.frame.levels;
    Planned<HistogramPlan>& planned = lane.plans.get(
        levels, [&] { return Planned<HistogramPlan>(plan(folded(work_.binning, levels)), Stream::host()); });
    const View tensor = slot.tensor.view();
    planned.plan.execute({slot.frame.pixels, tensor}, planned.workspace);
    region_histograms(TensorView(tensor, work_.border), slot.regions, Span<std::uint64_t>(slot.counts),
                      {.execution = here()});
  }

  FrameWork work_;
  std::string name_;
  int threads_ = 1;
  std::optional<StorePlan> compact_;
  std::vector<Buffers> lanes_;
};

}  // namespace

std::unique_ptr<FrameWorker> cpu_worker(const FrameWork& work, const Worker& worker, int most_lanes, int number,
                                        SlotRing& ring, const StageClock& clock) {
  return std::make_unique<CpuWorker>(work, worker, most_lanes, number, ring, clock);
}

}  // namespace areal::video
