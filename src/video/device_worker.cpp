// Frames on a CUDA device or on the simulated machine: each lane has a stream, and the buffers of one frame there.
// Uploads, kernels and downloads of several lanes overlap.

#include <algorithm>
#include <areal/error.hpp>
#include <areal/region_histogram.hpp>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>
#include "api/core/copy_rows.hpp"
#include "api/core/device_plan.hpp"
#include "api/core/require.hpp"
#include "cluster/planned_histogram.hpp"
#include "cuda/device.hpp"
#include "video/frame_rule.hpp"
#include "video/frame_worker.hpp"
#include "video/levels_of_streams.hpp"

namespace areal::video {
namespace {

using cluster::LaneMemory;
using cluster::PlannedHistogram;

constexpr int lanes_that_fill_a_device = 8;  // of tensors and answers alike, on an H200

class DeviceWorker final : public FrameWorker {
 public:
  DeviceWorker(const FrameWork& work, const areal::Worker& worker, int most_lanes, int number, SlotRing& ring,
               const StageClock& clock)
      : FrameWorker(number, ring, clock), work_(work), worker_(worker) {
    require_backend(worker.backend, worker.device);
    const HistogramPlan shapes = plan(work.binning);
    place_ = shapes.memory();
    tensor_shape_ = shapes.tensor_shape();
    image_bytes_ = static_cast<std::size_t>(bytes_of(work.shape, work.type));
    lane_bytes_ = image_bytes_ + shapes.tensor_bytes() + shapes.workspace_bytes();
    std::uint64_t lanes = static_cast<std::uint64_t>(std::min(most_lanes, lanes_that_fill_a_device));
    if (on_cuda()) {
      const std::uint64_t free = cuda::free_memory(worker.device) / 10 * 9;
      if (lane_bytes_ > free)
        throw OutOfMemory(
            sentence(name(), ": a frame and its tensor take ", lane_bytes_, " bytes, of which ", free, " can be had"),
            lane_bytes_);
      lanes = std::min(lanes, free / lane_bytes_);
    } else {
      lanes = 1;  // a launch has one thread
    }
    lanes_.resize(static_cast<std::size_t>(lanes));
  }

  std::string name() const override { return name_of(worker_); }
  int lanes() const override { return static_cast<int>(lanes_.size()); }
  bool shared() const override { return on_cuda(); }
  std::uint64_t bytes() const override { return lane_bytes_ * lanes_.size(); }

  void begin(int number) override {
    auto lane = std::make_unique<Buffers>();
    std::optional<cuda::DeviceScope> scope;
    if (on_cuda()) {
      scope.emplace(worker_.device);
      lane->cuda.emplace();
    }
    lane->image = LaneMemory(image_bytes_, place_);
    lane->tensor = LaneMemory(static_cast<std::size_t>(bytes_of(tensor_shape_, Type::u32)), place_);
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
    LaneMemory image, tensor, regions, counts;
    std::optional<cuda::PinnedMemory> host_counts;
    LevelsOfStreams<PlannedHistogram> plans;
    Stream stream() const { return cuda ? cuda->stream.get() : Stream::host(); }
  };

  bool on_cuda() const noexcept { return worker_.backend == Backend::cuda; }
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
    PlannedHistogram& planned = planned_for(lane, slot.frame.levels);
    slot.counts.resize(slot.regions.size() * static_cast<std::size_t>(work_.binning.bins()));
    if (on_cuda())
      on_device(number, lane, planned, slot);
    else
      on_simt(number, lane, planned, slot);
  }

  PlannedHistogram& planned_for(Buffers& lane, const std::uint8_t* levels) {
    return lane.plans.get(levels, [&] { return PlannedHistogram(plan(folded(work_.binning, levels)), lane.stream()); });
  }

  // A frame of zeros with one region: CUDA loads kernels when they are first launched, which takes as long as a hundred
  // frames.
  void warm_up(Buffers& lane) {
    const Stream stream = lane.stream();
    PlannedHistogram& planned = planned_for(lane, nullptr);
    cuda::clear(lane.image.data(), image_bytes_, stream);
    planned.plan.execute({ConstView(lane.image.data(), work_.type, work_.shape).in(place_),
                          View(lane.tensor.data(), Type::u32, tensor_shape_).in(place_)},
                         planned.workspace);
    Slot zeros;
    zeros.regions.emplace_back();
    zeros.counts.resize(static_cast<std::size_t>(work_.binning.bins()));
    query(lane, zeros, stream);
    cuda::synchronize(stream);
  }

  TensorView tensor_of(Buffers& lane) {
    return TensorView(View(lane.tensor.data(), Type::u32, tensor_shape_).in(place_), work_.border);
  }

  void on_simt(int number, Buffers& lane, PlannedHistogram& planned, Slot& slot) {
    const double begin = now();
    const View tensor = work_.tensors ? slot.tensor.view() : View(lane.tensor.data(), Type::u32, tensor_shape_);
    planned.plan.execute({slot.frame.pixels, tensor}, planned.workspace);
    region_histograms(TensorView(tensor, work_.border), slot.regions, Span<std::uint64_t>(slot.counts),
                      {.execution = {.backend = Backend::simt}});
    told(StageTime::compute, slot, number, begin, now());
  }

  void on_device(int number, Buffers& lane, PlannedHistogram& planned, Slot& slot) {
    const Stream stream = lane.stream();
    OfCuda& on = *lane.cuda;
    const double begin = now();
    const cuda::HostCopyGuard guard(stream);
    on.begin.record(stream);
    const ConstView pixels = uploaded(lane, slot, stream);
    on.uploaded.record(stream);
    planned.plan.execute({pixels, View(lane.tensor.data(), Type::u32, tensor_shape_).in(place_)}, planned.workspace);
    const std::size_t counts_bytes = slot.counts.size() * sizeof(std::uint64_t);
    if (!slot.regions.empty()) query(lane, slot, stream);
    on.computed.record(stream);
    if (counts_bytes > 0) cuda::copy_out(lane.host_counts->data(), lane.counts.data(), counts_bytes, stream);
    if (work_.tensors)
      cuda::copy_out(slot.tensor.view().data, lane.tensor.data(),
                     static_cast<std::size_t>(bytes_of(tensor_shape_, Type::u32)), stream);
    on.end.record(stream);
    on.end.synchronize();
    if (counts_bytes > 0) std::memcpy(slot.counts.data(), lane.host_counts->data(), counts_bytes);
    // The device's times, placed where they ended.
    const double end = now(), seconds = on.end.seconds_since(on.begin);
    const double up = on.uploaded.seconds_since(on.begin), down = on.end.seconds_since(on.computed);
    const double first = std::max(begin, end - seconds);
    told(StageTime::upload, slot, number, first, first + up);
    told(StageTime::compute, slot, number, first + up, end - down);
    told(StageTime::download, slot, number, end - down, end);
  }

  // The frame's pixels on this device. What is not page-locked goes through the slot's room.
  ConstView uploaded(Buffers& lane, Slot& slot, Stream stream) {
    const ConstView& pixels = slot.frame.pixels;
    if (pixels.memory == place_) return pixels;
    require(pixels.memory.is_host(), "frame: its pixels lie on device ", pixels.memory.device,
            ", the worker is device ", worker_.device);
    const View room = slot.room.view();
    if (pixels.data != room.data) copy_rows(pixels, room);
    cuda::copy_in(lane.image.data(), room.data, image_bytes_, stream);
    return ConstView(lane.image.data(), work_.type, work_.shape).in(place_);
  }

  void query(Buffers& lane, const Slot& slot, Stream stream) {
    const std::size_t n = slot.regions.size(), regions_bytes = n * sizeof(Region);
    const std::size_t counts_bytes = slot.counts.size() * sizeof(std::uint64_t);
    if (lane.regions.bytes() < regions_bytes) lane.regions = LaneMemory(2 * regions_bytes, place_);
    if (lane.counts.bytes() < counts_bytes) {
      lane.counts = LaneMemory(2 * counts_bytes, place_);
      lane.host_counts.emplace(2 * counts_bytes);
    }
    cuda::copy_in(lane.regions.data(), slot.regions.data(), regions_bytes, stream);
    region_histograms(tensor_of(lane), Span<const Region>(static_cast<const Region*>(lane.regions.data()), n, place_),
                      Span<std::uint64_t>(static_cast<std::uint64_t*>(lane.counts.data()), slot.counts.size(), place_),
                      {.execution = {.backend = Backend::cuda, .device = worker_.device, .stream = stream}});
  }

  FrameWork work_;
  areal::Worker worker_;
  MemoryPlace place_;
  Shape tensor_shape_;
  std::size_t image_bytes_ = 0;
  std::uint64_t lane_bytes_ = 0;
  std::vector<std::unique_ptr<Buffers>> lanes_;
};

}  // namespace

std::unique_ptr<FrameWorker> device_worker(const FrameWork& work, const areal::Worker& worker, int most_lanes,
                                           int number, SlotRing& ring, const StageClock& clock) {
  return std::make_unique<DeviceWorker>(work, worker, most_lanes, number, ring, clock);
}

}  // namespace areal::video
