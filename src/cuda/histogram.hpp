#pragma once
// Integral histograms on a CUDA device. src/cuda/absent.cpp stands in where this build has no CUDA.

#include <areal/execution.hpp>
#include <areal/launch_counts.hpp>
#include <cstddef>
#include <string_view>
#include "kernels/histogram/request.hpp"

namespace areal::cuda {

/// Bytes of device memory that an execute needs. Throws Unavailable where a block needs more shared memory than the
/// device has.
std::size_t histogram_workspace_bytes(std::string_view id, const kernels::HistogramRequest& request, int device);
/// Queues the tensor on the stream, which belongs to the current device. Views and request agree; all is device memory;
/// the request's tables are where the workspace begins. `launched` may be empty.
void histogram(std::string_view id, const kernels::HistogramRequest& request, const ConstView& image,
               const ConstView& weights, const View& tensor, void* workspace, Stream stream,
               const LaunchReport& launched);

}  // namespace areal::cuda
