#pragma once
// When each frame of a sequence was read, computed and written, as a picture or as data.

#include <areal/sequence.hpp>
#include <string>

namespace areal::command {

/// .svg: a row for the source, each lane of each worker, and the sink. .json: an array of the stages.
void write_timeline(const std::string& path, const SequenceReport& report);

}  // namespace areal::command
