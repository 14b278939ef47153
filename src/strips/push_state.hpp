#pragma once
// An image that is pushed: blocks become rows, rows strips. After an exception of what a strip is used for, the run has
// ended; after a block that was refused it goes on.

#include <areal/error.hpp>
#include <optional>
#include "api/core/require.hpp"
#include "strips/block_rows.hpp"
#include "strips/strip_run.hpp"

namespace areal::strips {

/// What tells a caller's progress of the rows that are done; none where there is none. Throws Cancelled where it says
/// so.
inline std::function<void(std::int64_t)> told(const Progress& progress, std::int64_t all) {
  if (!progress) return {};
  return [progress, all](std::int64_t rows) {
    if (!progress(rows, all)) throw Cancelled(sentence("the strips were cancelled after ", rows, " of ", all, " rows"));
  };
}

class PushState {
 public:
  PushState(const StripWork& work, const Shape& image, std::int64_t strip_height, const char* second,
            const StripOptions& options, StripUse use, std::function<void(std::int64_t)> told)
      : blocks_(image, work.inputs, second, options.tile_width, options.tile_height),
        feed_(work, strip_height, std::move(use), std::move(told)) {}

  bool push(std::int64_t x, std::int64_t y, const ConstView& block, const ConstView& second) {
    require_running();
    if (ended_by_sink_) return false;
    blocks_.push(x, y, block, second, [&](const std::vector<ConstView>& rows) {
      broken_ = true;  // unless this returns
      ended_by_sink_ = !feed_.push(rows);
      broken_ = false;
      return !ended_by_sink_;
    });
    return !ended_by_sink_;
  }
  void finish() {
    require_running();
    if (!ended_by_sink_) {
      blocks_.require_all();
      broken_ = true;
      ended_by_sink_ = !feed_.finish();
      broken_ = false;
    }
    finished_ = true;
  }
  bool is_finished() const noexcept { return finished_; }
  bool ended_by_sink() const noexcept { return ended_by_sink_; }

 private:
  void require_running() const {
    require(!broken_, "the run ended with an exception: begin starts another");
    require(!finished_, "the image is finished: begin starts another");
  }

  BlockRows blocks_;
  StripFeed feed_;
  bool ended_by_sink_ = false, broken_ = false, finished_ = false;
};

inline PushState& begun(std::optional<PushState>& state) {
  require(state.has_value(), "nothing has begun: begin comes before push and finish");
  return *state;
}

}  // namespace areal::strips
