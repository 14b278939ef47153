#pragma once
// What the threads of a spread table's strips tell each other: which bands of a part are done on the CPU, or have their
// event recorded on CUDA. Only the strip below waits.

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <vector>

namespace areal::pieces {

class SpreadOrder {
 public:
  explicit SpreadOrder(std::size_t parts) : bands_(parts, 0) {}

  /// The part's next band is done.
  void publish(std::size_t part) {
    const std::lock_guard lock(mutex_);
    ++bands_[part];
    changed_.notify_all();
  }
  /// Until that band of the part is done. False where the run has failed.
  bool wait(std::size_t part, std::size_t band) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return stopped_ || bands_[part] > band; });
    return !stopped_;
  }
  void stop() {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::size_t> bands_;
  bool stopped_ = false;
};

}  // namespace areal::pieces
