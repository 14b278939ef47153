#pragma once
// Was this build made for the current device? Every unit of it is compiled for the same architectures.

namespace areal::cuda {

/// Throws DeviceError where the device is lost.
bool has_kernels();

}  // namespace areal::cuda
