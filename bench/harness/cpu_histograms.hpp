#pragma once
// Times tensors of one image on the CPU, for `areal bench histogram` and as the comparison for GPUs.

#include <areal/array.hpp>
#include <areal/binning.hpp>
#include <cstdint>
#include <string>
#include <vector>
#include "bench/harness/bench.hpp"

namespace areal::bench {

/// An image of random bytes and the memory for its tensor (uniform bins over 0 to 256, 32u).
class CpuHistograms {
 public:
  /// Throws OutOfMemory if the tensor does not fit.
  CpuHistograms(const Size& size, std::int64_t bins);
  /// Times an id of the catalogue, or "auto", in the same rounds as a memset of the tensor; the papers' algorithms,
  /// which take seconds, for at most 3 rounds. Throws Error if the tensor is wrong.
  Record time(const std::string& algorithm, int threads, int repetitions);
  /// Times setting the tensor to 0 and 1, the first step of the sums.
  Record time_initialisation(int threads, int repetitions);

 private:
  /// Of a memset and of that one, which then writes the tensor that is checked, over other bytes.
  std::vector<Times> timed(const Contestant& contestant, int threads, int repetitions);
  Record record(const std::string& what, const std::string& algorithm, int threads) const;

  Size size_;
  Binning binning_;
  Array image_, tensor_;
};

}  // namespace areal::bench
