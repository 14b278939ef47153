#pragma once
// The device of who computes is current while this lives, where it has one.

#include <optional>
#include "cuda/device.hpp"
#include "pieces/core/work.hpp"

namespace areal::pieces {

class CurrentDevice {
 public:
  explicit CurrentDevice(const Execution& on) {
    if (on.backend == Backend::cuda) scope_.emplace(on.device);
  }
  explicit CurrentDevice(const Worker& worker) : CurrentDevice(execution_of(worker)) {}

 private:
  std::optional<cuda::DeviceScope> scope_;
};

}  // namespace areal::pieces
