#pragma once
// Plans on a CUDA device: all memory is the device's, all work is queued on the stream that a call names.
// src/cuda/absent.cpp is the stub for builds without CUDA.

#include <memory>
#include "kernels/plan.hpp"

namespace areal::cuda {

/// Subjects: kernels::Sat, Histogram, CompactBuild, RankBuild, Scan, Query, FilterSubject. Throws Unavailable if there
/// is no kernel, or a block needs more shared memory than the device has.
template <class Subject>
std::unique_ptr<const kernels::AnyDevicePlan<Subject>> make_plan(typename Subject::Request request, int device);

/// Subjects: kernels::Sat, Histogram, FilterSubject. Why the request's algorithm does not support it on that device,
/// which is current.
template <class Subject>
kernels::Refusal refusal_of(const typename Subject::Request& request, int device);

}  // namespace areal::cuda
