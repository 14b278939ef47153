#include "progress.hpp"

#include <fmt/format.h>
#include <unistd.h>
#include <algorithm>
#include <cstdio>

namespace areal::command {

ProgressBar::ProgressBar(std::string unit, std::optional<std::int64_t> total, bool quiet)
    : unit_(std::move(unit)), total_(total), shown_(!quiet && isatty(STDERR_FILENO) == 1) {}

ProgressBar::~ProgressBar() {
  if (drawn_) std::fputs("\r\x1b[K", stderr);
}

bool ProgressBar::due() const {
  constexpr auto pause = std::chrono::milliseconds(100);
  return shown_ && Clock::now() - last_ >= pause;
}

void ProgressBar::update(std::int64_t done, std::string_view more) {
  if (!due()) return;
  const auto now = last_ = Clock::now();
  drawn_ = true;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  const double rate = static_cast<double>(done - first_) / seconds;
  if (total_ && *total_ > 0) {
    constexpr std::int64_t cells = 30;
    const std::int64_t part = std::min(done, *total_);
    const auto full = static_cast<std::size_t>(cells * part / *total_);
    std::fputs(fmt::format("\r[{}{}] {}/{} {}, {:.0f}/s{}\x1b[K", std::string(full, '#'),
                           std::string(cells - full, ' '), done, *total_, unit_, rate, more)
                   .c_str(),
               stderr);
  } else {
    std::fputs(fmt::format("\r{} {}, {:.0f}/s{}\x1b[K", done, unit_, rate, more).c_str(), stderr);
  }
  std::fflush(stderr);
}

std::string ProgressBar::left(std::int64_t done) const {
  if (!total_ || done <= first_) return {};
  const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
  const auto whole = static_cast<std::int64_t>(seconds / static_cast<double>(done - first_) *
                                               static_cast<double>(std::max<std::int64_t>(*total_ - done, 0)));
  if (whole < 60) return fmt::format(", {} s left", whole);
  if (whole < 3600) return fmt::format(", {} min {} s left", whole / 60, whole % 60);
  return fmt::format(", {} h {} min left", whole / 3600, whole / 60 % 60);
}

void WorkBar::update(std::int64_t done, std::int64_t total) {
  if (!bar_) {
    bar_.emplace(unit_, total, quiet_);
    if (resumes_) bar_->starts_at(done - 1);
  }
  if (bar_->due()) bar_->update(done, bar_->left(done));
}

}  // namespace areal::command
