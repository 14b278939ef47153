#pragma once
// Reuses scratch memory: a fresh table of 8 MiB costs 2,000 page faults, which take longer than its sums.

#include <cstddef>

namespace areal::python {

/// Uninitialised scratch memory of at least that many bytes. The destructor keeps it for reuse; the cache holds the
/// latest 64 MiB. Construct and destroy with the GIL, so that no thread holds a lock when the process forks. Throws
/// OutOfMemory.
class ScratchMemory {
 public:
  explicit ScratchMemory(std::size_t bytes);
  ~ScratchMemory();
  ScratchMemory(const ScratchMemory&) = delete;
  ScratchMemory& operator=(const ScratchMemory&) = delete;
  void* data() const noexcept { return data_; }

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace areal::python
