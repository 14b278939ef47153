// Page-locked arrays, streams, events and copies without CUDA in the caller's code.
#include "cuda/device.hpp"
#include <algorithm>
#include <areal/device.hpp>
#include <areal/error.hpp>
#include <chrono>
#include <cstring>
#include <utility>
#include "api/core/copy_rows.hpp"
#include "api/core/device_memory.hpp"
#include "api/core/memory.hpp"
#include "api/core/require.hpp"
#include "api/core/view_check.hpp"

namespace areal {
namespace {

using Clock = std::chrono::steady_clock;

void require_kind(bool on_host, Stream stream) {
  if (on_host)
    require(stream.is_host(), "stream: a CUDA stream, but the work is the host's, which takes Stream::host()");
  else
    require(!stream.is_host(), "stream: Stream::host(), but the work is a CUDA device's, which takes a CUDA stream");
}

/// `work(stream)` queues a device's work. Waits for it if no stream was given.
template <class Work>
void queue_on(const MemoryPlace& place, std::optional<Stream> stream, const Work& work) {
  if (stream) require_kind(false, *stream);
  const cuda::DeviceScope scope(place.device);
  const Stream on = stream.value_or(Stream::legacy_default());
  const cuda::HostCopyGuard guard(on);
  work(on);
  if (!stream) cuda::synchronize(on);
}

void queue_bytes(const void* from, void* to, std::size_t bytes, cuda::CopyDirection direction, Stream stream) {
  if (direction == cuda::CopyDirection::in)
    cuda::copy_in(to, from, bytes, stream);
  else if (direction == cuda::CopyDirection::out)
    cuda::copy_out(to, from, bytes, stream);
  else
    cuda::copy(to, from, bytes, stream);
}

void queue_rows(const ConstView& from, const View& to, cuda::CopyDirection direction, Stream stream) {
  const Shape& shape = from.shape;
  const std::int64_t planes = shape.layout == Layout::planar ? shape.channels : 1;
  const auto row_bytes = static_cast<std::size_t>(shape.width * from.column_pitch());
  const bool by_rows = std::max(from.row_pitch, to.row_pitch) > cuda::most_pitch || shape.height == 1;
  for (std::int64_t n = 0; n < shape.batch; ++n)
    for (std::int64_t c = 0; c < planes; ++c) {
      if (!by_rows) {
        cuda::copy_rows(to.row(0, c, n), to.row_pitch, from.row(0, c, n), from.row_pitch, row_bytes,
                        static_cast<std::size_t>(shape.height), direction, stream);
        continue;
      }
      for (std::int64_t y = 0; y < shape.height; ++y)
        queue_bytes(from.row(y, c, n), to.row(y, c, n), row_bytes, direction, stream);
    }
}

}  // namespace

PinnedArray::PinnedArray(const Shape& shape, Type type, const Execution& on)
    : shape_(shape), type_(type), bytes_(bytes_of(shape, type)) {
  const MemoryPlace place = memory_of(on);
  std::optional<cuda::DeviceScope> scope;
  if (!place.is_host()) scope.emplace(place.device);
  memory_ = Memory::of_host(bytes_, !place.is_host()).share();
}

void PinnedArray::check_type(Type requested) const {
  require(requested == type_, "array holds ", name_of(type_), ", not ", name_of(requested));
}

struct Event::State {
  int device = 0;
  std::optional<cuda::Event> on_cuda;
  Clock::time_point at;
  bool is_recorded = false;
};

struct OwnedStream::State {
  Execution execution;
  cuda::OwnedStream stream;  // of the current device
};

OwnedStream::OwnedStream(const Execution& on) {
  const MemoryPlace place = memory_of(on);
  if (place.is_host()) {
    backend_ = on.backend;
    return;
  }
  const cuda::DeviceScope scope(place.device);
  state_ = std::make_unique<State>();
  state_->execution = {.backend = Backend::cuda, .device = on.device, .stream = state_->stream.get()};
}
OwnedStream::~OwnedStream() = default;
OwnedStream::OwnedStream(OwnedStream&&) noexcept = default;
OwnedStream& OwnedStream::operator=(OwnedStream&&) noexcept = default;

Stream OwnedStream::get() const noexcept { return state_ ? state_->stream.get() : Stream::host(); }
Execution OwnedStream::execution() const noexcept {
  if (state_) return state_->execution;
  return {.backend = backend_, .stream = Stream::host()};
}
void OwnedStream::wait() const {
  if (state_) state_->stream.synchronize();
}
void OwnedStream::wait_for(const Event& event) const { event.hold_back(get()); }

Event::Event(const Execution& on) : state_(std::make_unique<State>()) {
  const MemoryPlace place = memory_of(on);
  if (place.is_host()) return;
  const cuda::DeviceScope scope(place.device);
  state_->device = place.device;
  state_->on_cuda.emplace();
}
Event::~Event() = default;
Event::Event(Event&&) noexcept = default;
Event& Event::operator=(Event&&) noexcept = default;

const Event::State& Event::recorded() const {
  require(state_ && state_->is_recorded, "event: it was not recorded");
  return *state_;
}
void Event::record(Stream stream) {
  require(state_ != nullptr, "event: it was moved from");
  require_kind(!state_->on_cuda, stream);
  if (state_->on_cuda) {
    const cuda::DeviceScope scope(state_->device);
    state_->on_cuda->record(stream);
  } else {
    state_->at = Clock::now();
  }
  state_->is_recorded = true;
}
void Event::wait() const {
  if (const State& at = recorded(); at.on_cuda) at.on_cuda->synchronize();
}
bool Event::has_happened() const {
  const State& at = recorded();
  return !at.on_cuda || at.on_cuda->has_happened();
}
void Event::hold_back(Stream stream) const {
  const State& at = recorded();
  require_kind(!at.on_cuda, stream);
  if (at.on_cuda) at.on_cuda->hold_back(stream);
}
double Event::seconds_since(const Event& before) const {
  const State &last = recorded(), &first = before.recorded();
  require(last.on_cuda.has_value() == first.on_cuda.has_value() && last.device == first.device,
          "event: the one before is of another backend or device");
  if (!last.on_cuda) return std::chrono::duration<double>(last.at - first.at).count();
  first.on_cuda->synchronize();
  last.on_cuda->synchronize();
  return last.on_cuda->seconds_since(*first.on_cuda);
}

bool is_capturing(Stream stream) { return !stream.is_host() && cuda::is_capturing(stream); }

void copy_view(const ConstView& from, const View& to, std::optional<Stream> stream) {
  require(from.type == to.type, "to: its elements are ", name_of(to.type), ", those of from ", name_of(from.type));
  check_shape("from", from.shape, from.type);
  check_view("from", from, from.shape, from.type);
  check_view("to", to, from.shape, from.type);
  require(!may_overlap(from, to), "to: it overlaps from");
  if (from.shape.empty()) return;
  if (from.memory.is_host() && to.memory.is_host()) {
    if (stream) require_kind(true, *stream);
    return copy_rows(from, to);
  }
  const bool within = !from.memory.is_host() && !to.memory.is_host();
  require(!within || from.memory == to.memory, "to: memory of CUDA device ", to.memory.device, ", from lies on device ",
          from.memory.device, ": copies are of one device");
  const cuda::CopyDirection direction = within                  ? cuda::CopyDirection::within
                                        : from.memory.is_host() ? cuda::CopyDirection::in
                                                                : cuda::CopyDirection::out;
  queue_on(within || to.memory.is_host() ? from.memory : to.memory, stream, [&](Stream on) {
    if (!is_contiguous(from) || !is_contiguous(to)) return queue_rows(from, to, direction, on);
    queue_bytes(from.data, to.data, bytes_of(from.shape, from.type), direction, on);
  });
}

void clear_view(const View& view, std::optional<Stream> stream) {
  check_shape("view", view.shape, view.type);
  check_view("view", view, view.shape, view.type);
  if (view.shape.empty()) return;
  require(is_contiguous(view), "view: it has gaps between its rows, planes or images");
  const std::size_t bytes = bytes_of(view.shape, view.type);
  if (view.memory.is_host()) {
    if (stream) require_kind(true, *stream);
    std::memset(view.data, 0, bytes);
    return;
  }
  queue_on(view.memory, stream, [&](Stream on) { cuda::clear(view.data, bytes, on); });
}

}  // namespace areal
