#pragma once
// A workspace in memory of the tests: at an odd address, poisoned, between guard bands. On cuda, a copy of all of it in
// device memory.

#include <areal/plan.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>
#include "conformance/on_device.hpp"

namespace areal::conformance {

class GuardedWorkspace {
 public:
  GuardedWorkspace(std::size_t bytes, std::uint8_t poison) : bytes_(bytes) {
    memory_.assign(bytes + 2 * band, 0x3C);
    std::fill_n(memory_.begin() + band, bytes, poison);
  }
  void* data() { return memory_.data() + band; }
  std::size_t size() const { return bytes_; }

  /// Makes it one of the plan's.
  Workspace& prepare(const Plan& plan) {
    if (plan.backend() == Backend::cuda) {
      const cuda::DeviceScope scope(plan.execution().device);
      stream_.emplace();
      mirror_.emplace(memory_, stream_->get());
      return ready_.emplace(
          plan, Span<std::byte>(static_cast<std::byte*>(mirror_->twin(data())), bytes_, plan.memory()), stream_->get());
    }
    return ready_.emplace(plan, Span<std::byte>(static_cast<std::byte*>(data()), bytes_), Stream::host());
  }
  Workspace& ready() { return *ready_; }
  Stream stream() const { return stream_->get(); }

  std::string broken_guard() {
    if (mirror_) {
      mirror_->back();
      stream_->synchronize();
    }
    for (std::size_t i = 0; i < memory_.size(); ++i)
      if ((i < band || i >= band + bytes_) && memory_[i] != 0x3C) return "wrote outside the workspace";
    return {};
  }

 private:
  static constexpr std::size_t band = 65;
  std::size_t bytes_;
  std::vector<std::uint8_t> memory_;
  std::optional<cuda::OwnedStream> stream_;
  std::optional<Mirror> mirror_;
  std::optional<Workspace> ready_;
};

}  // namespace areal::conformance
