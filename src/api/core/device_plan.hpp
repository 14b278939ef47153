#pragma once
// Backends that run kernels, cuda and simt: is one there, and the plan of a request on it.

#include <areal/execution.hpp>
#include <areal/research/launch_counts.hpp>
#include <memory>
#include "cuda/plan.hpp"
#include "kernels/plan.hpp"
#include "simt/plan.hpp"

namespace areal {

/// Throws Unavailable unless that backend, and its device, can be used.
void require_backend(Backend backend, int device);
/// Throws InvalidArgument where the launches are asked of a backend that has none.
void require_launches(const LaunchReport& on_launch, Backend backend);

/// The plan of a request on a device that is there: cuda, or simt.
template <class Subject>
std::unique_ptr<const kernels::AnyDevicePlan<Subject>> device_plan(Backend backend, int device,
                                                                   const typename Subject::Request& request,
                                                                   const simt::Options& simulated = {}) {
  if (backend == Backend::cuda) return cuda::make_plan<Subject>(request, device);
  return simt::make_plan<Subject>(request, simulated);
}

}  // namespace areal
