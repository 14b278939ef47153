#pragma once
// Shared memory of a block beyond the default limit, which a device grants on request.

#include <cstddef>
#include <string>

namespace areal::cuda {

inline constexpr std::size_t shared_without_asking = 48 * 1024;

/// Why blocks on that device cannot have that many bytes, the end of a sentence; empty if they can.
std::string lacks_shared(int device, std::size_t bytes);

}  // namespace areal::cuda
