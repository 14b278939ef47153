#pragma once
// The part of a HistogramPlan that runs on a device: cuda, or simt.

#include <areal/research/histogram.hpp>
#include <cstddef>
#include <optional>
#include <string>
#include "cpu/histogram/pixel_bins.hpp"
#include "cuda/histogram.hpp"
#include "kernels/histogram/request.hpp"

namespace areal {

class DeviceHistogram {
 public:
  /// Throws Unavailable where the backend, the device or the kernels are not there.
  DeviceHistogram(const Shape& image, const cpu::PixelBins& rule, const HistogramOptions& options,
                  const research::HistogramParameters& parameters, const Execution& execution, std::string id);

  std::size_t workspace_bytes() const noexcept { return workspace_bytes_; }
  const kernels::HistogramRequest& request() const noexcept { return request_; }
  /// Makes a new workspace ready: puts the rule's tables there.
  void prepare(void* workspace, Stream stream) const;
  /// Arguments have been checked.
  void execute(const HistogramArguments& arguments, void* workspace, Stream stream) const;

 private:
  kernels::HistogramRequest request_;
  Backend backend_;
  int device_;
  std::string id_;
  LaunchReport on_launch_;
  std::optional<cuda::Histogram> cuda_;
  std::size_t workspace_bytes_ = 0;
};

}  // namespace areal
