#pragma once
// A copy in device memory of the test's bytes, with gaps and guard bands.

#include <areal/view.hpp>
#include <cstdint>
#include <optional>
#include <vector>
#include "cuda/device.hpp"

namespace areal::conformance {

class Mirror {
 public:
  Mirror(std::vector<std::uint8_t>& bytes, Stream stream) : bytes_(&bytes), stream_(stream) {
    if (bytes.empty()) return;
    memory_.emplace(bytes.size());
    cuda::copy_in(memory_->data(), bytes.data(), bytes.size(), stream);
  }
  /// The device's counterpart of an address within the bytes.
  void* twin(const void* p) const {
    if (!memory_ || !p) return nullptr;
    return static_cast<std::uint8_t*>(memory_->data()) + (static_cast<const std::uint8_t*>(p) - bytes_->data());
  }
  View twin(View view) const {
    view.data = twin(view.data);
    return view.in({MemoryPlace::cuda, 0});
  }
  void back() {
    if (memory_) cuda::copy_out(bytes_->data(), memory_->data(), bytes_->size(), stream_);
  }

 private:
  std::vector<std::uint8_t>* bytes_;
  Stream stream_;
  std::optional<cuda::Memory> memory_;
};

}  // namespace areal::conformance
