#pragma once
// The run of a sequence, whoever its workers are: the thread that calls reads, the workers' threads compute, one thread
// gives the answers to the sink. They meet in the ring of slots alone; none of them is a task of oneTBB, so none waits
// in one.

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
  std::vector<Slot>& slots;  ///< lent to the run
  std::function<std::vector<std::unique_ptr<queue::TaskWorker>>(SlotRing& ring, const StageClock& clock)> workers;
};

/// See HistogramSequence::run.
SequenceReport run_frames(const FrameRun& run, const FrameSource& source, const FrameRegions& regions,
                          const FrameSink& sink);

}  // namespace areal::video
