#include "cpu/cancellation.hpp"

#include <areal/error.hpp>
#include <utility>

namespace areal::cpu {
namespace {
thread_local Cancellation* innermost = nullptr;
}

Cancellation::Cancellation(std::function<bool()> go_on)
    : go_on_(std::move(go_on)), outer_(std::exchange(innermost, this)) {}
Cancellation::~Cancellation() { innermost = outer_; }
Cancellation* Cancellation::current() noexcept { return innermost; }

bool Cancellation::ask() {
  const auto now = std::chrono::steady_clock::now();
  if (now < next_) return true;
  next_ = now + interval;
  if (!go_on_()) stopped_.store(true, std::memory_order_relaxed);
  return !stopped_.load(std::memory_order_relaxed);
}

void Cancellation::check() const {
  if (stopped_.load(std::memory_order_relaxed)) throw Cancelled("the work was cancelled");
}

}  // namespace areal::cpu
