// FragmentTrackers: on the CPU a search for each box; on devices requests to kernels, whose memory is owned here.
#include <algorithm>
#include <areal/track.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>
#include "api/core/device_plan.hpp"
#include "api/core/memory.hpp"
#include "api/core/memory_check.hpp"
#include "api/core/require.hpp"
#include "api/core/table_check.hpp"
#include "api/query/region_device.hpp"
#include "cuda/device.hpp"
#include "track_box.hpp"
#include "track_search.hpp"

namespace areal {
namespace {

constexpr const char* tracker_name = "fragments";
constexpr std::int64_t most_scales = 2048;  // limit of a device's order of places

template <class T>
T* of(Memory& memory) {
  return static_cast<T*>(memory.data());
}

}  // namespace

struct FragmentTrackers::State {
  State(const Execution& execution_, const TrackerOptions& options_) : execution(execution_), options(options_) {}

  bool on_cpu() const noexcept { return place.backend == Backend::cpu; }
  bool on_cuda() const noexcept { return place.backend == Backend::cuda; }
  void place_at(const TensorView& tensor);
  const TensorView& checked(const TensorView& tensor) const;
  void begin_on_cpu(const TensorView& tensor, std::span<const Region> regions);
  void begin_on_device(const TensorView& tensor, std::span<const Region> regions);
  void upload(void* to, const void* from, std::size_t bytes) {
    if (on_cuda())
      cuda::copy_in(to, from, bytes, place.stream);
    else
      std::memcpy(to, from, bytes);
  }

  Execution execution;
  TrackerOptions options;
  Place place{Backend::cpu, 0, Stream::host()};
  MemoryPlace memory;
  bool waits = false;
  std::int64_t width = 0, height = 0, bins = 0;  // bins: 0 before the start
  std::size_t count = 0;
  std::vector<video::BoxSearch> searches;  // on the CPU
  std::vector<TrackedBox> found;
  Memory boxes, scale, shares, votes;  // on a device
  kernels::FragmentsRequest request{TensorView(ConstView(), Border::none)};
};

// Where the steps run. As for queries: on the backend, or if that is automatic where the memory is.
void FragmentTrackers::State::place_at(const TensorView& tensor) {
  memory = tensor.memory();
  const bool host = memory.is_host();
  place.backend = execution.backend != Backend::automatic ? execution.backend : host ? Backend::cpu : Backend::cuda;
  place.stream = Stream::host();
  waits = false;
  if (on_cuda()) {
    require(!host, "tensor: is in host memory, which backend cuda does not read");
    require(execution.backend == Backend::automatic || execution.device == memory.device, "tensor: is in ",
            words_of(memory), ", the execution names device ", execution.device);
    place.device = memory.device;
    place.stream = execution.stream.value_or(Stream::legacy_default());
    waits = !execution.stream.has_value();
    require(!place.stream.is_host(), "stream: Stream::host(), but the tensor is in ", words_of(memory));
  } else {
    require(host, "tensor: is in ", words_of(memory), ", which backend ", name_of(place.backend), " does not read");
    require(!execution.stream || execution.stream->is_host(),
            "stream: a CUDA stream, but the tensor is in host memory, where nothing is queued");
  }
}

const TensorView& FragmentTrackers::State::checked(const TensorView& tensor) const {
  require(tensor.memory() == memory, "tensor: is in ", words_of(tensor.memory()), ", the first frame's was in ",
          words_of(memory));
  require_tensor(tensor);
  require_last_row_and_column(tensor.border, "tensor");
  require(tensor.bins() > 0, "tensor: has no bins");
  return tensor;
}

void FragmentTrackers::State::begin_on_cpu(const TensorView& tensor, std::span<const Region> regions) {
  searches.clear();
  found.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    searches.emplace_back(options, video::SearchRule{tracker_name, true, false, FragmentTracker::least_side});
    searches.back().start(tensor, regions[i]);
    found[i] = searches.back().box();
  }
}

void FragmentTrackers::State::begin_on_device(const TensorView& tensor, std::span<const Region> regions) {
  std::vector<double> scales = options.scales;
  std::stable_partition(scales.begin(), scales.end(), [](double factor) { return factor == 1; });
  const auto scale_count = static_cast<std::int64_t>(scales.size());
  require(scale_count <= most_scales, "scales: ", scale_count, ", on a device there may be ", most_scales);
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  const std::int64_t side = 2 * options.radius + 1;
  auto& r = request;
  r = {tensor,
       true,
       static_cast<std::int64_t>(count),
       scale_count,
       options.radius,
       std::min(side, height),
       std::min(side, width),
       video::rank_of(options.quantile, FragmentTracker::fragments),
       options.scale_cost};
  // The kernels' numbers of fragments and blocks have 31 bits.
  require(r.boxes <= most / FragmentTracker::fragments && bins <= most &&
              r.votes_of_a_box() <= most / std::max<std::int64_t>(1, r.boxes),
          "boxes: ", count, " with a radius of ", options.radius, " and ", scale_count,
          " scales, too many for a device at once");
  require_backend(place.backend, place.device);
  std::optional<cuda::DeviceScope> scope;
  if (on_cuda()) scope.emplace(place.device);
  const auto bytes = [](std::int64_t n, std::size_t each) { return static_cast<std::size_t>(n) * each; };
  boxes = Memory(bytes(r.boxes, sizeof(TrackedBox)), memory);
  scale = Memory(bytes(r.scales, sizeof(double)), memory);
  shares = Memory(bytes(r.boxes * FragmentTracker::fragments * bins, sizeof(double)), memory);
  votes = Memory(bytes(r.boxes * r.votes_of_a_box(), 16), memory);
  r.scale = of<double>(scale), r.box = of<TrackedBox>(boxes), r.shares = of<double>(shares), r.votes = votes.data();
  found.clear();
  for (const Region& box : regions)
    found.push_back({static_cast<double>(box.x), static_cast<double>(box.y), static_cast<double>(box.width),
                     static_cast<double>(box.height), 0});
  std::optional<cuda::HostCopyGuard> guard;
  if (on_cuda()) guard.emplace(place.stream);
  upload(r.box, found.data(), boxes.bytes());
  upload(scale.data(), scales.data(), scale.bytes());
  answer(place, r);
  if (on_cuda()) cuda::synchronize(place.stream);
  r.starts = false;
}

FragmentTrackers::FragmentTrackers(const Execution& execution, const TrackerOptions& options)
    : state_(std::make_unique<State>(execution, options)) {
  video::check_options(options);
}
FragmentTrackers::~FragmentTrackers() = default;
FragmentTrackers::FragmentTrackers(FragmentTrackers&&) noexcept = default;
FragmentTrackers& FragmentTrackers::operator=(FragmentTrackers&&) noexcept = default;

void FragmentTrackers::start(const TensorView& tensor, std::span<const Region> boxes) {
  State& s = *state_;
  s.bins = 0;
  s.count = 0;
  s.place_at(tensor);
  s.checked(tensor);
  require(!boxes.empty(), "boxes: there is none");
  for (const Region& box : boxes)
    video::check_first_box(box, tensor.image_width(), tensor.image_height(), FragmentTracker::least_side);
  s.width = tensor.image_width();
  s.height = tensor.image_height();
  const std::int64_t bins = tensor.bins();
  s.count = boxes.size();
  try {
    s.bins = bins;
    s.on_cpu() ? s.begin_on_cpu(tensor, boxes) : s.begin_on_device(tensor, boxes);
  } catch (...) {
    s.bins = 0;
    s.count = 0;
    throw;
  }
}

void FragmentTrackers::step(const TensorView& tensor, Span<TrackedBox> into) {
  State& s = *state_;
  require(s.bins > 0, "step: the trackers have not started");
  s.checked(tensor);
  require(tensor.image_width() == s.width && tensor.image_height() == s.height, "tensor: of an image of ",
          tensor.image_width(), "x", tensor.image_height(), ", the first frame had ", s.width, "x", s.height);
  require(tensor.bins() == s.bins, "tensor: ", tensor.bins(), " bins, the first frame had ", s.bins);
  if (!into.empty()) {
    require(into.size() == s.count, "into: ", into.size(), " boxes, ", s.count, " are followed");
    require(into.memory() == s.memory, "into: is in ", words_of(into.memory()), ", the boxes are in ",
            words_of(s.memory));
    require(into.data() != nullptr && reinterpret_cast<std::uintptr_t>(into.data()) % alignof(TrackedBox) == 0,
            "into: its address is no multiple of ", alignof(TrackedBox));
  }
  if (s.on_cpu()) {
    for (std::size_t i = 0; i < s.count; ++i) s.found[i] = s.searches[i].step(tensor);
    std::copy_n(s.found.begin(), into.size(), into.data());
    return;
  }
  s.request.tensor = tensor;
  s.request.out = into.empty() ? nullptr : into.data();
  std::optional<cuda::DeviceScope> scope;
  if (s.on_cuda()) scope.emplace(s.place.device);
  answer(s.place, s.request);
  if (s.waits) cuda::synchronize(s.place.stream);
}

std::size_t FragmentTrackers::size() const noexcept { return state_->count; }

Span<const TrackedBox> FragmentTrackers::boxes() const noexcept {
  State& s = *state_;
  if (s.count == 0) return {};
  return {s.on_cpu() ? s.found.data() : s.request.box, s.count, s.memory};
}

std::vector<TrackedBox> FragmentTrackers::fetch() const {
  State& s = *state_;
  require(s.bins > 0, "fetch: the trackers have not started");
  if (s.on_cpu()) return s.found;
  std::vector<TrackedBox> boxes(s.count);
  if (!s.on_cuda()) {
    std::memcpy(boxes.data(), s.request.box, s.boxes.bytes());
    return boxes;
  }
  const cuda::DeviceScope scope(s.place.device);
  const cuda::HostCopyGuard guard(s.place.stream);
  cuda::copy_out(boxes.data(), s.request.box, s.boxes.bytes(), s.place.stream);
  cuda::synchronize(s.place.stream);
  return boxes;
}

}  // namespace areal
