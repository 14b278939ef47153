#pragma once
// The part of a SatPlan that runs on a device: cuda, or simt.

#include <areal/execution.hpp>
#include <areal/sat.hpp>
#include <cstddef>
#include <memory>
#include <string>
#include "cuda/plan.hpp"
#include "kernels/sat/request.hpp"
#include "simt/plan.hpp"

namespace areal {

class DeviceSat {
 public:
  /// `id` may be auto; with squares it is always lookback. Throws Unavailable where the backend, the device or what the
  /// options ask for is not there.
  DeviceSat(const Shape& image, TypePair types, const SatOptions& options, std::string id);

  std::size_t workspace_bytes() const noexcept { return plan_->workspace_bytes(); }
  const std::string& algorithm() const noexcept { return id_; }
  /// The algorithm is one of smaller tiles than auto would have, for the device's shared memory.
  bool is_smaller() const noexcept { return is_smaller_; }
  /// Makes a new workspace ready.
  void prepare(void* workspace, Stream stream) const;
  /// Arguments have been checked.
  void execute(const SatArguments& arguments, void* workspace, Stream stream) const;

 private:
  Backend backend_;
  std::string id_;
  bool is_smaller_ = false;
  LaunchReport launched_;
  std::shared_ptr<const kernels::AnyDevicePlan<kernels::Sat>> plan_;
};

/// Throws Unavailable unless that backend, and its device, can be used.
void require_backend(Backend backend, int device);
/// Throws InvalidArgument where the launches are asked of a backend that has none.
void require_launches(const LaunchReport& launched, Backend backend);
/// Throws InvalidArgument unless the stream is one of CUDA's.
void require_stream(Stream stream);

/// The plan of a request on a device that is there: cuda, or simt.
template <class Subject>
std::unique_ptr<const kernels::AnyDevicePlan<Subject>> device_plan(Backend backend, int device,
                                                                   const typename Subject::Request& request) {
  if (backend == Backend::cuda) return cuda::make_plan<Subject>(request, device);
  return simt::make_plan<Subject>(request);
}

}  // namespace areal
