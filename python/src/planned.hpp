#pragma once
// A plan with workspaces for as many threads as use it at once.

#include <areal/execution.hpp>
#include <areal/histogram.hpp>
#include <areal/plan.hpp>
#include <areal/sat.hpp>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>
#include "process.hpp"

namespace areal::python {

/// What a table or tensor says of how it was made.
struct Origin {
  std::string algorithm, reason, backend;
  static std::shared_ptr<const Origin> of(const Plan& plan) {
    return std::make_shared<Origin>(Origin{plan.algorithm(), plan.reason(), std::string(name_of(plan.backend()))});
  }
};

/// What a plan executes.
template <class P>
struct Arguments;
template <>
struct Arguments<SatPlan> {
  using Type = SatArguments;
};
template <>
struct Arguments<HistogramPlan> {
  using Type = HistogramArguments;
};

/// Work on fewer bytes of output is done before anyone could press Ctrl-C.
constexpr std::uint64_t long_bytes = 64 << 20;

/// P is SatPlan or HistogramPlan. Take and give back with the GIL, so that no lock is held when the process forks.
template <class P>
class Planned {
  struct Slot;

 public:
  /// What P is made of.
  template <class... Made>
  explicit Planned(const Made&... made)
      : plan(made...), origin(Origin::of(plan)), is_long(output_bytes(plan) >= long_bytes) {}

  /// A workspace for one execute; given back at the end. Make and destroy with the GIL.
  class Taken {
   public:
    explicit Taken(Planned& of) : of_(of), workspace_(of.take()) {}
    ~Taken() { of_.give_back(std::move(workspace_)); }
    Taken(const Taken&) = delete;
    Taken& operator=(const Taken&) = delete;
    /// Releases the GIL. Throws what the plan's execute throws, and KeyboardInterrupt where Ctrl-C stopped it.
    void execute(const typename Arguments<P>::Type& arguments) {
      require_usable(of_.plan.backend());
      without_gil(of_.is_long, [&] { of_.plan.execute(arguments, *workspace_); });
    }

   private:
    Planned& of_;
    std::unique_ptr<Workspace> workspace_;
  };

  const P plan;
  const std::shared_ptr<const Origin> origin;
  const bool is_long;  ///< Ctrl-C may come

 private:
  static std::uint64_t output_bytes(const P& plan) {
    if constexpr (requires { plan.table_bytes(); })
      return plan.table_bytes();
    else
      return plan.tensor_bytes();
  }
  std::unique_ptr<Workspace> take() {
    {
      const std::lock_guard lock(mutex_);
      if (!free_.empty()) {
        auto workspace = std::move(free_.back());
        free_.pop_back();
        return workspace;
      }
    }
    return std::make_unique<Workspace>(plan);
  }
  void give_back(std::unique_ptr<Workspace> workspace) {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(workspace));
  }

  std::mutex mutex_;
  std::vector<std::unique_ptr<Workspace>> free_;
};

}  // namespace areal::python
