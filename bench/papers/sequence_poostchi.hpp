#pragma once
// Data of Figures 12 to 15 of Poostchi et al. 2017: bench_sequence_poostchi.cpp measures, sequence_poostchi_figures.cpp
// prints and draws.

#include <string>
#include <vector>
#include "bench/papers/figure.hpp"
#include "bench/papers/frame_pipeline.hpp"

namespace areal::bench {

inline constexpr const char* ring = "ring";  // the order of HistogramSequence

/// Frames of one size and number of bins, whose tensors go to the host.
struct SequenceCase {
  Size size;
  std::int64_t bins = 0;
  double up = 0, down = 0;  // microseconds of the copies alone
  struct Run {
    std::string request;  // an algorithm or auto; the record has the choice of auto
    Record record;
  };
  std::vector<Run> runs = {};

  const Record* find(const std::string& request, int slots, const std::string& order) const;
};

/// Stages of the first frames.
struct SequenceTimeline {
  std::string algorithm;
  Size size;
  std::int64_t bins = 0;
  int slots = 0;
  std::vector<StageSpan> spans;
};

struct SequencePoostchi {
  std::string order;                           // of the slots' work
  std::vector<int> slots;                      // the first is 1
  std::vector<std::string> overlapped, shown;  // the algorithms of Figures 12 to 14 and of 15
  SequenceCase staged;                         // Figures 12 and 14: every algorithm in one slot and in two
  std::vector<SequenceCase> overlap;           // Figure 13: by bins
  std::vector<SequenceCase> by_size, by_bins;  // Figure 15
  std::vector<SequenceTimeline> timelines;
};

/// The stages of a record's frames.
StageTimes stages_of(const Record& record);
/// What the longest of them is called.
std::string longest_of(const StageTimes& stages);

void print(const SequencePoostchi& what);
/// Figures 12 and 14.
std::string picture(const SequencePoostchi& what);

}  // namespace areal::bench
