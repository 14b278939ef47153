#pragma once
// Algorithm 6 of Poostchi et al. 2017 on <areal/device.hpp>: each slot, with a stream of its own, reads a frame from
// disk into page-locked memory, copies it to the device, computes the tensor and copies that back.

#include <areal/execution.hpp>
#include <areal/view.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>
#include "bench/harness/frame_file.hpp"

namespace areal::bench {

/// The order in which work is queued. breadth (the paper's): a stage of all slots, then the next stage. depth: all
/// stages of a slot, then the next slot.
enum class IssueOrder { breadth, depth };
std::string_view name_of(IssueOrder order) noexcept;

struct PipelineOptions {
  std::int64_t bins = 32;
  std::string algorithm = "wf-tis";  // on tiles of 64, if it has tiles
  int slots = 2;                     // with 1 nothing overlaps
  IssueOrder order = IssueOrder::breadth;
  Execution on = {};
  bool timeline = false;  // time the initialisation apart from the scans, and keep every stage's times
};

enum class FrameStage { read, up, initialise, scan, down };
inline constexpr int frame_stages = 5;
std::string_view name_of(FrameStage stage) noexcept;

/// Microseconds of a frame's stages. With several slots they include waits for another slot's copies or kernels.
struct StageTimes {
  double read = 0, up = 0, initialise = 0, scan = 0, down = 0;
  double kernels() const { return initialise + scan; }
  double sum() const { return read + up + kernels() + down; }
  /// The longest of the stages that can overlap: reading, each direction of the link, the kernels.
  double longest() const;
};

/// One stage of a frame in a slot, in seconds from the start of the run.
struct StageSpan {
  FrameStage stage;
  int slot;
  std::int64_t frame;
  double begin, end;
};

struct PipelineRun {
  std::string algorithm;  // what auto chose
  std::int64_t frames = 0;
  double frame_us = 0;  // between the arrivals of two tensors, after the first two rounds
  StageTimes stages;
  std::vector<StageSpan> timeline;
};

class FramePipeline {
 public:
  /// Throws the exceptions of HistogramPlan and of allocations.
  FramePipeline(const FrameFile& file, const PipelineOptions& options);
  ~FramePipeline();
  /// Runs rounded(frames) frames. Calls `check` with each frame's number and tensor, in order.
  PipelineRun run(std::int64_t frames, const std::function<void(std::int64_t frame, const ConstView& tensor)>& check);

  /// `frames` rounded up to whole rounds of all slots, three at least.
  std::int64_t rounded(std::int64_t frames) const;

 private:
  struct Slot;
  class Run;
  const FrameFile& file_;
  PipelineOptions options_;
  std::vector<std::unique_ptr<Slot>> slots_;
};

}  // namespace areal::bench
