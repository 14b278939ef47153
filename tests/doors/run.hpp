#pragma once
// What doors of plans share: streams, workspaces, and answers that must be equal.

#include <areal/device.hpp>
#include <areal/plan.hpp>
#include <optional>
#include <string>

#include "elements.hpp"
#include "question.hpp"
#include "room.hpp"

namespace doors {

/// The execution of a question, with the stream that `stream` names.
class Running {
 public:
  explicit Running(const Question& question);
  const areal::Execution& execution() const noexcept { return execution_; }

 private:
  std::optional<areal::OwnedStream> own_;
  areal::Execution execution_;
};

/// A workspace of the plan's own memory, or of memory that is poisoned and guarded.
class GuardedWorkspace {
 public:
  GuardedWorkspace(const areal::Plan& plan, const Question& question);
  areal::Workspace& get() noexcept { return *workspace_; }
  /// Waits, then throws Failed where a byte around the memory was written.
  void finish();

 private:
  std::optional<WorkRoom> room_;
  std::optional<areal::Workspace> workspace_;
};

/// Throws Failed, with the first element that differs in a bit.
void expect_equal(const Elements& a, const Elements& b, const std::string& what);
void expect_equal(const std::optional<Elements>& a, const std::optional<Elements>& b, const std::string& what);

/// f(0) .. f(count - 1), each on a thread, at once; throws what the first of them threw.
template <class F>
void on_threads(int count, const F& f);

}  // namespace doors

#include <exception>
#include <thread>
#include <vector>

template <class F>
void doors::on_threads(int count, const F& f) {
  std::vector<std::exception_ptr> thrown(static_cast<std::size_t>(count));
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i)
    threads.emplace_back([&f, &at = thrown[static_cast<std::size_t>(i)], i] {
      try {
        f(i);
      } catch (...) {
        at = std::current_exception();
      }
    });
  for (auto& thread : threads) thread.join();
  for (const auto& error : thrown)
    if (error) std::rethrow_exception(error);
}
