#pragma once
// One run over the tiles of an image: a thread reads tiles ahead into slots, the lanes of a queue's workers compute
// parts that are ready, and the caller's thread waits.
//
// The reader goes by diagonals through one slot more than there are lanes. A slot keeps its tile until all parts of it
// are finished, so an attempt that is made again reads nothing; and the first part that is not finished has its pixels,
// so a run never stands still.

#include <atomic>
#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>
#include "api/core/memory.hpp"
#include "pieces/core/inputs.hpp"
#include "pieces/tiles/readiness.hpp"
#include "pieces/tiles/tile_job.hpp"
#include "pieces/tiles/tile_lane.hpp"
#include "queue/task_queue.hpp"

namespace areal::pieces {

/// Lanes and host memory that wait for the next run. Thread-safe.
class TilePool {
 public:
  /// A lane of that worker, whose device is current.
  std::unique_ptr<TileLane> take_lane(const TileJob& job, std::size_t worker);
  void give_back(std::size_t worker, std::unique_ptr<TileLane> lane);
  /// Slots of pixels, which one run has at a time; those of another are new.
  using Slots = std::vector<std::vector<Memory>>;
  Slots take_slots();
  void give_back(Slots slots);

 private:
  std::mutex mutex_;
  std::map<std::size_t, std::vector<std::unique_ptr<TileLane>>> lanes_;
  Slots slots_;
};

/// How a run reads its inputs, and what it does with the parts.
struct TileUse {
  Inputs inputs;
  /// Parts wait for the edges of their neighbours, and tell `TileRun::handed_on` of theirs.
  bool carried = false;
  /// Tiles without need are not read; none: all are.
  std::function<bool(const Part&)> needs_pixels = {};
  /// Does a part on a worker's lane. False: there was nothing to do.
  std::function<bool(TileLane&, int worker, const Part&, const TilePixels&)> work = {};
  /// The part will not be tried again. Called before the run's progress.
  std::function<void(const Part&)> finished = {};
};

class TileRun {
 public:
  TileRun(const TileJob& job, TilePool& pool, TileUse use);

  /// All parts. Throws what stopped it; Cancelled where the caller's CancelScope or progress says so. `wrap` may
  /// replace each worker; tests plant others with it.
  void go(const queue::WrapWorker& wrap = {});

  /// \name Of `work`
  ///@{
  const TileGrid& grid() const noexcept { return grid_; }
  Readiness& readiness() noexcept { return readiness_; }
  /// The part's edges can be taken.
  void handed_on(std::int64_t part);
  /// No part is begun any more, and `go` throws what this was given, if anything.
  void stop(std::exception_ptr why = {});
  bool stopped() const noexcept { return stopped_; }
  ///@}

 private:
  class PartWorker;
  struct Slot {
    std::int64_t tile = -1, unfinished = 0;
    std::vector<ConstView> inputs;
  };

  void read_all();
  void read(const Part& tile, Slot& slot, std::vector<Memory>& memory);
  void wait_for_parts();
  void arrived(std::int64_t part);
  void finish(std::int64_t part);
  TilePixels pixels_of(std::int64_t tile);

  const TileJob& job_;
  TilePool& pool_;
  const TileUse use_;
  const TileGrid grid_;
  const std::uint64_t number_;  // of the run
  Readiness readiness_;
  queue::TaskQueue* queue_ = nullptr;

  std::mutex mutex_, telling_;  // the latter while the caller's progress and note are called
  std::condition_variable changed_;
  std::vector<Slot> slots_;
  TilePool::Slots memory_;
  std::int64_t finished_ = 0, reported_ = 0;
  std::exception_ptr error_;
  std::atomic<bool> stopped_{false};
};

}  // namespace areal::pieces
