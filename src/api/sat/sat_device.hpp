#pragma once
// The part of a SatPlan that runs on a device: cuda, or simt.

#include <areal/execution.hpp>
#include <areal/research/launch_counts.hpp>
#include <areal/sat_arguments.hpp>
#include <cstddef>
#include <memory>
#include <string>
#include "api/core/device_plan.hpp"
#include "kernels/sat/request.hpp"

namespace areal {

class DeviceSat {
 public:
  /// `id` may be auto; with squares it is always lookback. Throws Unavailable where the backend, the device or what the
  /// options ask for is not there.
  DeviceSat(const kernels::SatRequest& request, const Execution& execution, const LaunchReport& on_launch,
            std::string id);

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
  LaunchReport on_launch_;
  std::shared_ptr<const kernels::AnyDevicePlan<kernels::Sat>> plan_;
};

}  // namespace areal
