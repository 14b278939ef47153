#pragma once
// A plan with workspaces for as many threads as use it at once.

#include <areal/error.hpp>
#include <areal/execution.hpp>
#include <areal/plan.hpp>
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

/// Work on fewer bytes of output is done before anyone could press Ctrl-C.
constexpr std::uint64_t long_bytes = 64 << 20;

/// P is SatPlan or HistogramPlan; `stoppable_plan(plan, interrupt)` is an equal plan whose progress asks the interrupt.
/// Take and give back with the GIL, so that no lock is held when the process forks.
template <class P>
class Planned {
  struct Slot;

 public:
  /// What P is made of.
  template <class... Arguments>
  explicit Planned(const Arguments&... arguments)
      : plan(arguments...),
        origin(Origin::of(plan)),
        stoppable(plan.backend() == Backend::cpu && output_bytes(plan) >= long_bytes) {}

  /// A workspace for one execute; given back at the end. Make and destroy with the GIL.
  class Taken {
   public:
    explicit Taken(Planned& of) : of_(of), slot_(of.take()) {}
    ~Taken() { of_.give_back(std::move(slot_)); }
    Taken(const Taken&) = delete;
    Taken& operator=(const Taken&) = delete;
    /// Releases the GIL. Throws what the plan's execute throws, and KeyboardInterrupt where Ctrl-C stopped it.
    template <class Arguments>
    void execute(const Arguments& arguments) {
      require_usable(slot_->plan.backend());
      if (of_.stoppable) slot_->interrupt.begin();
      try {
        const nb::gil_scoped_release released;
        slot_->plan.execute(arguments, slot_->workspace);
      } catch (const Cancelled&) {
        if (slot_->interrupt.raised()) throw nb::python_error();
        throw;
      }
    }

   private:
    Planned& of_;
    std::unique_ptr<typename Planned::Slot> slot_;
  };

  const P plan;
  const std::shared_ptr<const Origin> origin;
  const bool stoppable;

 private:
  static std::uint64_t output_bytes(const P& plan) {
    if constexpr (requires { plan.table_bytes(); })
      return plan.table_bytes();
    else
      return plan.tensor_bytes();
  }
  struct Slot {
    explicit Slot(const Planned& of)
        : plan(of.stoppable ? stoppable_plan(of.plan, interrupt) : of.plan), workspace(plan) {}
    Interrupt interrupt;
    P plan;
    Workspace workspace;
  };
  std::unique_ptr<Slot> take() {
    {
      const std::lock_guard lock(mutex_);
      if (!free_.empty()) {
        auto slot = std::move(free_.back());
        free_.pop_back();
        return slot;
      }
    }
    return std::make_unique<Slot>(*this);
  }
  void give_back(std::unique_ptr<Slot> slot) {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(slot));
  }

  std::mutex mutex_;
  std::vector<std::unique_ptr<Slot>> free_;
};

}  // namespace areal::python
