#pragma once
// Shared memory of a block beyond what every kernel may have: a device has some, and wants to be asked for it.

#include <cstddef>
#include <string>

namespace areal::cuda {

inline constexpr std::size_t shared_without_asking = 48 * 1024;

/// Throws Unavailable unless blocks on that device may have so many bytes. `what` begins the sentence.
void require_shared(int device, std::size_t bytes, const std::string& what);

}  // namespace areal::cuda
