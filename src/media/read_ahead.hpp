#pragma once
// Reads a few frames ahead of the consumer, on a separate thread.

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

namespace areal::media {

template <class Frame>
class ReadAhead {
 public:
  // `read` returns the next frame, or false at the end. From now on only the thread calls it; it is `most` frames ahead
  // and holds one more. `stop`, if given, ends a wait of `read`.
  ReadAhead(std::function<bool(Frame&)> read, std::size_t most, std::function<void()> stop = {})
      : read_(std::move(read)), stop_(std::move(stop)), most_(most), thread_([this] { run(); }) {}
  ~ReadAhead() { end(); }
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  // The next frame; false at the end, or once `stops`, which is polled while no frame arrives, returns true.
  // Throws what `read` threw, after the frames before.
  bool next(Frame& frame, const std::function<bool()>& stops = {}) {
    constexpr std::chrono::milliseconds a_while(50);
    std::unique_lock lock(mutex_);
    while (!ended_ && ready_.empty()) {
      if (!stops) {
        changed_.wait(lock);
        continue;
      }
      if (stops()) return false;
      changed_.wait_for(lock, a_while);
    }
    if (ready_.empty()) {
      at_end_ = true;
      if (error_) std::rethrow_exception(error_);
      return false;
    }
    frame = std::move(ready_.front());
    ready_.pop_front();
    changed_.notify_all();
    return true;
  }
  // True once next() has returned the end; `read` is not called any more then.
  bool at_end() const { return at_end_; }

  // Waits until `read` has returned for the last time.
  void end() {
    {
      const std::lock_guard lock(mutex_);
      stopped_ = true;
      changed_.notify_all();
    }
    if (!thread_.joinable()) return;
    if (stop_) stop_();
    thread_.join();
  }

 private:
  void run() {
    std::exception_ptr error;
    try {
      for (Frame frame; read_(frame); frame = {}) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return stopped_ || ready_.size() < most_; });
        if (stopped_) break;
        ready_.push_back(std::move(frame));
        changed_.notify_all();
      }
    } catch (...) {
      error = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    error_ = std::move(error);
    ended_ = true;
    changed_.notify_all();
  }

  const std::function<bool(Frame&)> read_;
  const std::function<void()> stop_;
  const std::size_t most_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Frame> ready_;
  bool stopped_ = false, ended_ = false, at_end_ = false;
  std::exception_ptr error_;
  std::thread thread_;
};

}  // namespace areal::media
