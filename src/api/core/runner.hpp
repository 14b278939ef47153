#pragma once
// What the runners of plans have in common. `Device` is a runner's memory on a device: made of a plan, in a
// DeviceScope, and executed with host views.

#include <areal/array.hpp>
#include <areal/catalog.hpp>
#include <areal/error.hpp>
#include <areal/execution.hpp>
#include <memory>
#include <string_view>
#include "cuda/device.hpp"

namespace areal {

/// Memory where the plan runs: on its device, or else a workspace of the host's, and no device.
template <class Device, class Plan>
std::shared_ptr<Device> memory_for(const Plan& plan, Array& workspace) {
  if (plan.backend() == Backend::cuda) {
    const cuda::DeviceScope scope(plan.options().device);
    return std::make_shared<Device>(plan);
  }
  workspace = Array(Shape{static_cast<std::int64_t>(plan.workspace_bytes()), 1}, Type::u8);
  plan.prepare(workspace.data());
  return nullptr;
}

template <class Plan, class Arguments, class Device>
void run(const Plan& plan, const Arguments& arguments, Array& workspace, Device* device) {
  if (device == nullptr) return plan.execute(arguments, workspace.data());
  plan.check(arguments);
  const cuda::DeviceScope scope(plan.options().device);
  device->execute(plan, arguments);
}

/// What `automatic` is for a runner: cuda where a device has the algorithm and the memory, else cpu. `bytes` tells what
/// a runner takes on the device with options that name it, and may throw Unavailable.
template <class Options, class Bytes>
Backend backend_for(std::string_view family, const Options& options, Bytes bytes) {
  if (options.backend != Backend::automatic) return options.backend;
  const Algorithm* const row = find_algorithm(family, options.algorithm);
  if (options.algorithm != "auto" && (row == nullptr || !row->cuda)) return Backend::cpu;
  if (!cuda::why_not(options.device).empty()) return Backend::cpu;
  Options on_cuda = options;
  on_cuda.backend = Backend::cuda;
  try {
    return bytes(on_cuda) <= cuda::free_memory(options.device) ? Backend::cuda : Backend::cpu;
  } catch (const Unavailable&) {  // it has no kernel for this, or not for that device
    return Backend::cpu;
  }
}

}  // namespace areal
