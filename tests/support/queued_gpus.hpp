#pragma once
// Stands in for the CUDA backend in one test program: three devices whose queued work is done late, in any order that
// streams and events allow, seeded. It takes the place of the library's functions of areal::cuda, since a program's
// symbols come before those of a shared library. Tables are computed by the CPU's plans; queries there are none.
//
// It refuses what CUDA refuses: streams and events of another device than the current one. It counts what is allocated,
// and finds a launch that touches memory which is not its device's. Not thread-safe in the sense that matters to CUDA:
// one lock is around all of it.

#include <algorithm>
#include <areal/error.hpp>
#include <areal/sat.hpp>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>
#include "cuda/device.hpp"
#include "cuda/memory.hpp"
#include "cuda/plan.hpp"
#include "kernels/histogram/request.hpp"
#include "kernels/query/request.hpp"
#include "kernels/sat/request.hpp"
#include "kernels/scan/request.hpp"

namespace areal::queued_gpus {

constexpr int count = 3;

struct Point {  // an event
  int device = 0;
  std::uint64_t recorded = 0, happened = 0;
};
struct Work {
  std::function<void()> run;
  const Point* after = nullptr;  ///< begins when this has happened ..
  std::uint64_t times = 0;       ///< .. so often
  bool touches_memory = false;
};
struct Queue {  // a stream
  int device = 0;
  std::deque<Work> work;
};

class Gpus {
 public:
  std::recursive_mutex mutex;
  std::mt19937_64 random{1};
  bool waits_for_events = true;  ///< false is the planted fault
  /// Calls until one fails; below 0: none does.
  std::int64_t calls_left = -1, allocations_left = -1;
  int eager = 4;  ///< one call in so many does some of the work at once; 0: all is done late

  void call() {
    const std::lock_guard lock(mutex);
    if (calls_left >= 0 && calls_left-- == 0) throw DeviceError("planted", false);
    if (eager > 0 && random() % static_cast<std::uint64_t>(eager) == 0) step();
  }
  Queue& queue_of(Stream stream) {
    if (stream == Stream::legacy_default()) return defaults_[current()];
    Queue& queue = *static_cast<Queue*>(stream.handle());
    if (queue.device != current())
      throw DeviceError("a stream of device " + std::to_string(queue.device) + " while device " +
                            std::to_string(current()) + " is current",
                        false);
    return queue;
  }
  void push(Stream stream, Work work) {
    call();
    const std::lock_guard lock(mutex);
    work.touches_memory = true;
    queue_of(stream).work.push_back(std::move(work));
  }
  /// One piece of work of any stream that can. False where none can.
  bool step() {
    std::vector<Queue*> ready;
    const auto look = [&](Queue& queue) {
      if (queue.work.empty()) return;
      const Work& next = queue.work.front();
      if (next.after == nullptr || next.after->happened >= next.times) ready.push_back(&queue);
    };
    for (Queue& queue : defaults_) look(queue);
    for (const auto& [address, queue] : queues_) look(*queue);
    if (ready.empty()) return false;
    Queue& queue = *ready[random() % ready.size()];
    const Work work = std::move(queue.work.front());
    queue.work.pop_front();
    if (work.run) work.run();
    return true;
  }
  void wait(Queue& queue) {
    const std::lock_guard lock(mutex);
    while (!queue.work.empty())
      if (!step()) throw DeviceError("streams wait for each other", true);
  }
  void drain() {
    const std::lock_guard lock(mutex);
    while (step()) {
    }
  }
  /// Work of all streams that reads or writes memory.
  std::int64_t queued() {
    const std::lock_guard lock(mutex);
    std::int64_t n = 0;
    const auto touches = [](const Work& work) { return work.touches_memory; };
    for (const Queue& queue : defaults_) n += std::count_if(queue.work.begin(), queue.work.end(), touches);
    for (const auto& [address, queue] : queues_) n += std::count_if(queue->work.begin(), queue->work.end(), touches);
    return n;
  }
  Queue* make_queue() {
    const std::lock_guard lock(mutex);
    auto queue = std::make_unique<Queue>();
    queue->device = current();
    Queue* const made = queue.get();
    queues_[made] = std::move(queue);
    return made;
  }
  void drop(Queue* queue) {  // what was queued is still done
    try {
      wait(*queue);
    } catch (const DeviceError&) {
    }
    const std::lock_guard lock(mutex);
    queues_.erase(queue);
  }
  Point* make_point() {
    const std::lock_guard lock(mutex);
    ++points;
    return new Point{current(), 0, 0};
  }
  void* allocate(std::size_t bytes) {
    const std::lock_guard lock(mutex);
    if (allocations_left >= 0 && allocations_left-- == 0)
      throw OutOfMemory("the device has no " + std::to_string(bytes) + " bytes left", bytes);
    char* const data = new char[bytes + 1];
    std::memset(data, 0xDB, bytes + 1);
    memory_[data] = {bytes + 1, current()};
    return data;
  }
  void release(void* data) {  // as cudaFree, which waits for the device
    drain();
    const std::lock_guard lock(mutex);
    memory_.erase(static_cast<char*>(data));
    delete[] static_cast<char*>(data);
  }
  /// Throws unless all of it is memory of that device.
  void require_on(int device, const char* what, const ConstView& view) {
    if (view.data == nullptr || view.shape.empty()) return;
    const std::lock_guard lock(mutex);
    const char* const first = static_cast<const char*>(view.data);
    const char* const last =
        static_cast<const char*>(view.row(view.shape.height - 1)) + view.shape.width * view.column_pitch();
    auto at = memory_.upper_bound(const_cast<char*>(first));
    const bool inside =
        at != memory_.begin() && (--at, last <= at->first + at->second.first) && at->second.second == device;
    if (!inside) throw DeviceError(std::string(what) + " is not memory of device " + std::to_string(device), true);
  }
  /// Is it memory of a device?
  bool owns(const void* data) {
    const std::lock_guard lock(mutex);
    auto at = memory_.upper_bound(static_cast<char*>(const_cast<void*>(data)));
    return at != memory_.begin() && (--at, static_cast<const char*>(data) < at->first + at->second.first);
  }
  std::size_t allocations() const { return memory_.size(); }
  std::size_t queues() const { return queues_.size(); }
  std::int64_t points = 0;

  static int& current() {
    thread_local int device = 0;
    return device;
  }

 private:
  Queue defaults_[count] = {{0, {}}, {1, {}}, {2, {}}};
  std::map<Queue*, std::unique_ptr<Queue>> queues_;
  std::map<char*, std::pair<std::size_t, int>> memory_;
};

inline Gpus& gpus() {
  static Gpus all;
  return all;
}

inline Squares squares_of(std::optional<Type> type) {
  if (!type) return Squares::no;
  return *type == Type::u32   ? Squares::u32
         : *type == Type::u64 ? Squares::u64
         : *type == Type::f32 ? Squares::f32
                              : Squares::f64;
}

/// Tables by the CPU, when their turn comes.
class LateSat final : public kernels::AnyDevicePlan<kernels::Sat> {
 public:
  LateSat(kernels::SatRequest request, int device) : request_(std::move(request)), device_(device) {}
  std::size_t workspace_bytes() const noexcept override { return 16; }
  void prepare(void*, Stream) const override {}
  bool execute(const SatArguments& arguments, void*, Stream stream, const LaunchReport&) const override {
    gpus().push(stream, {[this, arguments] {
                  SatArguments a = arguments;
                  const auto here = [this](const char* what, auto& view) {
                    gpus().require_on(device_, what, view);
                    view = view.in({});
                  };
                  here("the image", a.image), here("the mask", a.mask);
                  here("the table", a.sum), here("the squares", a.squares), here("the counts", a.count);
                  for (Carry* const carry : {&a.carry, &a.squares_carry, &a.count_carry})
                    here("a carry from above", carry->above), here("a carry from the left", carry->left);
                  const kernels::SatRequest& r = request_;
                  const SatPlan plan(r.image, r.types.input,
                                     {.border = r.border,
                                      .types = r.types,
                                      .squares = squares_of(r.squares),
                                      .mask = r.mask,
                                      .ignore_nan = r.ignore_nan,
                                      .tables = a.sum.shape.layout},
                                     {.backend = Backend::cpu, .threads = 1});
                  Workspace workspace(plan);
                  plan.execute(a, workspace);
                }});
    return true;
  }

 private:
  kernels::SatRequest request_;
  int device_;
};

}  // namespace areal::queued_gpus

namespace areal::cuda {

using queued_gpus::gpus;
using queued_gpus::Point;
using queued_gpus::Queue;

bool built() noexcept { return true; }
int device_count() noexcept { return queued_gpus::count; }
std::vector<Device> devices(std::string* why_not) {
  if (why_not) why_not->clear();
  return {{.number = 0, .name = "late"}, {.number = 1, .name = "late"}, {.number = 2, .name = "late"}};
}
std::string why_not(int device) {
  return device >= 0 && device < queued_gpus::count ? "" : "device " + std::to_string(device) + " is not there";
}
std::uint64_t free_memory(int) { return std::uint64_t{1} << 30; }
bool open_access(int device, int to) { return device == to || device + to != 2; }  // 0 and 2 have none
DeviceScope::DeviceScope(int device) : device_(device), before_(queued_gpus::Gpus::current()) {
  queued_gpus::Gpus::current() = device;
}
DeviceScope::~DeviceScope() { queued_gpus::Gpus::current() = before_; }
Memory::Memory(std::size_t bytes) : data_(gpus().allocate(bytes), [](void* data) { gpus().release(data); }) {}
StreamMemory::StreamMemory(std::size_t bytes, Stream stream) : data_(gpus().allocate(bytes), Release{stream, true}) {}
void StreamMemory::Release::operator()(void* data) const noexcept { gpus().release(data); }
PinnedMemory::PinnedMemory(std::size_t bytes) : data_(std::malloc(bytes + 1), std::free) {}
bool is_page_locked(const void*) { return true; }

Event::Event(bool) : handle_(gpus().make_point()) {}
Event::~Event() {  // what waits for it may still wait
  gpus().drain();
  --gpus().points;
  delete static_cast<Point*>(handle_);
}
void Event::record(Stream stream) {
  gpus().call();
  const std::lock_guard lock(gpus().mutex);
  auto* const point = static_cast<Point*>(handle_);
  if (point->device != queued_gpus::Gpus::current()) throw DeviceError("an event of another device", false);
  const std::uint64_t times = ++point->recorded;
  gpus().queue_of(stream).work.push_back({[point, times] { point->happened = std::max(point->happened, times); }});
}
void Event::hold_back(Stream stream) const {
  gpus().call();
  const std::lock_guard lock(gpus().mutex);
  const auto* const point = static_cast<const Point*>(handle_);
  if (point->recorded == 0 || !gpus().waits_for_events) return;  // as CUDA: nothing to wait for
  gpus().queue_of(stream).work.push_back({{}, point, point->recorded});
}
void Event::synchronize() const { gpus().drain(); }
bool Event::has_happened() const { return gpus().drain(), true; }
double Event::seconds_since(const Event&) const { return 0; }
OwnedStream::OwnedStream() : handle_(gpus().make_queue()) {}
OwnedStream::~OwnedStream() { gpus().drop(static_cast<Queue*>(handle_)); }
void OwnedStream::synchronize() const { gpus().wait(*static_cast<Queue*>(handle_)); }
bool is_capturing(Stream) { return false; }
void synchronize(Stream stream) {
  const std::lock_guard lock(gpus().mutex);
  gpus().wait(gpus().queue_of(stream));
}
void clear(void* to, std::size_t bytes, Stream stream) { clear_rows(to, 0, bytes, 1, stream); }
void clear_rows(void* to, std::int64_t pitch, std::size_t row_bytes, std::size_t rows, Stream stream) {
  gpus().push(stream, {[=] {
                for (std::size_t y = 0; y < rows; ++y)
                  std::memset(static_cast<char*>(to) + static_cast<std::int64_t>(y) * pitch, 0, row_bytes);
              }});
}
void copy_in(void* to, const void* from, std::size_t bytes, Stream stream) { copy(to, from, bytes, stream); }
void copy_out(void* to, const void* from, std::size_t bytes, Stream stream) { copy(to, from, bytes, stream); }
void copy_rows(void* to, std::int64_t to_pitch, const void* from, std::int64_t from_pitch, std::size_t row_bytes,
               std::size_t rows, CopyDirection, Stream stream) {
  gpus().push(stream, {[=] {
                for (std::size_t y = 0; y < rows; ++y)
                  std::memcpy(static_cast<char*>(to) + static_cast<std::int64_t>(y) * to_pitch,
                              static_cast<const char*>(from) + static_cast<std::int64_t>(y) * from_pitch, row_bytes);
              }});
}
void copy(void* to, const void* from, std::size_t bytes, Stream stream) {
  gpus().push(stream, {[=] { std::memcpy(to, from, bytes); }});
}

template <>
std::unique_ptr<const kernels::AnyDevicePlan<kernels::Sat>> make_plan<kernels::Sat>(kernels::SatRequest request,
                                                                                    int device) {
  return std::make_unique<queued_gpus::LateSat>(std::move(request), device);
}
template <>
kernels::Refusal refusal_of<kernels::Sat>(const kernels::SatRequest&, int) {
  return {};
}

}  // namespace areal::cuda
