#pragma once
// Integral histograms on a CUDA device. src/cuda/absent.cpp stands in where this build has no CUDA.

#include <areal/execution.hpp>
#include <areal/histogram.hpp>
#include <areal/research/launch_counts.hpp>
#include <cstddef>
#include <memory>
#include <string_view>
#include "kernels/histogram/request.hpp"

namespace areal::cuda {

/// The tensor of one request: its kernels, found once. The request stays its owner's.
class Histogram {
 public:
  /// Throws Unavailable where there is no kernel, or a block needs more shared memory than the device has.
  Histogram(std::string_view id, Type counter, int device);

  /// Bytes of device memory that an execute needs.
  std::size_t workspace_bytes(const kernels::HistogramRequest& request) const;
  /// Queues the tensor on the stream, which belongs to the current device. Views and request agree; all is device
  /// memory; the request's tables are where the workspace begins. `launched` may be empty.
  void execute(const kernels::HistogramRequest& request, const HistogramArguments& views, void* workspace,
               Stream stream, const LaunchReport& launched) const;

 private:
  struct Kernels;
  std::shared_ptr<const Kernels> kernels_;
};

}  // namespace areal::cuda
