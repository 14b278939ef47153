#include "video/run_frames.hpp"

#include <algorithm>
#include <areal/error.hpp>
#include <chrono>
#include <mutex>
#include <numeric>
#include <optional>
#include <thread>
#include <utility>
#include "api/core/require.hpp"
#include "api/core/view_check.hpp"

namespace areal::video {
namespace {

using Clock = std::chrono::steady_clock;

/// Collects the stage times of a run, from all its threads.
class Stages {
 public:
  explicit Stages(bool timeline) : timeline_(timeline) {}

  double now() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
  void record(StageTime::Stage stage, const Frame& frame, int worker, int lane, double begin, double end) {
    const std::lock_guard lock(mutex_);
    seconds_[stage] += end - begin;
    if (timeline_) times_.push_back({stage, frame.stream, frame.number, worker, lane, begin, end});
  }
  void so_far(SequenceReport& report) const {
    const std::lock_guard lock(mutex_);
    report.seconds = now();
    std::copy(std::begin(seconds_), std::end(seconds_), report.stage_seconds);
  }
  void report(SequenceReport& report) {
    so_far(report);
    std::stable_sort(times_.begin(), times_.end(),
                     [](const StageTime& a, const StageTime& b) { return a.begin < b.begin; });
    report.timeline = std::move(times_);
  }

 private:
  mutable std::mutex mutex_;
  Clock::time_point start_ = Clock::now();
  bool timeline_;
  double seconds_[5] = {};
  std::vector<StageTime> times_;
};

/// The thread that passes the answers to the sink, in order.
class Sinking {
 public:
  Sinking(const FrameRun& run, int lanes, SlotRing& ring, Stages& stages, const FrameSink& sink)
      : run_(run), lanes_(lanes), ring_(ring), stages_(stages), sink_(sink), thread_([this] { give(); }) {}
  /// Waits for the last answer; returns what ended the run before, if anything.
  std::exception_ptr join() {
    thread_.join();
    return error_;
  }
  std::int64_t answered() const noexcept { return answered_; }
  /// The answers computed by that worker.
  std::int64_t answered_by(std::size_t worker) const noexcept { return worker < by_.size() ? by_[worker] : 0; }

 private:
  void give() {
    try {
      while (Slot* const slot = ring_.take_done()) {
        if (slot->error) std::rethrow_exception(slot->error);
        const double begin = stages_.now();
        FrameAnswer answer{slot->frame, slot->regions, slot->counts, std::nullopt, slot->worker};
        if (run_.work.tensors) answer.tensor.emplace(slot->tensor.view(), run_.work.border);
        const bool more = sink_(answer);
        ++answered_;
        if (static_cast<std::size_t>(slot->worker) >= by_.size())
          by_.resize(static_cast<std::size_t>(slot->worker) + 1);
        ++by_[static_cast<std::size_t>(slot->worker)];
        stages_.record(StageTime::sink, slot->frame, -1, -1, begin, stages_.now());
        ring_.release(*slot);
        tell();
        if (!more) break;
      }
    } catch (...) {
      error_ = std::current_exception();
    }
    ring_.stop();
  }

  void tell() const {
    if (!run_.options.progress) return;
    SequenceReport report;
    report.lanes = lanes_;
    stages_.so_far(report);
    run_.options.progress({ring_.produced(), answered_, ring_.dropped(), report.slowest()});
  }

  const FrameRun& run_;
  const int lanes_;
  SlotRing& ring_;
  Stages& stages_;
  const FrameSink& sink_;
  std::exception_ptr error_;
  std::int64_t answered_ = 0;
  std::vector<std::int64_t> by_;
  std::thread thread_;
};

/// Borrows the slots for a run.
class Loan {
 public:
  Loan(std::vector<Slot>& slots, WhenFull when_full) : slots_(slots), ring(std::move(slots), when_full) {}
  ~Loan() { slots_ = ring.take_slots(); }
  Loan(const Loan&) = delete;
  Loan& operator=(const Loan&) = delete;

 private:
  std::vector<Slot>& slots_;

 public:
  SlotRing ring;
};

/// A frame in device memory must go to the worker on that device.
queue::Task task_of(const ConstView& pixels, const std::vector<Worker>& workers) {
  queue::Task task;
  if (pixels.memory.is_host()) return task;
  const auto at = std::find_if(workers.begin(), workers.end(), [&](const Worker& worker) {
    return worker.backend == Backend::cuda && worker.device == pixels.memory.device;
  });
  require(at != workers.end(), "frame: its pixels lie on CUDA device ", pixels.memory.device, ", where no worker is");
  task.only = static_cast<int>(at - workers.begin());
  task.bound = true;
  return task;
}

void check_regions(const FrameWork& work, Outside outside, const Frame& frame, std::vector<Region>& regions) {
  for (std::size_t i = 0; i < regions.size(); ++i) try {
      regions[i] =
          checked_region(regions[i], static_cast<std::int64_t>(i), work.shape.width, work.shape.height, outside);
    } catch (const InvalidArgument& error) {
      throw InvalidArgument(sentence("frame ", frame.number, ": ", error.what()));
    }
}

}  // namespace

SequenceReport run_frames(const FrameRun& run, const FrameSource& source, const FrameRegions& regions,
                          const FrameSink& sink) {
  Stages stages(run.options.timeline);
  Loan loan(run.slots, run.options.when_full);
  SlotRing& ring = loan.ring;
  const StageClock clock{[&] { return stages.now(); },
                         [&](StageTime::Stage stage, const Frame& frame, int worker, int lane, double begin,
                             double end) { stages.record(stage, frame, worker, lane, begin, end); },
                         run.options.timeline};
  std::mutex noting;
  queue::QueueOptions options;
  options.capacity =
      2 * static_cast<std::size_t>(run.options.slots) + 1;  // a task may end after its slot is free again
  options.finished = [&](const queue::Task& task, const queue::Outcome& outcome) {
    ring.finish(task.id, outcome.worker, outcome.error);
  };
  options.lost = [&](int, const std::string& why) {
    const std::lock_guard lock(noting);
    if (run.options.note) run.options.note(why);
  };
  SequenceReport report;
  std::exception_ptr failed;  // by the source or the regions: the frames before are answered first
  {
    auto workers = run.workers(ring, clock);
    report.lanes = std::accumulate(workers.begin(), workers.end(), 0,
                                   [](int lanes, const auto& worker) { return lanes + worker->lanes(); });
    queue::TaskQueue queue(std::move(workers), std::move(options));
    Sinking sinking(run, report.lanes, ring, stages, sink);
    Slot* slot = nullptr;
    try {
      while ((slot = ring.take_free()) != nullptr) {
        Frame& frame = slot->frame;
        frame = {};
        frame.pixels = slot->buffer.view();
        const double begin = stages.now();
        const bool more = source(slot->buffer.view(), frame);
        if (!more) break;
        stages.record(StageTime::read, frame, -1, -1, begin, stages.now());
        check_view("frame", frame.pixels, run.work.shape, run.work.type);
        slot->regions.clear();
        regions(frame, slot->regions);
        check_regions(run.work, run.options.outside, frame, slot->regions);
        queue::Task task = task_of(frame.pixels, run.options.workers);
        task.id = ring.publish(*slot);
        slot = nullptr;
        queue.push(task);
      }
    } catch (...) {
      failed = std::current_exception();
    }
    if (slot != nullptr) ring.give_back(*slot);
    ring.close();
    const std::exception_ptr stopped = sinking.join();
    report.answered = sinking.answered();
    if (stopped) failed = stopped;
    for (const queue::WorkerReport& of : queue.report())
      report.workers.push_back({of.name, sinking.answered_by(report.workers.size()), of.busy_seconds, of.lost});
  }  // the workers have ended
  report.produced = ring.produced();
  report.dropped = ring.dropped();
  stages.report(report);
  if (failed) std::rethrow_exception(failed);
  return report;
}

}  // namespace areal::video
