#pragma once
// A few frames decoded on a thread of its own, ahead of whoever asks for them.

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include "media/media.hpp"

namespace areal::media {

class ReadAhead {
 public:
  // `decode` gives the next frame, or false at the end; the thread alone calls it. Waits of its own end with `stop`.
  ReadAhead(std::function<bool(LumaFrame&)> decode, std::function<void()> stop, std::size_t most)
      : decode_(std::move(decode)), stop_(std::move(stop)), most_(most), thread_([this] { run(); }) {}
  ~ReadAhead() {
    {
      const std::lock_guard lock(mutex_);
      stopped_ = true;
      changed_.notify_all();
    }
    stop_();
    thread_.join();
  }
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  // The next frame; false at the end, once decode will be called no more. Throws what decode threw.
  bool next(LumaFrame& frame) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return ended_ || !ready_.empty(); });
    if (ready_.empty()) {
      told_end_ = true;
      if (error_) std::rethrow_exception(error_);
      return false;
    }
    frame = std::move(ready_.front());
    ready_.pop_front();
    changed_.notify_all();
    return true;
  }
  // Has next() told the end?
  bool told_end() const { return told_end_; }

 private:
  void run() {
    std::exception_ptr error;
    try {
      for (LumaFrame frame; decode_(frame);) {
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
    error_ = error;
    ended_ = true;
    changed_.notify_all();
  }

  std::function<bool(LumaFrame&)> decode_;
  std::function<void()> stop_;
  std::size_t most_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<LumaFrame> ready_;
  bool stopped_ = false, ended_ = false, told_end_ = false;
  std::exception_ptr error_;
  std::thread thread_;
};

}  // namespace areal::media
