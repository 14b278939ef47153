#pragma once
// Algorithm 6 of Poostchi et al. 2017 on <areal/device.hpp>: frames are read from disk into page-locked memory, go to
// the device, become tensors there and come back, in so many slots with a stream each.

#include <areal/execution.hpp>
#include <areal/view.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>
#include "frame_file.hpp"

namespace areal::bench {

/// In which order the slots' work is queued: a stage of all slots before the next stage (the paper's), or all stages of
/// one slot after the other.
enum class IssueOrder { breadth, depth };
std::string_view name_of(IssueOrder order) noexcept;

struct PipelineOptions {
  std::int64_t bins = 32;
  std::string algorithm = "wf-tis";  // on tiles of 64, where it has tiles
  int slots = 2;  // 1: a frame's stages follow one another, and no frame is read before the last ended
  IssueOrder order = IssueOrder::breadth;
  Execution on = {};
  bool timeline = false;  // also tells the initialisation from the scans, and keeps every stage's times
};

enum class FrameStage { read, up, initialise, scan, down };
inline constexpr int frame_stages = 5;
std::string_view name_of(FrameStage stage) noexcept;

/// Microseconds of a frame's stages. Of several slots they include waiting for the link or the kernels of another slot.
struct StageTimes {
  double read = 0, up = 0, initialise = 0, scan = 0, down = 0;
  double kernels() const { return initialise + scan; }
  double sum() const { return read + up + kernels() + down; }
  /// The longest of what can overlap: the reading, the link's two directions, the kernels.
  double longest() const;
};

/// One stage of a frame in a slot, in seconds from the run's begin.
struct StageSpan {
  FrameStage stage;
  int slot;
  std::int64_t frame;
  double begin, end;
};

struct PipelineRun {
  std::string algorithm;  // what auto chose
  std::int64_t frames = 0;
  double frame_us = 0;  // from one tensor's arrival to the next one's, those of the first two rounds left out
  StageTimes stages;
  std::vector<StageSpan> timeline;
};

class FramePipeline {
 public:
  /// Throws what a plan and its memory throw.
  FramePipeline(const FrameFile& file, const PipelineOptions& options);
  ~FramePipeline();
  /// At least so many frames: three rounds or more of all slots. `check` has each frame's number and tensor, in order.
  PipelineRun run(std::int64_t frames, const std::function<void(std::int64_t frame, const ConstView& tensor)>& check);

  /// The frames of a run for which so many are asked.
  std::int64_t rounded(std::int64_t frames) const;

 private:
  struct Slot;
  class Run;
  const FrameFile& file_;
  PipelineOptions options_;
  std::vector<std::unique_ptr<Slot>> slots_;
};

}  // namespace areal::bench
