#pragma once
// One thread that computes answers, the most urgent first.

#include <array>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace areal::command::page {

class Worker {
 public:
  enum class Urgency : std::uint8_t { regions, tiles, exports };

  Worker();
  /// Finishes the current job and drops all others.
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Jobs of equal urgency run in order. `job` may not throw.
  void post(Urgency urgency, std::function<void()> job);

 private:
  void run();

  std::mutex lock_;
  std::condition_variable changed_;
  std::array<std::deque<std::function<void()>>, 3> jobs_;
  bool ends_ = false;
  std::thread thread_;  // last: it uses the others
};

}  // namespace areal::command::page
