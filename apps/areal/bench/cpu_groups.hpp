#pragma once
// A tensor on the CPU in groups of bins, in memory that is used again: what is compared with devices where the whole
// tensor fits no host memory.

#include <areal/array.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include "tensor_check.hpp"

namespace areal::bench {

class CpuGroups {
 public:
  /// Groups of as many bins as `group_bytes` hold, and of `threads` at the least, as `parallel` spreads bins over
  /// threads. The image must stay. Throws OutOfMemory.
  CpuGroups(const Array& image, std::int64_t bins, std::uint64_t group_bytes, int threads);
  /// Microseconds of all groups. `wrong` is told of an entry that is.
  double time(const std::string& algorithm, int threads, const std::function<void(const std::string&)>& wrong);

 private:
  const Array& image_;
  std::int64_t bins_, group_bins_;
  TensorCheck check_;
  Array tensor_;
};

}  // namespace areal::bench
