#pragma once
// When each stage of each frame took place, as a picture or as data.

#include <areal/sequence.hpp>
#include <span>
#include <string>
#include <vector>

namespace areal::command {

/// Bars in rows over a common time.
struct Timeline {
  struct Bar {
    int row, stage;     ///< places in the lists of names
    std::string title;  ///< shown under the pointer, before the bar's duration
    double begin, end;  ///< seconds
  };
  std::string heading;
  std::vector<std::string> rows, stages;  ///< at most five stages
  std::vector<Bar> bars;
  double seconds = 0;  ///< where the time ends
};
/// One below the other.
std::string timeline_svg(std::span<const Timeline> all);

/// .svg: a row for the source, each lane of each worker, and the sink. .json: an array of the stages.
void write_timeline(const std::string& path, const SequenceReport& report);

}  // namespace areal::command
