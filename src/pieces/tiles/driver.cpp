#include "pieces/tiles/driver.hpp"
#include <algorithm>
#include <areal/error.hpp>
#include <chrono>
#include <optional>
#include <thread>
#include <utility>
#include "api/core/copy_rows.hpp"
#include "cpu/cancellation.hpp"
#include "pieces/core/current_device.hpp"

namespace areal::pieces {
namespace {

constexpr std::chrono::milliseconds poll_interval{50};  // as cpu::Cancellation asks

std::uint64_t next_run() {
  static std::atomic<std::uint64_t> runs{0};
  return ++runs;
}

}  // namespace

std::unique_ptr<TileLane> TilePool::take_lane(const TileJob& job, std::size_t worker) {
  {
    const std::lock_guard lock(mutex_);
    auto& lanes = lanes_[worker];
    if (!lanes.empty()) {
      std::unique_ptr<TileLane> lane = std::move(lanes.back());
      lanes.pop_back();
      return lane;
    }
  }
  return std::make_unique<TileLane>(job.workers[worker]);
}
void TilePool::give_back(std::size_t worker, std::unique_ptr<TileLane> lane) {
  const std::lock_guard lock(mutex_);
  lanes_[worker].push_back(std::move(lane));
}
TilePool::Slots TilePool::take_slots() {
  const std::lock_guard lock(mutex_);
  return std::exchange(slots_, {});
}
void TilePool::give_back(Slots unused) {
  const std::lock_guard lock(mutex_);
  slots_ = std::move(unused);
}

class TileRun::PartWorker final : public queue::TaskWorker {
 public:
  PartWorker(TileRun& run, std::size_t number)
      : run_(run),
        number_(number),
        worker_(run.job_.workers[number]),
        lanes_(static_cast<std::size_t>(run.job_.lanes_of(worker_))) {}
  ~PartWorker() override {
    if (lost_) return;
    for (auto& lane : lanes_)
      if (lane) run_.pool_.give_back(number_, std::move(lane));
  }

  std::string name() const override { return name_of(worker_); }
  int lanes() const override { return static_cast<int>(lanes_.size()); }
  bool shared() const override { return is_cuda(worker_); }
  void begin(int lane) override {
    const CurrentDevice device(worker_);
    lanes_[static_cast<std::size_t>(lane)] = run_.pool_.take_lane(run_.job_, number_);
  }
  bool work(int number, const queue::Task& task) override try {
    if (run_.stopped()) return false;
    const CurrentDevice device(worker_);
    const cpu::Cancellation of_run([this] { return !run_.stopped(); });
    TileLane& lane = *lanes_[static_cast<std::size_t>(number)];
    std::optional<cuda::HostCopyGuard> guard;
    if (lane.on_cuda()) guard.emplace(lane.stream());
    return run_.use_.work(lane, static_cast<int>(number_), run_.grid_.part(task.id),
                          run_.pixels_of(run_.grid_.tile_of(task.id)));
  } catch (const DeviceError& error) {
    if (error.lost()) lost_ = true;
    throw;
  }

 private:
  TileRun& run_;
  const std::size_t number_;
  const Worker worker_;
  std::vector<std::unique_ptr<TileLane>> lanes_;
  std::atomic<bool> lost_{false};
};

TileRun::TileRun(const TileJob& job, TilePool& pool, TileUse use)
    : job_(job),
      pool_(pool),
      use_(std::move(use)),
      grid_(job.grid()),
      number_(next_run()),
      readiness_(grid_, use_.carried),
      slots_(static_cast<std::size_t>(job.lanes() + 1)) {}

void TileRun::go(const queue::WrapWorker& wrap) {
  std::vector<std::unique_ptr<queue::TaskWorker>> workers;
  for (std::size_t i = 0; i < job_.workers.size(); ++i) {
    workers.push_back(std::make_unique<PartWorker>(*this, i));
    if (wrap) workers.back() = wrap(std::move(workers.back()), static_cast<int>(i));
  }
  queue::QueueOptions options;
  options.finished = [this](const queue::Task& task, const queue::Outcome& outcome) {
    if (outcome.error) return stop(outcome.error);
    if (!stopped_) finish(task.id);
  };
  options.lost = [this](int, const std::string& why) {
    const std::lock_guard lock(telling_);
    if (job_.note) job_.note(why);
  };
  memory_ = pool_.take_slots();
  memory_.resize(slots_.size());
  {
    queue::TaskQueue queue(std::move(workers), std::move(options));
    queue_ = &queue;
    std::thread reader([this] { read_all(); });
    wait_for_parts();
    reader.join();
    queue.wait_idle();
  }
  queue_ = nullptr;
  pool_.give_back(std::move(memory_));
  if (error_) std::rethrow_exception(error_);
}

void TileRun::wait_for_parts() {
  cpu::Cancellation* const cancellation = cpu::Cancellation::current();
  std::unique_lock lock(mutex_);
  const auto ended = [this] { return stopped_ || finished_ == grid_.parts(); };
  if (cancellation == nullptr) return changed_.wait(lock, ended);
  while (!changed_.wait_for(lock, poll_interval, ended)) {
    lock.unlock();
    try {
      cancellation->go_on();
      cancellation->check();
    } catch (...) {
      stop(std::current_exception());
    }
    lock.lock();
  }
}

void TileRun::read_all() try {
  const auto on_cuda = std::find_if(job_.workers.begin(), job_.workers.end(), is_cuda);
  const CurrentDevice device(on_cuda != job_.workers.end() ? *on_cuda : Worker());  // for page-locked memory
  for (const std::int64_t tile : grid_.by_diagonals()) {
    const std::int64_t first = tile * grid_.groups();
    const Part part = grid_.part(first);
    if (!use_.needs_pixels || use_.needs_pixels(part)) {
      std::unique_lock lock(mutex_);
      std::size_t slot = 0;
      const auto is_free = [&] {
        for (slot = 0; slot < slots_.size() && slots_[slot].unfinished > 0;) ++slot;
        return slot < slots_.size();
      };
      changed_.wait(lock, [&] { return stopped_ || is_free(); });
      if (stopped_) return;
      lock.unlock();
      Slot filled{tile, grid_.groups(), {}};
      read(part, filled, memory_[slot]);
      lock.lock();
      slots_[slot] = std::move(filled);
    }
    if (stopped_) return;
    for (std::int64_t group = 0; group < grid_.groups(); ++group) arrived(first + group);
  }
} catch (...) {
  stop(std::current_exception());
}

// Memory of the image's own stays where it is, unless a device copies tiles of several: from page-locked memory that
// takes half the time, and waits for nothing.
void TileRun::read(const Part& tile, Slot& slot, std::vector<Memory>& memory) {
  const Region& pixels = tile.pixels;
  const bool page_locked = job_.has_cuda() && grid_.tiles() > 1;
  for (std::size_t i = 0; i < job_.form.inputs.size(); ++i) {
    const Rows& input = job_.form.inputs[i];
    const Shape shape = input.of(pixels.width, pixels.height);
    if (memory.size() <= i) memory.push_back(Memory::of_host(0, page_locked));
    if (shape.empty()) {
      slot.inputs.emplace_back(nullptr, input.type, shape);
      continue;
    }
    memory[i].grow(bytes_of(shape, input.type));
    const View buffer = memory[i].view(input.type, shape);
    const ConstView block = use_.inputs.read(i, job_.x + pixels.x, job_.y + pixels.y, buffer);
    const bool stays = !page_locked && (!job_.has_cuda() || is_contiguous(block));
    if (!stays && block.data != buffer.data) copy_rows(block, buffer);
    slot.inputs.push_back(stays ? block : ConstView(buffer));
  }
}

TilePixels TileRun::pixels_of(std::int64_t tile) {
  const std::lock_guard lock(mutex_);
  for (const Slot& slot : slots_)
    if (slot.tile == tile) return {number_, tile, slot.inputs};
  return {number_, tile, {}};  // which need none
}

void TileRun::arrived(std::int64_t number) {
  if (!readiness_.arrived(number)) return;
  const Part part = grid_.part(number);
  queue::Task task;
  task.id = number;
  const std::int64_t planes = std::max<std::int64_t>(1, job_.bins_of(grid_.group_of(number)).count);
  task.cost = std::max(1.0, static_cast<double>(part.pixels.width * part.pixels.height) * static_cast<double>(planes));
  queue_->push(task);
}

void TileRun::handed_on(std::int64_t part) {
  if (const auto below = grid_.below(part)) arrived(*below);
  if (const auto right = grid_.right(part)) arrived(*right);
}

void TileRun::finish(std::int64_t number) {
  const Part part = grid_.part(number);
  if (use_.finished) use_.finished(part);
  if (job_.progress) {
    const std::lock_guard lock(telling_);
    try {
      if (!stopped_ && !job_.progress(++reported_, grid_.parts())) throw Cancelled(job_.cancelled);
    } catch (...) {
      stop(std::current_exception());
    }
  }
  const std::lock_guard lock(mutex_);
  for (Slot& slot : slots_)
    if (slot.tile == grid_.tile_of(number) && --slot.unfinished == 0) slot.tile = -1;
  ++finished_;
  changed_.notify_all();
}

void TileRun::stop(std::exception_ptr why) {
  const std::lock_guard lock(mutex_);
  if (why && !error_ && !stopped_) error_ = std::move(why);
  stopped_ = true;
  changed_.notify_all();
}

}  // namespace areal::pieces
