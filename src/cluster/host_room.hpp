#pragma once
// Memory of the host, page-locked where a CUDA device copies from and to it.

#include <cstddef>
#include <optional>
#include "cluster/lane_memory.hpp"
#include "cuda/device.hpp"

namespace areal::cluster {

class HostRoom {
 public:
  HostRoom() = default;
  HostRoom(std::size_t bytes, bool page_locked) {
    if (page_locked)
      pinned_.emplace(bytes);
    else
      plain_ = LaneMemory(bytes, {});
  }
  char* data() { return static_cast<char*>(pinned_ ? pinned_->data() : plain_.data()); }

 private:
  std::optional<cuda::PinnedMemory> pinned_;
  LaneMemory plain_;
};

}  // namespace areal::cluster
