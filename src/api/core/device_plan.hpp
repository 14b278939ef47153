#pragma once
// Backends that run kernels, cuda and simt: their availability, and a request's plan on them.

#include <areal/execution.hpp>
#include <areal/research/launch_counts.hpp>
#include <memory>
#include "cuda/plan.hpp"
#include "kernels/plan.hpp"
#include "simt/plan.hpp"

namespace areal {

/// Throws Unavailable unless that backend, and its device, can be used.
void require_backend(Backend backend, int device);
/// Throws InvalidArgument for `on_launch` on a backend without launches.
void require_launches(const LaunchReport& on_launch, Backend backend);

/// The plan of a request on an available device: cuda, or simt.
template <class Subject>
std::unique_ptr<const kernels::AnyDevicePlan<Subject>> device_plan(Backend backend, int device,
                                                                   const typename Subject::Request& request,
                                                                   const simt::Options& simulated = {}) {
  if (backend == Backend::cuda) return cuda::make_plan<Subject>(request, device);
  return simt::make_plan<Subject>(request, simulated);
}

}  // namespace areal
