#pragma once
// One queue of tasks for several workers, of which some may be slow, fail or be lost.
//
// Order: tasks are begun in the order of push. A worker leaves a task to another that is expected to end it sooner, the
// tasks ahead counted (expectation.hpp), so a slow worker takes one from further behind, or none. With one worker the
// order is exact.
// Failures: a task that failed with DeviceError or OutOfMemory returns to its place in the order of push, and another
// worker takes it if one may. Any other exception is final. A task on a worker that was lost is done elsewhere, and
// that attempt does not count. Where no worker lives, what waits and what is pushed fails with the error of the last
// loss. Exactly once: a task that was begun is finished once, done or failed, also when the queue is destroyed; a task
// is never on two lanes at once. Threads: one a lane, and one that watches the time if there are several workers. They
// are the queue's own, so a queue works inside an arena of one oneTBB thread. Nothing polls, and a queue in its steady
// state allocates nothing.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>
#include "queue/task.hpp"

namespace areal::queue {

struct WorkerReport {
  std::string name;
  std::int64_t tasks = 0;       ///< done, without those that left nothing to do
  double busy_seconds = 0;      ///< of all lanes together
  double seconds_per_cost = 0;  ///< of a task alone, as it is expected; 0 before the first
  std::string lost;             ///< why, or empty
};

/// The callbacks are called outside the queue's lock, and may not throw.
struct QueueOptions {
  int attempts = 2;  ///< of a task that fails with DeviceError or OutOfMemory
  /// Called on a lane's thread for each task once, done or failed. It may push and take back, not wait. The lane takes
  /// its next task when it returns.
  std::function<void(const Task&, const Outcome&)> finished = {};
  /// Called on a lane's thread once for a worker that was lost, before its tasks in flight go elsewhere or fail.
  std::function<void(int worker, const std::string& why)> lost = {};
  std::size_t room = 0;  ///< tasks that wait or run at once, for which nothing is allocated later
  /// Seconds, never less than before; std::chrono::steady_clock by default. It may be called under the queue's lock.
  std::function<double()> clock = {};
};

class TaskQueue {
 public:
  /// Starts the lanes. Throws InvalidArgument without workers, for one without lanes, and for less than one attempt.
  explicit TaskQueue(std::vector<std::unique_ptr<TaskWorker>> workers, QueueOptions options = {});
  /// Tasks not begun are left out: `finished` is not called for them. Waits for those that run, and does not retry
  /// them.
  ~TaskQueue();
  TaskQueue(const TaskQueue&) = delete;
  TaskQueue& operator=(const TaskQueue&) = delete;

  /// Never waits for a worker. Throws InvalidArgument for a cost that is not positive and finite, and for a worker that
  /// there is not.
  void push(const Task& task);
  /// All or none; none is begun before all are there.
  void push_all(const std::vector<Task>& tasks);
  /// Until nothing waits, nothing runs and all callbacks have returned. Not for a callback, nor for a oneTBB task that
  /// holds one of the threads that the workers need.
  void wait_idle();
  /// Removes and returns what has not begun, in the order of push. A task that waits for another attempt stays.
  std::vector<Task> take_back();
  std::vector<WorkerReport> report() const;
  int living() const;

 private:
  class Threads;
  std::unique_ptr<Threads> threads_;
};

}  // namespace areal::queue
