#include "view/worker.hpp"

#include <algorithm>
#include <utility>

namespace areal::command::page {

Worker::Worker() : thread_([this] { run(); }) {}

Worker::~Worker() {
  {
    const std::lock_guard held(lock_);
    ends_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void Worker::post(Urgency urgency, std::function<void()> job) {
  {
    const std::lock_guard held(lock_);
    jobs_[static_cast<std::size_t>(urgency)].push_back(std::move(job));
  }
  changed_.notify_one();
}

void Worker::run() {
  std::unique_lock held(lock_);
  while (true) {
    const auto next = std::find_if(jobs_.begin(), jobs_.end(), [](const auto& queue) { return !queue.empty(); });
    if (ends_) return;
    if (next == jobs_.end()) {
      changed_.wait(held);
      continue;
    }
    const std::function<void()> job = std::move(next->front());
    next->pop_front();
    held.unlock();
    job();
    held.lock();
  }
}

}  // namespace areal::command::page
