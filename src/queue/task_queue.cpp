#include "queue/task_queue.hpp"
#include "queue/queue_threads.hpp"

namespace areal::queue {

void TaskWorker::begin(int /*lane*/) {}

TaskQueue::TaskQueue(std::vector<std::unique_ptr<TaskWorker>> workers, QueueOptions options)
    : threads_(std::make_unique<Threads>(std::move(workers), std::move(options))) {}
TaskQueue::~TaskQueue() = default;

void TaskQueue::push(const Task& task) { threads_->push(&task, 1); }
void TaskQueue::push_all(const std::vector<Task>& tasks) { threads_->push(tasks.data(), tasks.size()); }
void TaskQueue::wait_idle() { threads_->wait_idle(); }
std::vector<Task> TaskQueue::take_back() { return threads_->take_back(); }
std::vector<WorkerReport> TaskQueue::report() const { return threads_->report(); }
int TaskQueue::living() const { return threads_->living(); }

}  // namespace areal::queue
