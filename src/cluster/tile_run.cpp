#include "cluster/tile_run.hpp"
#include <areal/error.hpp>
#include <optional>
#include <utility>
#include "cuda/device.hpp"

namespace areal::cluster {
namespace {

std::uint64_t next_call() {
  static std::atomic<std::uint64_t> calls{0};
  return ++calls;
}

}  // namespace

class TileRun::PartWorker final : public queue::TaskWorker {
 public:
  PartWorker(TileRun& run, const WorkPart& work, std::size_t number)
      : run_(run),
        work_(work),
        number_(number),
        worker_(run.subject.options.workers[number]),
        lanes_(static_cast<std::size_t>(run.subject.lanes_of(worker_))) {}
  ~PartWorker() override {
    if (lost_) return;
    for (auto& lane : lanes_)
      if (lane) run_.pool_.give_back(number_, std::move(lane));
  }

  std::string name() const override { return name_of(worker_); }
  int lanes() const override { return static_cast<int>(lanes_.size()); }
  bool shared() const override { return worker_.backend == Backend::cuda; }
  void begin(int lane) override {
    std::optional<cuda::DeviceScope> scope;
    make_current(scope);
    lanes_[static_cast<std::size_t>(lane)] = run_.pool_.take(run_.subject, number_);
  }
  bool work(int lane, const queue::Task& task) override {
    if (run_.stopped()) return false;
    try {
      std::optional<cuda::DeviceScope> scope;
      make_current(scope);
      return work_(*lanes_[static_cast<std::size_t>(lane)], static_cast<int>(number_),
                   part_of(run_.grid, run_.subject, task.id));
    } catch (const DeviceError& error) {
      if (error.lost()) lost_ = true;
      throw;
    }
  }

 private:
  void make_current(std::optional<cuda::DeviceScope>& scope) const {
    if (worker_.backend == Backend::cuda) scope.emplace(worker_.device);
  }

  TileRun& run_;
  const WorkPart& work_;
  const std::size_t number_;
  const Worker worker_;
  std::vector<std::unique_ptr<TileLane>> lanes_;
  std::atomic<bool> lost_{false};
};

TileRun::TileRun(const TiledSubject& subject_, const TiledGrid& grid_, TileLanePool& pool, const ImageRows& rows)
    : subject(subject_), grid(grid_), reader(rows, subject_), number(next_call()), pool_(pool) {}

queue::Task TileRun::task_of(std::int64_t number_of_part) const {
  const TensorPart part = part_of(grid, subject, number_of_part);
  queue::Task task;
  task.id = number_of_part;
  task.cost = static_cast<double>(part.tile.width * part.tile.height) * static_cast<double>(part.bins);
  return task;
}

void TileRun::push(const std::vector<std::int64_t>& parts) {
  std::vector<queue::Task> tasks;
  for (const std::int64_t part : parts) tasks.push_back(task_of(part));
  queue_->push_all(tasks);
}

void TileRun::stop(std::exception_ptr why) {
  const std::lock_guard lock(ending_);
  if (why && !failed_) failed_ = std::move(why);
  stopped_ = true;
}

void TileRun::go(const WorkPart& work, const std::vector<std::int64_t>& first, const queue::WrapWorker& wrap,
                 std::function<void(const TensorPart&)> finished) {
  std::vector<std::unique_ptr<queue::TaskWorker>> workers;
  for (std::size_t i = 0; i < subject.options.workers.size(); ++i) {
    workers.push_back(std::make_unique<PartWorker>(*this, work, i));
    if (wrap) workers.back() = wrap(std::move(workers.back()), static_cast<int>(i));
  }
  queue::QueueOptions options;
  options.finished = [&](const queue::Task& task, const queue::Outcome& outcome) {
    if (outcome.error) return stop(outcome.error);
    if (stopped()) return;
    if (finished) finished(part_of(grid, subject, task.id));
    if (!subject.options.progress) return;
    try {
      const std::lock_guard lock(ending_);
      if (!stopped_ && !subject.options.progress(++done_, grid.parts())) {
        stopped_ = true;
        failed_ = std::make_exception_ptr(Cancelled("the tiled histogram was cancelled"));
      }
    } catch (...) {
      stop(std::current_exception());
    }
  };
  options.lost = [&](int, const std::string& why) {
    const std::lock_guard lock(ending_);
    if (subject.options.note) subject.options.note(why);
  };
  {
    queue::TaskQueue queue(std::move(workers), std::move(options));
    queue_ = &queue;
    push(first);
    queue.wait_idle();
  }
  queue_ = nullptr;
  if (failed_) std::rethrow_exception(failed_);
}

}  // namespace areal::cluster
