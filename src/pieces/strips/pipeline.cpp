#include "pieces/strips/pipeline.hpp"
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include "cpu/cancellation.hpp"

namespace areal::pieces {
namespace {

constexpr std::chrono::milliseconds poll_interval{50};  // as cpu::Cancellation asks

class Run {
 public:
  Run(std::int64_t n, const Stages& stages) : n_(n), stages_(stages) {}

  bool operator()() {
    std::thread reader, giver;
    try {
      reader = std::thread([this] { loop(&Run::read_next); });
      giver = std::thread([this] { loop(&Run::give_next); });
      compute();
    } catch (...) {
      stop(std::current_exception());
    }
    if (reader.joinable()) reader.join();
    if (giver.joinable()) giver.join();
    if (error_) std::rethrow_exception(error_);
    tell();
    return !ended_;
  }

 private:
  void stop(std::exception_ptr error) {
    const std::lock_guard lock(mutex_);
    if (!error_ && !ended_) error_ = std::move(error);
    stopped_ = true;
    changed_.notify_all();
  }

  /// Until the condition holds; false where the run is to stop. The lock is held then and given back.
  template <class Ready>
  bool wait(std::unique_lock<std::mutex>& lock, const Ready& ready) {
    changed_.wait(lock, [&] { return stopped_ || ready(); });
    return !stopped_;
  }

  void loop(bool (Run::*next)(std::int64_t)) {
    try {
      for (std::int64_t k = 0; k < n_; ++k)
        if (!(this->*next)(k)) return;
    } catch (...) {
      stop(std::current_exception());
    }
  }

  bool read_next(std::int64_t k) {
    std::unique_lock lock(mutex_);
    if (!wait(lock, [&] { return k < computed_ + slots; })) return false;
    lock.unlock();
    stages_.read(k);
    lock.lock();
    read_ = k + 1;
    changed_.notify_all();
    return true;
  }

  bool give_next(std::int64_t k) {
    std::unique_lock lock(mutex_);
    if (!wait(lock, [&] { return k < computed_; })) return false;
    lock.unlock();
    const bool go_on = stages_.give(k);
    lock.lock();
    given_ = k + 1;
    if (!go_on && !error_) ended_ = stopped_ = true;
    changed_.notify_all();
    return go_on;
  }

  void compute() {
    for (std::int64_t k = 0; k < n_; ++k) {
      const auto ready = [&] { return k < read_ && k < given_ + slots; };
      if (!wait_and_tell(ready)) return;
      stages_.compute(k);
      const std::lock_guard lock(mutex_);
      computed_ = k + 1;
      changed_.notify_all();
    }
    wait_and_tell([&] { return given_ == n_; });
  }

  // As `wait`, on the caller's thread, which tells what was given meanwhile and asks whether it is to go on.
  template <class Ready>
  bool wait_and_tell(const Ready& ready) {
    for (;;) {
      tell();
      if (cpu::Cancellation* const cancellation = cpu::Cancellation::current()) {
        cancellation->go_on();
        cancellation->check();
      }
      std::unique_lock lock(mutex_);
      const std::int64_t reported = reported_;
      changed_.wait_for(lock, poll_interval, [&] { return stopped_ || ready() || given_ > reported; });
      if (stopped_) return false;
      if (given_ == reported && ready()) return true;
    }
  }
  void tell() {
    for (;;) {
      {
        const std::lock_guard lock(mutex_);
        if (reported_ == given_) return;
        ++reported_;
      }
      if (stages_.given) stages_.given(reported_ - 1);
    }
  }

  const std::int64_t n_;
  const Stages& stages_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::int64_t read_ = 0, computed_ = 0, given_ = 0;  // strips that have passed each stage
  std::int64_t reported_ = 0;
  bool stopped_ = false, ended_ = false;
  std::exception_ptr error_;
};

}  // namespace

bool run_stages(std::int64_t n, const Stages& stages) { return Run(n, stages)(); }

}  // namespace areal::pieces
