#pragma once
// One queue of tasks for several workers, some of which may be slow, fail or be lost.
//
// Order: tasks are begun in the order of push. A worker leaves a task to another that is expected to end it sooner,
// including the tasks ahead (expectation.hpp), so a slow worker takes one from further behind, or none. With one worker
// the order is exact. Failures: a task that failed with DeviceError or OutOfMemory returns to its place in the order of
// push, and another worker does it if one may. Any other exception is final. A task on a worker that was lost is done
// elsewhere, and that attempt does not count. If no worker lives, waiting and pushed tasks fail with the error of the
// last loss. Exactly once: a task that was begun is finished once, done or failed, also when the queue is destroyed; a
// task is never on two lanes at once. Threads: one a lane, and one that watches the time if there are several workers.
// They are the queue's own, so a queue works inside an arena of one oneTBB thread. Nothing polls, and a queue in its
// steady state allocates nothing.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>
#include "queue/task.hpp"

namespace areal::queue {

struct WorkerReport {
  std::string name;
  std::int64_t tasks = 0;       ///< done, excluding those that left nothing to do
  double busy_seconds = 0;      ///< of all lanes together
  double seconds_per_cost = 0;  ///< expected for a task alone; 0 before the first
  std::string lost;             ///< why, or empty
};

/// Callbacks run outside the queue's lock, and must not throw.
struct QueueOptions {
  int attempts = 2;  ///< for a task that fails with DeviceError or OutOfMemory
  /// Called on a lane's thread for each task once, done or failed. May call push and take_back, but not wait. The lane
  /// gets its next task when it returns.
  std::function<void(const Task&, const Outcome&)> finished = {};
  /// Called on a lane's thread once for a lost worker, before its tasks in flight are moved or fail.
  std::function<void(int worker, const std::string& why)> lost = {};
  std::size_t capacity = 0;  ///< waiting and running tasks for which the queue allocates in advance
  /// Monotonic seconds; std::chrono::steady_clock by default. May be called under the queue's lock.
  std::function<double()> clock = {};
};

class TaskQueue {
 public:
  /// Starts the lanes. Throws InvalidArgument without workers, for one without lanes, and for less than one attempt.
  explicit TaskQueue(std::vector<std::unique_ptr<TaskWorker>> workers, QueueOptions options = {});
  /// Drops tasks not begun, without calling `finished`. Waits for running ones, and does not retry them.
  ~TaskQueue();
  TaskQueue(const TaskQueue&) = delete;
  TaskQueue& operator=(const TaskQueue&) = delete;

  /// Does not wait. Throws InvalidArgument for a cost that is not positive and finite, and for a worker out of range.
  void push(const Task& task);
  /// All or none; none is begun before all are queued.
  void push_all(const std::vector<Task>& tasks);
  /// Waits until no task waits or runs and all callbacks have returned. Must not be called from a callback, nor from a
  /// oneTBB task that occupies a thread that the workers need.
  void wait_idle();
  /// Removes and returns the tasks not begun, in the order of push. Tasks that wait for another attempt stay.
  std::vector<Task> take_back();
  std::vector<WorkerReport> report() const;
  int living() const;

 private:
  class Threads;
  std::unique_ptr<Threads> threads_;
};

}  // namespace areal::queue
