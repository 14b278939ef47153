#pragma once
// One image through StripSlots: read by itself, or pushed.

#include <areal/strips.hpp>
#include <functional>
#include <vector>
#include "strips/strip_slots.hpp"

namespace areal::strips {

/// Rows [y, y + rows) of the image, strip k of a run.
struct Strip {
  std::int64_t k = 0, y = 0, rows = 0;
  int slot() const noexcept { return static_cast<int>(k % slots); }
};

/// What a run does with each strip.
struct StripUse {
  /// With the pixels in host memory, before anything is computed of them; in order, on one thread.
  std::function<void(const Strip&, const View& pixels)> filled = {};
  /// After `compute` was called (and on CUDA queued), on the same thread.
  std::function<void(const Strip&, StripSlots& buffers)> computed = {};
  /// With its tables in host memory; false ends. None: tables do not leave.
  std::function<bool(const Strip&, const std::vector<ConstView>& tables)> give = {};
};

/// Reads every input from the top down. `told(rows)` after each strip, on the caller's thread. False where `give` ended
/// it.
bool run_strips(const StripWork& work, std::int64_t strip_height, const std::vector<ImageReader>& readers,
                const StripUse& use, const std::function<void(std::int64_t rows)>& told);

/// Strips of rows that come by themselves.
class StripFeed {
 public:
  StripFeed(const StripFeed&) = delete;
  StripFeed& operator=(const StripFeed&) = delete;
  StripFeed(const StripWork& work, std::int64_t strip_height, StripUse use,
            std::function<void(std::int64_t rows)> told);

  /// Rows that follow each other. False where `give` has ended it.
  bool push(const std::vector<ConstView>& rows);
  /// After the last row: what has not been given yet; of an image without rows, its one strip. False as push.
  bool finish();

 private:
  void gather(const std::vector<ConstView>& rows, std::int64_t from, std::int64_t count);
  void next_strip(const std::vector<ConstView>* pixels);
  void give(const Strip& strip);

  const StripWork& work_;
  std::int64_t height_;
  StripUse use_;
  std::function<void(std::int64_t rows)> told_;
  StripSlots slots_;
  Strip strip_;                   // the one that is gathered
  std::int64_t gathered_ = 0;     // rows of it
  std::optional<Strip> waiting_;  // on CUDA, computed and not given yet
  bool go_on_ = true;
};

}  // namespace areal::strips
