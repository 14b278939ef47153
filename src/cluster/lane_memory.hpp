#pragma once
// Memory of one lane of a worker: the current device's, or the host's.

#include <areal/array.hpp>
#include <cstddef>
#include <optional>
#include "cuda/device.hpp"

namespace areal::cluster {

class LaneMemory {
 public:
  LaneMemory() = default;
  /// Throws OutOfMemory with the bytes.
  LaneMemory(std::size_t bytes, MemoryPlace place) : bytes_(bytes) {
    if (place.is_host())
      host_ = Array(Shape{static_cast<std::int64_t>(bytes), 1}, Type::u8);
    else
      device_.emplace(bytes);
  }
  void* data() { return device_ ? device_->data() : host_.data(); }
  std::size_t bytes() const noexcept { return bytes_; }
  /// At least so many bytes; what was there is lost where they are more than before.
  void grow(std::size_t bytes, MemoryPlace place) {
    if (bytes > bytes_) *this = LaneMemory(bytes, place);
  }

 private:
  Array host_;
  std::optional<cuda::Memory> device_;
  std::size_t bytes_ = 0;
};

}  // namespace areal::cluster
