// Frames on a CUDA device or on the simulated machine: each lane has a stream, and device buffers for one frame.
// Uploads, kernels and downloads of several lanes overlap.

#include <algorithm>
#include <areal/error.hpp>
#include <areal/info.hpp>
#include <areal/region_histogram.hpp>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>
#include <vector>
#include "api/core/copy_rows.hpp"
#include "api/core/device_plan.hpp"
#include "api/core/planned.hpp"
#include "api/core/require.hpp"
#include "api/core/store_choice.hpp"
#include "cuda/device.hpp"
#include "video/frame_rule.hpp"
#include "video/frame_store.hpp"
#include "video/frame_worker.hpp"
#include "video/levels_cache.hpp"

namespace areal::video {
namespace {

constexpr std::int64_t most_counted = std::int64_t{1} << 20;  // regions whose pixels are counted together
constexpr int lanes_that_fill_a_device = 8;                   // with and without tensors, on an H200
constexpr int frames_of_a_timed_one = 16;                     // whose stages stand for theirs, without a timeline

class DeviceWorker final : public FrameWorker {
 public:
  DeviceWorker(const FrameWork& work, const Worker& worker, int most_lanes, int number, SlotRing& ring,
               const StageClock& clock)
      : FrameWorker(number, ring, clock), work_(work), worker_(worker) {
    require_backend(worker.backend, worker.device);
    const HistogramPlan whole = plan(work.binning);
    place_ = whole.memory();
    tensor_shape_ = whole.tensor_shape();
    image_bytes_ = static_cast<std::size_t>(bytes_of(work.shape, work.type));
    if (work.tensors)
      choose_groups();
    else
      choose_store();
    std::uint64_t lanes = 1;  // for simt: its launches run on one thread
    if (on_cuda())
      lanes = std::min<std::uint64_t>(std::min(most_lanes, lanes_that_fill_a_device), most_bytes() / lane_bytes_);
    lanes_.resize(static_cast<std::size_t>(lanes));
  }

  std::string name() const override { return name_of(worker_); }
  int lanes() const override { return static_cast<int>(lanes_.size()); }
  bool shared() const override { return on_cuda(); }

  void begin(int number) override {
    auto lane = std::make_unique<Buffers>();
    std::optional<cuda::DeviceScope> scope;
    if (on_cuda()) {
      scope.emplace(worker_.device);
      lane->cuda.emplace();
    }
    lane->image = Memory(image_bytes_, place_), lane->tensor = Memory(tensor_bytes_, place_);
    lane->regions = Memory(0, place_), lane->counts = Memory(0, place_);
    if (on_cuda()) warm_up(*lane);
    lanes_[static_cast<std::size_t>(number)] = std::move(lane);
  }

 private:
  struct OfCuda {
    cuda::OwnedStream stream;
    cuda::Event begin, uploaded, computed, end;
  };
  struct Buffers {
    std::optional<OfCuda> cuda;
    Memory image, tensor, regions, counts;
    Memory host_counts = Memory::of_host(0, true);
    std::vector<Region> uploaded;                            // what `regions` holds
    std::int64_t frames = 0;                                 // on a GPU
    double seconds = 0, upload = 0, download = 0;            // of the last timed frame
    LevelsCache<std::vector<Planned<HistogramPlan>>> plans;  // one for each group
    LevelsCache<Planned<RegionHistogramPlan>> counting;
    LevelsCache<FrameStore> stores;
    Stream stream() const { return cuda ? cuda->stream.get() : Stream::host(); }
  };

  /// Bins that are processed together, in the lane's one tensor.
  struct Group {
    std::int64_t first, bins;
  };

  bool on_cuda() const noexcept { return worker_.backend == Backend::cuda; }
  std::uint64_t most_bytes() const {
    if (work_.device_bytes > 0) return work_.device_bytes;
    return on_cuda() ? cuda::free_memory(worker_.device) / 10 * 9 : free_memory() / 2;
  }
  // A compact store for frames with many regions, if it fits; else all pixels are counted.
  void choose_store() {
    lane_bytes_ = image_bytes_;
    const std::uint64_t most = most_bytes();
    if (lane_bytes_ > most)
      throw OutOfMemory(sentence(name(), ": a frame takes ", lane_bytes_, " bytes, of which ", most, " can be had"),
                        lane_bytes_);
    try {
      const StorePlan& planned = compact_.emplace(store_plan(work_.binning, std::nullopt));
      // Frames whose bytes stand for other values have a second one.
      const std::uint64_t stores = 2 * (planned.bytes() + planned.workspace_bytes());
      if (stores <= most - lane_bytes_)
        lane_bytes_ += stores;
      else
        compact_.reset();
    } catch (const Unavailable&) {  // of frames of more than 4 million rows or columns
    }
  }
  StorePlan store_plan(const Binning& binning, std::optional<Stream> stream) const {
    return StorePlan(work_.shape, work_.type, binning, {.store = Store::compact},
                     {.backend = worker_.backend, .device = worker_.device, .stream = stream});
  }
  // All bins if they fit; else as few groups as leave memory for two lanes, or one.
  void choose_groups() {
    const std::int64_t bins = work_.binning.bins();
    const std::uint64_t most = most_bytes();
    std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
    const auto fits = [&](std::int64_t of_one, std::uint64_t limit) {
      if (!divided_by(of_one)) return false;
      lane_bytes_ = image_bytes_, tensor_bytes_ = 0;
      for (const Group& group : groups_) {
        const HistogramPlan planned = plan(work_.binning.slice(group.first, group.bins));
        tensor_bytes_ = std::max<std::size_t>(tensor_bytes_, planned.tensor_bytes());
        lane_bytes_ += planned.workspace_bytes();
      }
      lane_bytes_ += tensor_bytes_;
      least = std::min(least, lane_bytes_);
      return lane_bytes_ <= limit;
    };
    if (fits(bins, most)) return;
    for (const std::uint64_t limit : {most / 2, most})
      for (std::int64_t count = 2; count <= bins; ++count)
        if (fits((bins + count - 1) / count, limit)) return;
    throw OutOfMemory(sentence(name(), ": a frame and the tensor of its least group of bins take ", least,
                               " bytes, of which ", most, " can be had"),
                      least);
  }
  // Sets groups_, unless the binning cannot be cut this way: joint bins, labels around the ignored one.
  bool divided_by(std::int64_t of_one) {
    std::vector<Group> groups;
    const std::int64_t bins = work_.binning.bins();
    for (std::int64_t first = 0; first < bins; first += of_one)
      groups.push_back({first, std::min(of_one, bins - first)});
    groups.swap(groups_);
    try {
      for (const Group& group : groups_) work_.binning.slice(group.first, group.bins);
      return true;
    } catch (const InvalidArgument&) {
      groups.swap(groups_);
      return false;
    }
  }
  Shape tensor_shape(const Group& group) const {
    Shape shape = tensor_shape_;
    shape.channels = group.bins;
    return shape;
  }
  View tensor_of(Buffers& lane, const Group& group) { return lane.tensor.view(Type::u32, tensor_shape(group)); }
  HistogramPlan plan(const Binning& binning) const {
    HistogramOptions options;
    options.border = work_.border;
    return HistogramPlan(work_.shape, work_.type, binning, options,
                         {.backend = worker_.backend, .device = worker_.device});
  }
  void answer(int number, Slot& slot) override {
    Buffers& lane = *lanes_[static_cast<std::size_t>(number)];
    std::optional<cuda::DeviceScope> scope;
    if (on_cuda()) scope.emplace(worker_.device);
    slot.counts.resize(slot.regions.size() * static_cast<std::size_t>(work_.binning.bins()));
    if (on_cuda())
      on_device(number, lane, slot);
    else
      on_simt(number, lane, slot);
  }

  bool counts_pixels(const Slot& slot) const { return !compact_ || counting_is_less(*compact_, slot.regions); }
  Planned<RegionHistogramPlan>& counting_for(Buffers& lane, const std::uint8_t* levels) {
    return lane.counting.get(levels, [&] {
      return Planned<RegionHistogramPlan>(
          RegionHistogramPlan(work_.shape, work_.type, folded(work_.binning, levels), most_counted, {},
                              {.backend = worker_.backend, .device = worker_.device}),
          lane.stream());
    });
  }

  std::vector<Planned<HistogramPlan>>& planned_for(Buffers& lane, const std::uint8_t* levels) {
    return lane.plans.get(levels, [&] {
      std::vector<Planned<HistogramPlan>> all;
      for (const Group& group : groups_)
        all.emplace_back(plan(folded(work_.binning.slice(group.first, group.bins), levels)), lane.stream());
      return all;
    });
  }

  // A frame of zeros with one region: CUDA loads kernels at their first launch, which takes as long as a hundred
  // frames.
  void warm_up(Buffers& lane) {
    const Stream stream = lane.stream();
    cuda::clear(lane.image.data(), image_bytes_, stream);
    Slot zeros;
    zeros.regions.emplace_back();
    zeros.counts.resize(static_cast<std::size_t>(work_.binning.bins()));
    upload_regions(lane, zeros, stream);
    const ConstView image = lane.image.view(work_.type, work_.shape);
    if (work_.tensors) {
      compute_tensors(lane, zeros, image, stream);
    } else {
      const Span<std::uint64_t> counts = counts_of(lane, zeros);
      count_pixels(lane, zeros, image, regions_of(lane, zeros), counts);
      if (compact_) from_store(lane, zeros, image, regions_of(lane, zeros), counts);
    }
    cuda::synchronize(stream);
  }

  /// Counts without a tensor, where the pixels, the regions and the counts lie.
  void answer_counts(Buffers& lane, const Slot& slot, const ConstView& pixels, Span<const Region> regions,
                     Span<std::uint64_t> counts) {
    if (counts_pixels(slot))
      count_pixels(lane, slot, pixels, regions, counts);
    else
      from_store(lane, slot, pixels, regions, counts);
  }

  void on_simt(int number, Buffers& lane, Slot& slot) {
    const double begin = now();
    if (!work_.tensors) {
      answer_counts(lane, slot, slot.frame.pixels, slot.regions, slot.counts);
      return record(StageTime::compute, slot, number, begin, now());
    }
    std::vector<Planned<HistogramPlan>>& planned = planned_for(lane, slot.frame.levels);
    std::vector<std::uint64_t> grouped(groups_.size() > 1 ? slot.counts.size() : 0);
    const Span<std::uint64_t> counts(grouped.empty() ? slot.counts : grouped);
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      const Group& group = groups_[g];
      const View tensor(slot.tensor.view().row(0, group.first), Type::u32, tensor_shape(group));
      planned[g].plan.execute({slot.frame.pixels, tensor}, planned[g].workspace);
      region_histograms(TensorView(tensor, work_.border), slot.regions, part_of(counts, slot, group),
                        {.execution = {.backend = Backend::simt}});
    }
    if (!grouped.empty()) spread(grouped.data(), slot);
    record(StageTime::compute, slot, number, begin, now());
  }

  void on_device(int number, Buffers& lane, Slot& slot) {
    const Stream stream = lane.stream();
    OfCuda& on = *lane.cuda;
    const double begin = now();
    const cuda::HostCopyGuard guard(stream);
    // The host's calls bound short frames, so an event is recorded only if its time is read.
    const bool timed = times_all() || lane.frames++ % frames_of_a_timed_one == 0;
    if (timed) on.begin.record(stream);
    const ConstView pixels = uploaded(lane, slot, stream);
    upload_regions(lane, slot, stream);
    if (timed) on.uploaded.record(stream);
    if (work_.tensors)
      compute_tensors(lane, slot, pixels, stream);
    else
      answer_counts(lane, slot, pixels, regions_of(lane, slot), counts_of(lane, slot));
    if (timed) on.computed.record(stream);
    if (work_.tensors && groups_.size() == 1)
      cuda::copy_out(slot.tensor.view().data, lane.tensor.data(), tensor_bytes_, stream);
    if (!slot.counts.empty())
      cuda::copy_out(lane.host_counts.data(), lane.counts.data(), slot.counts.size() * sizeof(std::uint64_t), stream);
    on.end.record(stream);
    on.end.synchronize();
    const auto* const answers = static_cast<const std::uint64_t*>(lane.host_counts.data());
    if (!work_.tensors)
      std::copy_n(answers, slot.counts.size(), slot.counts.begin());
    else if (!slot.counts.empty())
      spread(answers, slot);
    if (timed) {
      lane.seconds = on.end.seconds_since(on.begin);
      lane.upload = on.uploaded.seconds_since(on.begin), lane.download = on.end.seconds_since(on.computed);
    }
    // The device's times, aligned at their end; in proportion where this frame took less time than the timed one.
    const double end = now(), first = std::max(begin, end - lane.seconds);
    const double share = lane.seconds > 0 ? (end - first) / lane.seconds : 0;
    const double uploaded_at = first + share * lane.upload, computed_at = end - share * lane.download;
    record(StageTime::upload, slot, number, first, uploaded_at);
    record(StageTime::compute, slot, number, uploaded_at, computed_at);
    record(StageTime::download, slot, number, computed_at, end);
  }

  // The uploaded regions of a slot, and the memory of their counts.
  Span<const Region> regions_of(const Buffers& lane, const Slot& slot) const {
    return {static_cast<const Region*>(lane.regions.data()), slot.regions.size(), place_};
  }
  Span<std::uint64_t> counts_of(const Buffers& lane, const Slot& slot) const {
    return {static_cast<std::uint64_t*>(lane.counts.data()), slot.counts.size(), place_};
  }

  void count_pixels(Buffers& lane, const Slot& slot, const ConstView& pixels, Span<const Region> regions,
                    Span<std::uint64_t> counts) {
    Planned<RegionHistogramPlan>& counting = counting_for(lane, slot.frame.levels);
    const auto bins = static_cast<std::size_t>(work_.binning.bins());
    for (std::size_t first = 0; first < regions.size(); first += most_counted) {
      const std::size_t some = std::min<std::size_t>(most_counted, regions.size() - first);
      counting.plan.execute(pixels, Span<const Region>(regions.data() + first, some, regions.memory()),
                            Span<std::uint64_t>(counts.data() + first * bins, some * bins, counts.memory()),
                            counting.workspace);
    }
  }
  void from_store(Buffers& lane, const Slot& slot, const ConstView& pixels, Span<const Region> regions,
                  Span<std::uint64_t> counts) {
    const std::optional<Stream> stream = on_cuda() ? std::optional(lane.stream()) : std::nullopt;
    const std::uint8_t* const levels = slot.frame.levels;
    FrameStore& of = lane.stores.get(levels, [&] {
      return FrameStore{store_plan(folded(work_.binning, levels), stream), {}};
    });
    of.plan.build({pixels}, of.store);
    region_histograms(of.store, regions, counts,
                      {.execution = {.backend = worker_.backend, .device = worker_.device, .stream = stream}});
  }
  // Counts of all groups; with several groups also downloads each group's tensor before the next one overwrites it.
  void compute_tensors(Buffers& lane, const Slot& slot, const ConstView& pixels, Stream stream) {
    std::vector<Planned<HistogramPlan>>& planned = planned_for(lane, slot.frame.levels);
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      const Group& group = groups_[g];
      const View tensor = tensor_of(lane, group);
      planned[g].plan.execute({pixels, tensor}, planned[g].workspace);
      if (!slot.regions.empty())
        region_histograms(TensorView(tensor, work_.border), regions_of(lane, slot),
                          part_of(counts_of(lane, slot), slot, group),
                          {.execution = {.backend = Backend::cuda, .device = worker_.device, .stream = stream}});
      if (slot.tensor.exists() && groups_.size() > 1)
        cuda::copy_out(slot.tensor.view().row(0, group.first), tensor.data,
                       static_cast<std::size_t>(bytes_of(tensor_shape(group), Type::u32)), stream);
    }
  }

  // A group's counts are contiguous, regions x bins of the group, one group after the other.
  static Span<std::uint64_t> part_of(Span<std::uint64_t> counts, const Slot& slot, const Group& group) {
    const std::size_t n = slot.regions.size();
    return Span<std::uint64_t>(counts.data() + n * static_cast<std::size_t>(group.first),
                               n * static_cast<std::size_t>(group.bins), counts.memory());
  }
  void spread(const std::uint64_t* counts, Slot& slot) const {
    const auto bins = static_cast<std::ptrdiff_t>(work_.binning.bins());
    for (const Group& group : groups_)
      for (std::size_t i = 0; i < slot.regions.size(); ++i, counts += group.bins)
        std::copy_n(counts, group.bins, slot.counts.begin() + static_cast<std::ptrdiff_t>(i) * bins + group.first);
  }

  // The frame's pixels on this device. Pixels that are not page-locked are copied to the slot's buffer first.
  ConstView uploaded(Buffers& lane, Slot& slot, Stream stream) {
    const ConstView& pixels = slot.frame.pixels;
    if (pixels.memory == place_) return pixels;
    require(pixels.memory.is_host(), "frame: its pixels lie on device ", pixels.memory.device,
            ", the worker is device ", worker_.device);
    const View buffer = slot.buffer.view();
    if (pixels.data != buffer.data) copy_rows(pixels, buffer);
    cuda::copy_in(lane.image.data(), buffer.data, image_bytes_, stream);
    return lane.image.view(work_.type, work_.shape);
  }

  void upload_regions(Buffers& lane, const Slot& slot, Stream stream) {
    const std::size_t regions_bytes = slot.regions.size() * sizeof(Region);
    const std::size_t counts_bytes = slot.counts.size() * sizeof(std::uint64_t);
    if (lane.regions.bytes() < regions_bytes) lane.regions.grow(2 * regions_bytes), lane.uploaded.clear();
    if (lane.counts.bytes() < counts_bytes) lane.counts.grow(2 * counts_bytes), lane.host_counts.grow(2 * counts_bytes);
    if (slot.regions == lane.uploaded) return;
    lane.uploaded.clear();
    if (regions_bytes > 0) cuda::copy_in(lane.regions.data(), slot.regions.data(), regions_bytes, stream);
    lane.uploaded = slot.regions;
  }

  FrameWork work_;
  Worker worker_;
  MemoryPlace place_;
  Shape tensor_shape_;  // of all bins
  std::vector<Group> groups_;
  std::size_t image_bytes_ = 0, tensor_bytes_ = 0;
  std::uint64_t lane_bytes_ = 0;
  std::optional<StorePlan> compact_;  // of a frame, if it fits
  std::vector<std::unique_ptr<Buffers>> lanes_;
};

}  // namespace

std::unique_ptr<FrameWorker> device_worker(const FrameWork& work, const Worker& worker, int most_lanes, int number,
                                           SlotRing& ring, const StageClock& clock) {
  return std::make_unique<DeviceWorker>(work, worker, most_lanes, number, ring, clock);
}

}  // namespace areal::video
