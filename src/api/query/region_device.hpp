#pragma once
// How a query reaches the device that holds its tables.

#include <areal/device_region.hpp>
#include "api/core/require.hpp"
#include "kernels/query/request.hpp"

namespace areal {

/// Throws InvalidArgument unless the place is one where work can be queued, Unavailable where it is not there.
void require_place(const Place& on);

/// Queues a request that has been checked. Throws as `require_place`, and DeviceError.
void answer(const Place& on, const kernels::RegionRequest& request);

/// Throws InvalidArgument unless the span has memory where it has elements, and begins at a multiple of 8 bytes.
template <class T>
void require_span(std::span<T> span, const char* argument) {
  require(span.empty() || span.data() != nullptr, argument, ": a null pointer for ", span.size(), " elements");
  require(reinterpret_cast<std::uintptr_t>(span.data()) % 8 == 0, argument, ": its address is no multiple of 8");
}

}  // namespace areal
