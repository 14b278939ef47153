#pragma once
// Summed-area tables on a CUDA device. src/cuda/absent.cpp stands in where this build has no CUDA.

#include <areal/execution.hpp>
#include <areal/sat.hpp>
#include <cstddef>
#include <string_view>
#include "kernels/sat/request.hpp"

namespace areal::cuda {

/// Bytes of device memory that an execute needs. Throws Unavailable where a block needs more shared memory than the
/// device has.
std::size_t sat_workspace_bytes(std::string_view id, const kernels::SatRequest& request, int device);
/// Queues the tables on the stream, which belongs to the current device. Views and request agree; all is device memory.
void sat(std::string_view id, const kernels::SatRequest& request, const SatArguments& views, void* workspace,
         Stream stream);

}  // namespace areal::cuda
