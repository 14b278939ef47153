#pragma once
// One piece of work, who does it, and what became of it.

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace areal::queue {

/// One piece of work. What it means is known to the workers.
struct Task {
  std::int64_t id = 0;
  double cost = 1;               ///< in any unit, the same for all tasks of a queue; positive
  std::optional<int> only = {};  ///< the worker that must take it while it lives: a tracked stream, a frame on a device
  bool bound = false;            ///< with `only`: no other worker can; the task fails if that one is lost
};

/// A device, or some threads, that take tasks. `lanes` tasks may be in flight at once, each on a thread of its own that
/// the queue starts.
class TaskWorker {
 public:
  virtual ~TaskWorker() = default;
  virtual std::string name() const = 0;  ///< "cuda:0", "cpu:8": for notes and errors
  virtual int lanes() const = 0;
  virtual bool shared() const { return false; }  ///< the lanes share one device: side by side, tasks take longer
  /// Called once on the lane's thread, when the queue starts it. What takes long only once belongs here: the time of
  /// the first task is the worker's first measurement. What it throws loses the worker.
  virtual void begin(int lane);
  /// Does the task; returns when it has been done. False: there was nothing to do any more, so that the time it took
  /// says nothing of the worker. Throws DeviceError with lost() where the worker can take no more tasks.
  virtual bool work(int lane, const Task& task) = 0;
};

/// What a test puts around worker `number` of a run, to plant failures.
using WrapWorker = std::function<std::unique_ptr<TaskWorker>(std::unique_ptr<TaskWorker> worker, int number)>;

struct Outcome {
  int worker = -1;  ///< that did the task or failed last; -1 if none began it
  int lane = 0;
  double begin = 0, end = 0;  ///< of the last attempt, in seconds of the queue's clock
  int attempts = 0;           ///< those that ended with the worker's loss left out
  std::exception_ptr error;   ///< null if the task was done
};

}  // namespace areal::queue
