#pragma once
// Whether this build has kernels for the current device. Every unit of it is compiled for the same architectures.

namespace areal::cuda {

/// Throws DeviceError if the device is lost.
bool has_kernels();

}  // namespace areal::cuda
