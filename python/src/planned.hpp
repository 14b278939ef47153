#pragma once
// A plan with a workspace for each concurrent thread and stream.

#include <areal/execution.hpp>
#include <areal/filter.hpp>
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
#include "workspaces.hpp"

namespace areal::python {

/// The arguments of execute.
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
template <>
struct Arguments<FilterPlan> {
  using Type = FilterArguments;
};

/// Work on fewer bytes of output ends too soon for Ctrl-C to matter.
constexpr std::uint64_t long_bytes = 64 << 20;

/// P is SatPlan, HistogramPlan, FilterPlan or MatchPlan. Take and return workspaces with the GIL, so that no thread
/// holds a lock when the process forks.
template <class P>
class Planned {
  struct Slot;

 public:
  /// Constructs P with these arguments.
  template <class... Made>
  explicit Planned(const Made&... made) : plan(made...), is_long(output_bytes(plan) >= long_bytes) {}

  /// Executes where the arrays of the call are: on the host with a workspace of the plan, on a device by queueing on
  /// their stream, with the framework's memory.
  void execute(const typename Arguments<P>::Type& arguments, const CallArrays& arrays) {
    if (arrays.on_host()) return Lease(*this).execute(arguments);
    Workspaces::Ready ready = on_devices_.get(plan, arrays);
    {
      const nb::gil_scoped_release released;
      plan.execute(arguments, ready.workspace);
    }
    on_devices_.put(std::move(ready));
  }

  /// A workspace for one execute, returned by the destructor. Construct and destroy with the GIL.
  class Lease {
   public:
    explicit Lease(Planned& of) : of_(of), workspace_(of.take()) {}
    ~Lease() { of_.give_back(std::move(workspace_)); }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    /// Releases the GIL. Throws the exceptions of the plan's execute, and KeyboardInterrupt after Ctrl-C.
    void execute(const typename Arguments<P>::Type& arguments) {
      require_usable(of_.plan.backend());
      without_gil(of_.is_long, [&] { of_.plan.execute(arguments, *workspace_); });
    }

   private:
    Planned& of_;
    std::unique_ptr<Workspace> workspace_;
  };

  const P plan;
  const bool is_long;  ///< check for Ctrl-C

 private:
  static std::uint64_t output_bytes(const P& plan) {
    if constexpr (requires { plan.table_bytes(); })
      return plan.table_bytes();
    else if constexpr (requires { plan.tensor_bytes(); })
      return plan.tensor_bytes();
    else
      return bytes_of(plan.out_shape(), plan.out());
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
  Workspaces on_devices_;
};

/// The key of a plan among those of one set of options.
struct PlanKey {
  Shape image = {};
  Type input = Type::u8;
  Layout tables = Layout::planar;
  const Axes* axes = nullptr;
  MemoryPlace memory = {};
  std::uint64_t options = 0;  ///< the number of Options
  bool is_numpy = true, is_signed = false, is_forked = false;
  friend bool operator==(const PlanKey&, const PlanKey&) = default;
};

/// The execution for arrays at that place: the device's backend; the CPU for host arrays; for NumPy's the policy
/// chooses.
inline Execution execution_for(Execution execution, const PlanKey& key) {
  if (key.is_forked) execution.threads = 1;
  if (!key.memory.is_host()) execution.device = key.memory.device;
  if (execution.backend == Backend::automatic && (!key.is_numpy || key.is_forked || !key.memory.is_host()))
    execution.backend = key.memory.is_host() ? Backend::cpu : Backend::cuda;
  return execution;
}

}  // namespace areal::python
