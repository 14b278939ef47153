#pragma once
// A progress bar on standard error, only on a terminal and without --quiet.

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace areal::command {

class ProgressBar {
 public:
  /// `unit` is a plural ("frames"). Without a total, only a count is drawn.
  ProgressBar(std::string unit, std::optional<std::int64_t> total, bool quiet);
  /// Wipes the bar.
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  /// Units done before the start; the rate does not count them.
  void starts_at(std::int64_t done) noexcept { first_ = done; }
  /// Draws `more` after the rate.
  void update(std::int64_t done, std::string_view more = {});
  bool shown() const noexcept { return shown_; }
  /// Would an update draw? The bar redraws a few times a second.
  bool due() const;
  /// ", 3 min 20 s left" at the rate so far; empty without a total.
  std::string left(std::int64_t done) const;

 private:
  using Clock = std::chrono::steady_clock;
  std::string unit_;
  std::optional<std::int64_t> total_;
  bool shown_, drawn_ = false;
  std::int64_t first_ = 0;
  Clock::time_point start_ = Clock::now(), last_ = start_;
};

/// A progress bar with the remaining time. It appears with the first update.
class WorkBar {
 public:
  /// `resumes`: the rate leaves out the units done before the first update.
  WorkBar(std::string unit, bool quiet, bool resumes = false)
      : unit_(std::move(unit)), quiet_(quiet), resumes_(resumes) {}
  void update(std::int64_t done, std::int64_t total);
  void wipe() { bar_.reset(); }
  /// Updates the bar and never cancels.
  std::function<bool(std::int64_t, std::int64_t)> progress() {
    return [this](std::int64_t done, std::int64_t total) {
      update(done, total);
      return true;
    };
  }

 private:
  std::string unit_;
  bool quiet_, resumes_;
  std::optional<ProgressBar> bar_;
};

}  // namespace areal::command
