#pragma once
// Cancellation of a caller's work: parallel_ranges, wavefront and in_order poll it between pieces.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <thread>

namespace areal::cpu {

/// Active on its thread from the constructor to the destructor.
class Cancellation {
 public:
  explicit Cancellation(std::function<bool()> go_on);
  ~Cancellation();
  Cancellation(const Cancellation&) = delete;
  Cancellation& operator=(const Cancellation&) = delete;

  /// The innermost of the calling thread, or null.
  static Cancellation* current() noexcept;
  /// False once the work must stop. Any thread may call it: the one that made this polls the callback every `interval`,
  /// the others read the result.
  bool go_on() {
    if (stopped_.load(std::memory_order_relaxed)) return false;
    return std::this_thread::get_id() != thread_ || ask();
  }
  /// Throws Cancelled if the work must stop.
  void check() const;

 private:
  bool ask();
  static constexpr std::chrono::milliseconds interval{50};
  const std::function<bool()> go_on_;
  const std::thread::id thread_ = std::this_thread::get_id();
  Cancellation* const outer_;
  std::chrono::steady_clock::time_point next_ = std::chrono::steady_clock::now() + interval;  // of its thread
  std::atomic<bool> stopped_{false};
};

}  // namespace areal::cpu
