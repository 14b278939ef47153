#pragma once
// The next frames of one input, decoded on a thread of its own.

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include "media/media.hpp"

namespace areal::command {

class ReadAhead {
 public:
  /// `read` gives the next frame, or false at the end. From now on it is called by the thread alone, which is `most`
  /// frames ahead and has one more in its hands.
  ReadAhead(std::function<bool(media::LumaFrame&)> read, std::size_t most)
      : read_(std::move(read)), most_(most), thread_([this] { run(); }) {}
  ~ReadAhead() { end(); }
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  /// The next frame; false at the end, or once `stops` says so, which is asked again and again while nothing comes.
  /// Throws what `read` threw, after the frames before.
  bool next(media::LumaFrame& frame, const std::function<bool()>& stops) {
    constexpr std::chrono::milliseconds a_while(50);
    std::unique_lock lock(mutex_);
    while (!ended_ && ready_.empty()) {
      if (stops && stops()) return false;
      changed_.wait_for(lock, a_while);
    }
    if (ready_.empty()) {
      if (error_) std::rethrow_exception(error_);
      return false;
    }
    frame = std::move(ready_.front());
    ready_.pop_front();
    changed_.notify_all();
    return true;
  }

  /// Waits until `read` has returned and is called no more.
  void end() {
    {
      const std::lock_guard lock(mutex_);
      stopped_ = true;
      changed_.notify_all();
    }
    if (thread_.joinable()) thread_.join();
  }

 private:
  void run() {
    std::exception_ptr error;
    try {
      media::LumaFrame frame;
      while (read_(frame)) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return stopped_ || ready_.size() < most_; });
        if (stopped_) break;
        ready_.push_back(std::move(frame));
        changed_.notify_all();
        frame = {};
      }
    } catch (...) {
      error = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    error_ = std::move(error);
    ended_ = true;
    changed_.notify_all();
  }

  const std::function<bool(media::LumaFrame&)> read_;
  const std::size_t most_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<media::LumaFrame> ready_;
  bool stopped_ = false, ended_ = false;
  std::exception_ptr error_;
  std::thread thread_;
};

}  // namespace areal::command
