#include "api/core/device_memory.hpp"
#include "api/core/device_plan.hpp"

namespace areal {

MemoryPlace memory_of(const Execution& on) {
  const Backend backend = on.backend == Backend::automatic ? Backend::cuda : on.backend;
  require_backend(backend, on.device);
  return backend == Backend::cuda ? MemoryPlace{MemoryPlace::cuda, on.device} : MemoryPlace{};
}

}  // namespace areal
