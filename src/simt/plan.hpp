#pragma once
// Plans on the simulated machine: every access is checked and counted; all memory is the host's; an execute throws
// Fault. src/simt/absent.cpp is the stub for builds without it.

#include <areal/error.hpp>
#include <memory>
#include <vector>
#include "kernels/plan.hpp"
#include "simt/engine/options.hpp"

namespace areal::simt {

/// True if this build has the simulated machine.
bool built() noexcept;

/// Subjects: kernels::Sat, Histogram, CompactBuild, RankBuild, Scan, Query, FilterSubject. Throws Unavailable if there
/// is no kernel, or no machine.
template <class Subject>
std::unique_ptr<const kernels::AnyDevicePlan<Subject>> make_plan(typename Subject::Request request,
                                                                 const Options& options = {});

/// Subjects: kernels::Sat, Histogram, FilterSubject. Why the request's algorithm does not support it.
template <class Subject>
kernels::Refusal refusal_of(const typename Subject::Request& request, const Options& options = {});

/// Executes once on a prepared workspace; returns the launches' counts. Throws DeviceError if the machine does not run
/// all blocks of a launch at once that needs it.
template <class Subject>
std::vector<LaunchCounts> execute(const typename Subject::Request& request,
                                  const typename Subject::Arguments& arguments, void* workspace,
                                  const Options& options = {}) {
  std::vector<LaunchCounts> launches;
  const auto note = [&](const LaunchCounts& launch) { launches.push_back(launch); };
  if (!make_plan<Subject>(request, options)->execute(arguments, workspace, Stream::host(), note))
    throw DeviceError("the simulated machine does not run all blocks at once", false);
  return launches;
}

}  // namespace areal::simt
