#pragma once
// How a query reaches the device that holds its tables.

#include <areal/execution.hpp>
#include "kernels/query/request.hpp"

namespace areal {

/// A device, and one of its streams. On simt the memory is the host's, and the work has been done when a call returns.
struct Place {
  Backend backend = Backend::cuda;  ///< cuda or simt
  int device = 0;                   ///< number of the device, for cuda
  Stream stream = Stream::host();   ///< for cuda one of CUDA's
};

/// Queues a request that has been checked, at a place that has been and is current. Throws DeviceError.
void answer(const Place& on, const kernels::RegionRequest& request);

}  // namespace areal
