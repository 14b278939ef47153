#pragma once
// The bytes of a store, wherever it lies.

#include <areal/histogram_store.hpp>
#include <cstring>
#include <vector>
#include "cuda/device.hpp"
#include "cuda/memory.hpp"

namespace areal::device_cases {

inline std::vector<std::byte> bytes_of_store(const HistogramStore& store) {
  const Span<const std::byte> data = store.data();
  std::vector<std::byte> bytes(data.size());
  if (bytes.empty()) return bytes;
  if (data.memory().is_host()) {
    std::memcpy(bytes.data(), data.data(), bytes.size());
  } else {
    const cuda::DeviceScope scope(data.memory().device);
    const cuda::OwnedStream stream;
    cuda::synchronize(Stream::legacy_default());
    cuda::copy_out(bytes.data(), data.data(), bytes.size(), stream.get());
    stream.synchronize();
  }
  return bytes;
}

}  // namespace areal::device_cases
