#pragma once
// Shared memory of a block beyond what every kernel may have: a device has some, and wants to be asked for it.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include "cuda/error.hpp"

namespace areal::cuda {

inline constexpr std::size_t shared_without_asking = 48 * 1024;

/// The devices on which one kernel may have the shared memory that it needs, a bit each.
using SharedGrants = std::atomic<std::uint64_t>;

/// Asks the current device, once: later calls find it in `grants`. Throws DeviceError, naming the launch, where the
/// device has not that much.
void grant_shared(const void* kernel, const Launch& launch, SharedGrants& grants);

/// Throws Unavailable unless blocks on that device may have so many bytes. `what` begins the sentence.
void require_shared(int device, std::size_t bytes, const std::string& what);

}  // namespace areal::cuda
