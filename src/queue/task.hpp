#pragma once
// One task, its worker, and its outcome.

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace areal::queue {

/// One piece of work. Its meaning is known to the workers.
struct Task {
  std::int64_t id = 0;
  double cost = 1;               ///< in any unit, the same for all tasks of a queue; positive
  std::optional<int> only = {};  ///< the worker that must do it while it lives: a tracked stream, a frame on a device
  bool bound = false;            ///< with `only`: no other worker can; the task fails if that one is lost
};

/// A device, or some threads, that do tasks. `lanes` tasks may be in flight at once, each on its own thread, which the
/// queue starts.
class TaskWorker {
 public:
  virtual ~TaskWorker() = default;
  virtual std::string name() const = 0;  ///< "cuda:0", "cpu:8": for notes and errors
  virtual int lanes() const = 0;
  virtual bool shared() const { return false; }  ///< the lanes share one device: tasks in parallel take longer
  /// Called once on the lane's thread, when the queue starts it. One-time work belongs here, as the first task's time
  /// is the worker's first measurement. An exception loses the worker.
  virtual void begin(int lane);
  /// Does the task, to completion. Returns false if nothing was left to do, so that its time does not count as a
  /// measurement. Throws DeviceError with lost() if the worker can do no more tasks.
  virtual bool work(int lane, const Task& task) = 0;
};

/// Lets a test wrap worker `number` of a run, to inject failures.
using WrapWorker = std::function<std::unique_ptr<TaskWorker>(std::unique_ptr<TaskWorker> worker, int number)>;

struct Outcome {
  int worker = -1;  ///< that did the task or failed last; -1 if none began it
  int lane = 0;
  double begin = 0, end = 0;  ///< of the last attempt, in seconds of the queue's clock
  int attempts = 0;           ///< excluding those that ended with the worker's loss
  std::exception_ptr error;   ///< null if the task was done
};

}  // namespace areal::queue
