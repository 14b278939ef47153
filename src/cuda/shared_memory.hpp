#pragma once
// Shared memory of a block beyond what every kernel may have: a device has some, and wants to be asked for it.

#include <cstddef>
#include <string>

namespace areal::cuda {

inline constexpr std::size_t shared_without_asking = 48 * 1024;

/// Why blocks on that device cannot have so many bytes, the end of a sentence; empty if they can.
std::string lacks_shared(int device, std::size_t bytes);

}  // namespace areal::cuda
