#pragma once
// Runs a query on the device that holds its tables.

#include <areal/execution.hpp>
#include "kernels/query/request.hpp"

namespace areal {

/// A device, and one of its streams. On simt the memory is the host's, and work is complete when a call returns.
struct Place {
  Backend backend = Backend::cuda;  ///< cuda or simt
  int device = 0;                   ///< number of the device, for cuda
  Stream stream = Stream::host();   ///< for cuda a CUDA stream
};

/// Queues a checked request, at a checked and current place. Throws DeviceError.
void answer(const Place& on, const kernels::RegionRequest& request);

}  // namespace areal
