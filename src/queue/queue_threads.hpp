#pragma once
// The state of a TaskQueue: its lanes' threads and their shared data, all under one lock.

#include <condition_variable>
#include <mutex>
#include <thread>
#include "queue/expectation.hpp"
#include "queue/task_queue.hpp"
#include "queue/waiting_tasks.hpp"

namespace areal::queue {

class TaskQueue::Threads {
 public:
  Threads(std::vector<std::unique_ptr<TaskWorker>> workers, QueueOptions options);
  ~Threads();
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

  void push(const Task* tasks, std::size_t count);
  void wait_idle();
  std::vector<Task> take_back();
  std::vector<WorkerReport> report() const;
  int living() const;

 private:
  using Lock = std::unique_lock<std::mutex>;
  struct LaneThread {
    LaneOf at;
    Entries given;  // the task in progress, or empty
    std::condition_variable woken;
    std::thread thread;
  };
  struct Member {
    std::unique_ptr<TaskWorker> worker;
    WorkerReport report;
    std::exception_ptr loss;
    std::vector<std::unique_ptr<LaneThread>> lanes;
  };
  struct Failure;

  void start();
  void stop();
  void run(LaneThread& lane);
  bool begin(LaneThread& lane, Lock& lock);
  void work(LaneThread& lane, Lock& lock);
  bool retries(const Failure& failure, Entry& entry) const;
  void finish(Entries& one, Lock& lock);
  void fail_one(Lock& lock);
  void lose(int worker, const Failure& failure, Lock& lock);
  void condemn(Entries entries, const std::exception_ptr& error);
  void leave_out();
  void give_out();
  void watch();
  void tell_idle();
  Member& member_of(int worker) { return members_[static_cast<std::size_t>(worker)]; }

  const QueueOptions options_;
  mutable std::mutex mutex_;
  std::condition_variable idle_, watched_;
  std::vector<Member> members_;
  Expectation expectation_;
  WaitingTasks waiting_;
  Entries condemned_;  // to be finished with their errors, by lanes without tasks
  std::exception_ptr last_loss_;
  std::int64_t in_hand_ = 0;  // tasks on lanes, including their callbacks
  double watch_until_ = Expectation::never;
  bool stopping_ = false;
  std::thread watch_;
};

}  // namespace areal::queue
