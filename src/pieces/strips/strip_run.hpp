#pragma once
// One image through a lane, in strips: read from the top down, or pushed.

#include <functional>
#include <optional>
#include <vector>
#include "pieces/core/grid.hpp"
#include "pieces/core/inputs.hpp"
#include "pieces/core/piece_lane.hpp"

namespace areal::pieces {

/// What a run does with each strip.
struct StripUse {
  /// With the pixels in host memory, before anything is computed of them; in order, on one thread.
  std::function<void(const Part&, const View& pixels)> filled = {};
  /// After `compute` was called (and on CUDA queued), on the same thread.
  std::function<void(const Part&, PieceLane&)> computed = {};
  /// With its outputs in host memory; false ends. None: outputs do not leave.
  std::function<bool(const Part&, const std::vector<ConstView>& outputs)> give = {};
  /// Told the rows that are done after each strip, on the caller's thread. May be none.
  std::function<void(std::int64_t rows)> done = {};
};

/// Reads every input, each row once but for those that a halo wraps around to. False where `give` ended it.
/// Memory of the image's own is computed from where it lies, where strips have no halo, nobody changes the pixels and
/// no device needs a copy.
bool run_strips(const Work& work, const Shape& image, std::int64_t strip_height, const Inputs& inputs,
                const StripUse& use);

/// Strips of rows that come by themselves.
class StripFeed {
 public:
  StripFeed(const Work& work, const Shape& image, std::int64_t strip_height, StripUse use);

  /// Rows that follow each other; the work's halo does not wrap. False where `give` has ended it.
  bool push(const std::vector<ConstView>& rows);
  /// After the last row: what has not been given yet; of an image without rows, its one strip. False as push.
  bool finish();

 private:
  void gather(const std::vector<ConstView>& rows, std::int64_t from, std::int64_t count);
  void next_strip(const std::vector<ConstView>* elsewhere);
  void give(const Part& strip);

  const Work& work_;
  Shape image_;
  RowGrid grid_;
  StripUse use_;
  PieceLane lane_;
  Part strip_;                   // the one that is gathered
  std::int64_t gathered_ = 0;    // rows of its inputs
  std::optional<Part> waiting_;  // on CUDA, computed and not given yet
  bool go_on_ = true;
};

}  // namespace areal::pieces
