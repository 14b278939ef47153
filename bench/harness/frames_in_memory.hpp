#pragma once
// Runs frames that are already in the slots' memory through a HistogramSequence, and checks the results.

#include <areal/binning.hpp>
#include <areal/sequence.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>
#include "bench/harness/bench.hpp"

namespace areal::bench {

struct FramesCase {
  Size size;
  std::int64_t bins = 32;
  bool tensors = false;
  std::vector<Worker> workers;
};

struct FrameTimes {
  double frame_us = 0;                   // between two answers, after the first answer of each slot
  double up = 0, compute = 0, down = 0;  // microseconds of a frame's stages, by the sequence's report
};

class FramesInMemory {
 public:
  FramesInMemory(const FramesCase& of, std::function<void(const std::string&)> wrong);
  /// Computes 100 boxes of each frame, and its tensor if requested.
  FrameTimes run(int slots, std::int64_t frames);

 private:
  void check(const FrameAnswer& answer, int image, std::int64_t answers) const;

  FramesCase case_;
  std::function<void(const std::string&)> wrong_;
  Binning binning_;
  std::vector<Region> regions_;
  std::vector<Array> images_;
  std::vector<std::vector<std::uint64_t>> expected_;
};

std::string names_of(const std::vector<Worker>& workers);

}  // namespace areal::bench
