#pragma once
// Sums of a line on a CUDA device. src/cuda/absent.cpp stands in where this build has no CUDA.

#include <areal/execution.hpp>
#include <areal/research/launch_counts.hpp>
#include <cstddef>
#include "kernels/scan/request.hpp"

namespace areal::cuda {

/// Bytes of device memory that an execute needs. Throws Unavailable where there is no kernel.
std::size_t scan_workspace_bytes(const kernels::ScanRequest& request);
/// Queues the sums on the stream, which belongs to the current device. Views and request agree; all is device memory.
/// `launched` may be empty.
void scan(const kernels::ScanRequest& request, const ConstView& line, const View& sums, void* workspace, Stream stream,
          const LaunchReport& launched);

}  // namespace areal::cuda
