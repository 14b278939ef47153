#include "queue/queue_threads.hpp"
#include <algorithm>
#include <areal/error.hpp>
#include <chrono>
#include <cmath>
#include <utility>
#include "api/core/require.hpp"

namespace areal::queue {

namespace {

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

QueueOptions with_clock(QueueOptions options) {
  if (!options.clock) options.clock = steady_seconds;
  return options;
}

std::vector<int> lanes_of(const std::vector<std::unique_ptr<TaskWorker>>& workers) {
  require(!workers.empty(), "a queue of tasks needs a worker");
  std::vector<int> lanes;
  for (const auto& worker : workers) {
    require(worker != nullptr, "worker ", lanes.size(), " is null");
    lanes.push_back(worker->lanes());
    require(lanes.back() > 0, "worker ", worker->name(), " has ", lanes.back(), " lanes: at least one is needed");
  }
  return lanes;
}

Expectation expectation_of(const std::vector<std::unique_ptr<TaskWorker>>& workers) {
  const std::vector<int> lanes = lanes_of(workers);
  std::vector<bool> shared;
  for (const auto& worker : workers) shared.push_back(worker->shared());
  return Expectation(lanes, shared);
}

}  // namespace

/// An exception of a worker.
struct TaskQueue::Threads::Failure {
  std::exception_ptr error;
  std::string why;
  bool retried = false, lost = false;

  template <class Call>
  static Failure of(Call&& call) {
    try {
      call();
      return {};
    } catch (const DeviceError& e) {
      return {std::current_exception(), e.what(), true, e.lost()};
    } catch (const OutOfMemory& e) {
      return {std::current_exception(), e.what(), true, false};
    } catch (const std::exception& e) {
      return {std::current_exception(), e.what(), false, false};
    } catch (...) {
      return {std::current_exception(), "an exception that is no std::exception", false, false};
    }
  }
};

TaskQueue::Threads::Threads(std::vector<std::unique_ptr<TaskWorker>> workers, QueueOptions options)
    : options_(with_clock(std::move(options))),
      expectation_(expectation_of(workers)),
      waiting_(static_cast<int>(workers.size())) {
  require(options_.attempts >= 1, options_.attempts, " attempts: at least one is needed");
  waiting_.reserve(options_.capacity);
  for (auto& worker : workers) {
    Member member;
    member.report.name = worker->name();
    for (int lane = 0; lane < expectation_.lanes(static_cast<int>(members_.size())); ++lane) {
      member.lanes.push_back(std::make_unique<LaneThread>());
      member.lanes.back()->at = {static_cast<int>(members_.size()), lane};
    }
    member.worker = std::move(worker);
    members_.push_back(std::move(member));
  }
  try {
    start();
  } catch (...) {  // the system provides no more threads
    stop();
    throw;
  }
}

TaskQueue::Threads::~Threads() { stop(); }

void TaskQueue::Threads::start() {
  for (Member& member : members_)
    for (auto& lane : member.lanes) lane->thread = std::thread([this, &lane = *lane] { run(lane); });
  if (members_.size() > 1) watch_ = std::thread([this] { watch(); });
}

void TaskQueue::Threads::stop() {
  {
    const Lock lock(mutex_);
    stopping_ = true;
    leave_out();
    watched_.notify_all();
    for (Member& member : members_)
      for (auto& lane : member.lanes) lane->woken.notify_one();
  }
  for (Member& member : members_)
    for (auto& lane : member.lanes)
      if (lane->thread.joinable()) lane->thread.join();
  if (watch_.joinable()) watch_.join();
}

void TaskQueue::Threads::push(const Task* tasks, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    require(std::isfinite(tasks[i].cost) && tasks[i].cost > 0, "task ", tasks[i].id, " costs ", tasks[i].cost,
            ": a positive number is needed");
    require(!tasks[i].only || (*tasks[i].only >= 0 && *tasks[i].only < static_cast<int>(members_.size())), "task ",
            tasks[i].id, " is for worker ", tasks[i].only.value_or(0), " of ", members_.size());
  }
  const Lock lock(mutex_);
  if (stopping_) return;
  for (std::size_t i = 0; i < count; ++i) {
    Entries one = waiting_.entry_of(tasks[i]);
    if (expectation_.living() == 0)
      condemn(std::move(one), last_loss_);
    else if (tasks[i].only && tasks[i].bound && !expectation_.lives(*tasks[i].only))
      condemn(std::move(one), member_of(*tasks[i].only).loss);
    else
      waiting_.add(one);
  }
  give_out();
}

void TaskQueue::Threads::wait_idle() {
  Lock lock(mutex_);
  idle_.wait(lock, [&] { return waiting_.empty() && condemned_.empty() && in_hand_ == 0; });
}

std::vector<Task> TaskQueue::Threads::take_back() {
  const Lock lock(mutex_);
  Entries entries = waiting_.take(true);
  std::vector<Task> tasks;
  for (const Entry& entry : entries) tasks.push_back(entry.task);
  waiting_.reuse(entries);
  tell_idle();
  return tasks;
}

std::vector<WorkerReport> TaskQueue::Threads::report() const {
  const Lock lock(mutex_);
  std::vector<WorkerReport> reports;
  for (const Member& member : members_) {
    const int worker = static_cast<int>(reports.size());
    reports.push_back(member.report);
    reports.back().seconds_per_cost = expectation_.seconds_per_cost(worker);
  }
  return reports;
}

int TaskQueue::Threads::living() const {
  const Lock lock(mutex_);
  return expectation_.living();
}

void TaskQueue::Threads::run(LaneThread& lane) {
  Lock lock(mutex_);
  if (!stopping_ && begin(lane, lock)) {
    expectation_.ready(lane.at);
    give_out();
  }
  for (;;) {
    const bool takes_none = stopping_ || !expectation_.lives(lane.at.worker);
    if (!lane.given.empty())
      work(lane, lock);
    else if (takes_none && !condemned_.empty())
      fail_one(lock);
    else if (stopping_)
      return;
    else
      lane.woken.wait(lock);
  }
}

bool TaskQueue::Threads::begin(LaneThread& lane, Lock& lock) {
  lock.unlock();
  const Failure failure = Failure::of([&] { member_of(lane.at.worker).worker->begin(lane.at.lane); });
  lock.lock();
  if (failure.error) lose(lane.at.worker, failure, lock);
  return !failure.error;
}

void TaskQueue::Threads::work(LaneThread& lane, Lock& lock) {
  Entries one;
  one.splice(one.begin(), lane.given);
  Entry& entry = one.front();
  Outcome& outcome = entry.outcome;
  outcome.worker = lane.at.worker, outcome.lane = lane.at.lane;
  Member& member = member_of(lane.at.worker);
  lock.unlock();
  outcome.begin = options_.clock();
  bool has_worked = false;
  const Failure failure = Failure::of([&] { has_worked = member.worker->work(lane.at.lane, entry.task); });
  outcome.end = options_.clock();
  outcome.error = failure.error;
  lock.lock();
  member.report.busy_seconds += outcome.end - outcome.begin;
  if (failure.lost) {
    lose(lane.at.worker, failure, lock);
    outcome.error = member.loss;
  }
  if (retries(failure, entry)) {
    entry.avoid = lane.at.worker;
    waiting_.put_back(one);
    --in_hand_;
  } else {
    if (has_worked) {
      ++member.report.tasks;
      expectation_.measure(lane.at.worker, expectation_.load(lane.at), outcome.end - outcome.begin);
    }
    finish(one, lock);
  }
  expectation_.ready(lane.at);
  give_out();
}

// True if the task waits for another attempt. Counts the attempt.
bool TaskQueue::Threads::retries(const Failure& failure, Entry& entry) const {
  const bool lives = expectation_.lives(entry.outcome.worker);
  if (lives || !failure.retried) ++entry.outcome.attempts;
  if (!failure.retried || stopping_ || expectation_.living() == 0) return false;
  if (lives) return entry.outcome.attempts < options_.attempts;
  return !(entry.task.bound && entry.task.only == entry.outcome.worker);
}

void TaskQueue::Threads::finish(Entries& one, Lock& lock) {
  lock.unlock();
  if (options_.finished) options_.finished(one.front().task, one.front().outcome);
  lock.lock();
  waiting_.reuse(one);
  --in_hand_;
  tell_idle();
}

void TaskQueue::Threads::fail_one(Lock& lock) {
  Entries one;
  one.splice(one.begin(), condemned_, condemned_.begin());
  ++in_hand_;
  finish(one, lock);
}

void TaskQueue::Threads::lose(int worker, const Failure& failure, Lock& lock) {
  if (!expectation_.lives(worker)) return;
  Member& member = member_of(worker);
  expectation_.lose(worker);
  member.report.lost = failure.why;
  const std::string why = member.report.name + " is lost: " + failure.why;
  member.loss = last_loss_ = failure.lost ? std::make_exception_ptr(DeviceError(why, true)) : failure.error;
  for (auto& lane : member.lanes) {  // its thread has not woken yet
    if (lane->given.empty()) continue;
    waiting_.put_back(lane->given);
    expectation_.ready(lane->at);
    --in_hand_;
  }
  condemn(waiting_.lose(worker), member.loss);
  if (expectation_.living() == 0) condemn(waiting_.take(false), last_loss_);
  if (stopping_) leave_out();
  give_out();
  ++in_hand_;
  lock.unlock();
  if (options_.lost) options_.lost(worker, why);
  lock.lock();
  --in_hand_;
  tell_idle();
}

// With null as the error, each keeps that of its last attempt.
void TaskQueue::Threads::condemn(Entries entries, const std::exception_ptr& error) {
  if (entries.empty()) return;
  if (error)
    for (Entry& entry : entries) entry.outcome.error = error;
  condemned_.splice(condemned_.end(), entries);
  for (Member& member : members_)
    for (auto& lane : member.lanes)
      if (stopping_ || !expectation_.lives(lane->at.worker)) lane->woken.notify_one();
}

void TaskQueue::Threads::leave_out() {
  Entries waiting = waiting_.take(false);
  waiting.remove_if([](const Entry& entry) { return !entry.begun(); });
  condemn(std::move(waiting), nullptr);
}

void TaskQueue::Threads::give_out() {
  if (stopping_ || waiting_.empty()) return;
  waiting_.begin_now(expectation_, options_.clock(), [this](LaneOf at, Entries& one) {
    LaneThread& lane = *member_of(at.worker).lanes[static_cast<std::size_t>(at.lane)];
    lane.given.splice(lane.given.end(), one);
    ++in_hand_;
    lane.woken.notify_one();
  });
  if (expectation_.again() >= watch_until_) return;
  watch_until_ = expectation_.again();
  watched_.notify_one();
}

// Distributes tasks again when a lane's overrun makes another worker the sooner one.
void TaskQueue::Threads::watch() {
  constexpr double shortest = 50e-6, longest = 3600;
  Lock lock(mutex_);
  while (!stopping_) {
    if (watch_until_ == Expectation::never) {
      watched_.wait(lock);
    } else if (const double left = watch_until_ - options_.clock(); left > 0) {
      watched_.wait_for(lock, std::chrono::duration<double>(std::clamp(left, shortest, longest)));
    } else {
      watch_until_ = Expectation::never;
      give_out();
      // Two expectations can overtake each other for ever: without a pause this thread would block the lanes' lock.
      watched_.wait_for(lock, std::chrono::duration<double>(shortest));
    }
  }
}

void TaskQueue::Threads::tell_idle() {
  if (waiting_.empty() && condemned_.empty() && in_hand_ == 0) idle_.notify_all();
}

}  // namespace areal::queue
