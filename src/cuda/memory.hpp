#pragma once
// Memory allocated in stream order. src/cuda/absent.cpp is the stub for builds without CUDA.

#include <areal/execution.hpp>
#include <cstddef>
#include <memory>

namespace areal::cuda {

/// Memory of the current device, for work queued on the stream between its constructor and destructor, which do not
/// wait.
/// Throws OutOfMemory with the requested bytes.
class StreamMemory {
 public:
  StreamMemory(std::size_t bytes, Stream stream);
  void* data() const noexcept { return data_.get(); }

 private:
  struct Release {
    Stream stream;
    bool pooled;  ///< by the driver, which some virtual devices do not support
    void operator()(void* data) const noexcept;
  };
  std::unique_ptr<void, Release> data_;
};

}  // namespace areal::cuda
