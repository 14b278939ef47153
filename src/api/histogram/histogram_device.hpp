#pragma once
// The part of a HistogramPlan that runs on a device: cuda, or simt.

#include <areal/research/histogram.hpp>
#include <cstddef>
#include <memory>
#include <string>
#include "api/core/device_plan.hpp"
#include "cpu/histogram/pixel_bins.hpp"
#include "kernels/histogram/request.hpp"

namespace areal {

class DeviceHistogram {
 public:
  /// Throws Unavailable where the backend, the device or the kernels are not there.
  DeviceHistogram(const Shape& image, const cpu::PixelBins& rule, const HistogramOptions& options,
                  const research::HistogramParameters& parameters, const Execution& execution, std::string id);

  std::size_t workspace_bytes() const noexcept { return plan_->workspace_bytes(); }
  const kernels::HistogramRequest& request() const noexcept { return request_; }
  /// Makes a new workspace ready: puts the rule's tables there.
  void prepare(void* workspace, Stream stream) const;
  /// Arguments have been checked.
  void execute(const HistogramArguments& arguments, void* workspace, Stream stream) const;

 private:
  kernels::HistogramRequest request_;
  Backend backend_;
  int device_;
  LaunchReport on_launch_;
  std::shared_ptr<const kernels::AnyDevicePlan<kernels::Histogram>> plan_;
};

}  // namespace areal
