#pragma once
// Workers for the frames of a sequence: the CPU's threads, or a device's streams. Each lane has its own buffers.

#include <areal/sequence.hpp>
#include <functional>
#include <memory>
#include <string>
#include "queue/task_queue.hpp"
#include "video/slot_ring.hpp"

namespace areal::video {

/// What all frames of a sequence share.
struct FrameWork {
  Shape shape;
  Type type = Type::u8;
  Binning binning;
  bool tensors = false;
  Border border = Border::none;
  std::uint64_t device_bytes = 0;  ///< 0: the free memory
};

/// Each stage of a frame calls `record` from its own thread. All times are seconds of the clock `now`.
struct StageClock {
  std::function<double()> now;
  std::function<void(StageTime::Stage stage, const Frame& frame, int worker, int lane, double begin, double end)>
      record;
  bool times_all = false;  ///< else a worker may record a frame's times for others, too
};

/// A queue's worker whose tasks are the tickets of a ring.
class FrameWorker : public queue::TaskWorker {
 public:
  FrameWorker(int number, SlotRing& ring, const StageClock& clock) : number_(number), ring_(ring), clock_(clock) {}
  bool work(int lane, const queue::Task& task) final {
    Slot* const slot = ring_.begin(task.id);
    if (slot != nullptr) answer(lane, *slot);
    return slot != nullptr;  // null: the frame has been dropped
  }

 protected:
  /// Sets the slot's counts, regions x bins, and its tensor if the sequence has tensors.
  virtual void answer(int lane, Slot& slot) = 0;
  double now() const { return clock_.now(); }
  bool times_all() const { return clock_.times_all; }
  void record(StageTime::Stage stage, const Slot& slot, int lane, double begin, double end) const {
    clock_.record(stage, slot.frame, number_, lane, begin, end);
  }

 private:
  int number_;
  SlotRing& ring_;
  const StageClock& clock_;
};

/// Throws Unavailable for a missing worker, OutOfMemory if its buffers do not fit. `most_lanes`: the most frames in
/// flight on a worker.
std::unique_ptr<FrameWorker> cpu_worker(const FrameWork& work, const Worker& worker, int most_lanes, int number,
                                        SlotRing& ring, const StageClock& clock);
std::unique_ptr<FrameWorker> device_worker(const FrameWork& work, const Worker& worker, int most_lanes, int number,
                                           SlotRing& ring, const StageClock& clock);

}  // namespace areal::video
