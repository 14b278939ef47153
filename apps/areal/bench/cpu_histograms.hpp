#pragma once
// Tensors of one image on the CPU: what `areal bench histogram` times, and what GPUs are compared with.

#include <areal/array.hpp>
#include <areal/binning.hpp>
#include <cstdint>
#include <string>
#include "bench.hpp"

namespace areal::bench {

/// An image of random bytes and the memory for its tensor (uniform bins over 0 to 256, 32u).
class CpuHistograms {
 public:
  /// Throws OutOfMemory where the tensor does not fit.
  CpuHistograms(const Size& size, std::int64_t bins);
  /// An id of the catalogue, or "auto", in turns with a memset of the tensor; at most 3 rounds of the papers'
  /// algorithms, which take seconds. Throws Error where the tensor is wrong.
  Record time(const std::string& algorithm, int threads, int repetitions);
  /// The tensor set to 0 and 1, as the sums begin with.
  Record time_initialisation(int threads, int repetitions);

 private:
  Record record(const std::string& what, const std::string& algorithm, int threads) const;

  Size size_;
  Binning binning_;
  Array image_, tensor_;
};

}  // namespace areal::bench
