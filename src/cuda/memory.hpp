#pragma once
// Memory in the order of a stream. src/cuda/absent.cpp stands in where this build has no CUDA.

#include <areal/execution.hpp>
#include <cstddef>
#include <memory>

namespace areal::cuda {

/// Memory of the current device, for work queued on the stream between this and its end; neither waits for that work.
/// Throws OutOfMemory with the bytes that were asked for.
class StreamMemory {
 public:
  StreamMemory(std::size_t bytes, Stream stream);
  void* data() const noexcept { return data_.get(); }

 private:
  struct Release {
    Stream stream;
    bool pooled;  ///< by the driver, which not all virtual devices can
    void operator()(void* data) const noexcept;
  };
  std::unique_ptr<void, Release> data_;
};

}  // namespace areal::cuda
