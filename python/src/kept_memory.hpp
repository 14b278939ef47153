#pragma once
// Scratch memory that is used again: a fresh table of 8 MiB costs 2,000 page faults, more than its sums take.

#include <cstddef>

namespace areal::python {

/// Scratch memory of at least that many bytes, not initialised, until it goes out of scope. Then it is kept for the
/// next: in all 64 MiB at most, the latest. Make and destroy with the GIL, so that no lock is held when the process
/// forks. Throws OutOfMemory.
class KeptMemory {
 public:
  explicit KeptMemory(std::size_t bytes);
  ~KeptMemory();
  KeptMemory(const KeptMemory&) = delete;
  KeptMemory& operator=(const KeptMemory&) = delete;
  void* data() const noexcept { return data_; }

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace areal::python
