#pragma once
// The run of a sequence, with any workers: the calling thread reads, the workers' threads compute, one thread passes
// the answers to the sink. They communicate only through the ring of slots; none of them is a task of oneTBB, so none
// waits inside one.

#include <areal/sequence.hpp>
#include <functional>
#include <memory>
#include <vector>
#include "queue/task_queue.hpp"
#include "video/frame_worker.hpp"
#include "video/slot_ring.hpp"

namespace areal::video {

struct FrameRun {
  const FrameWork& work;
  const SequenceOptions& options;
  std::vector<Slot>& slots;  ///< borrowed for the run
  std::function<std::vector<std::unique_ptr<queue::TaskWorker>>(SlotRing& ring, const StageClock& clock)> workers;
};

/// See HistogramSequence::run.
SequenceReport run_frames(const FrameRun& run, const FrameSource& source, const FrameRegions& regions,
                          const FrameSink& sink);

}  // namespace areal::video
