#pragma once
// A tensor on the CPU in groups of bins that reuse one buffer: the comparison for devices when the whole tensor does
// not fit host memory.

#include <areal/array.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include "bench/harness/tensor_check.hpp"

namespace areal::bench {

class CpuGroups {
 public:
  /// A group has as many bins as fit `group_bytes`, but at least `threads`, as `parallel` spreads bins over threads.
  /// Keeps a reference to the image. Throws OutOfMemory.
  CpuGroups(const Array& image, std::int64_t bins, std::uint64_t group_bytes, int threads);
  /// Returns the microseconds of all groups. Calls `wrong` for a wrong entry.
  double time(const std::string& algorithm, int threads, const std::function<void(const std::string&)>& wrong);

 private:
  const Array& image_;
  std::int64_t bins_, group_bins_;
  TensorCheck check_;
  Array tensor_;
};

}  // namespace areal::bench
