#pragma once
// The begin and end of each stage of each frame, as a picture or as data.

#include <areal/sequence.hpp>
#include <span>
#include <string>
#include <vector>

namespace areal::command {

/// Rows of bars over a common time axis.
struct Timeline {
  struct Bar {
    int row, stage;     ///< indices into `rows` and `stages`
    std::string title;  ///< the tooltip, before the bar's duration
    double begin, end;  ///< seconds
  };
  std::string heading;
  std::vector<std::string> rows, stages;  ///< at most five stages
  std::vector<Bar> bars;
  double seconds = 0;  ///< the end of the axis
};
/// Draws the timelines one below the other.
std::string timeline_svg(std::span<const Timeline> all);

/// Writes .svg, with a row for the source, each lane of each worker, and the sink; or .json, an array of the stages.
void write_timeline(const std::string& path, const SequenceReport& report);

}  // namespace areal::command
