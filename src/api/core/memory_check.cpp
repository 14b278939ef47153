#include "api/core/memory_check.hpp"
#include "api/core/require.hpp"

namespace areal {

Execution execution_of(const ConstView& image, const Execution& execution) {
  Execution chosen = execution;
  if (execution.backend == Backend::automatic && !image.memory.is_host()) {
    chosen.backend = Backend::cuda;
    chosen.device = image.memory.device;
  }
  return chosen;
}

void require_memory(std::string_view name, MemoryPlace memory, const Plan& plan, bool staged) {
  const Backend backend = plan.backend();
  if (backend != Backend::cuda) {
    require(memory.is_host(), name, " is ", words_of(memory), ": a plan on ", name_of(backend), " takes host memory");
  } else if (memory.is_host()) {
    require(staged, name, " is host memory: with a workspace in memory of yours, a plan on cuda takes ",
            words_of(plan.memory()), " alone");
  } else {
    require(memory.device == plan.execution().device, name, " is ", words_of(memory), ": this plan runs on device ",
            plan.execution().device);
  }
}

}  // namespace areal
