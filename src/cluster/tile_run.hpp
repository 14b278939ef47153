#pragma once
// One call of a TiledHistogram: its parts as tasks of a queue, its workers, and what ends it.

#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>
#include "cluster/tile_grid.hpp"
#include "cluster/tile_lane.hpp"
#include "queue/task_queue.hpp"

namespace areal::cluster {

class TileRun {
 public:
  TileRun(const TiledSubject& subject, const TiledGrid& grid, TileLanePool& pool, const ImageRows& rows);

  /// Does all parts. `work` does one on a lane, or says that there was nothing to do; `first` are pushed at once, the
  /// others by `push`.
  using WorkPart = std::function<bool(TileLane& lane, int worker, const TensorPart& part)>;
  void go(const WorkPart& work, const std::vector<std::int64_t>& first, const queue::WrapWorker& wrap,
          std::function<void(const TensorPart&)> finished = {});
  void push(const std::vector<std::int64_t>& parts);

  /// No part is begun any more, and `go` throws what it was given, if anything.
  void stop(std::exception_ptr why = {});
  bool stopped() const noexcept { return stopped_; }

  const TiledSubject& subject;
  const TiledGrid& grid;
  TileReader reader;
  const std::uint64_t number;  ///< of the call

 private:
  class PartWorker;
  queue::Task task_of(std::int64_t part) const;

  TileLanePool& pool_;
  std::mutex ending_;
  std::exception_ptr failed_;
  std::atomic<bool> stopped_{false};
  std::int64_t done_ = 0;
  queue::TaskQueue* queue_ = nullptr;
};

/// Counts of regions, as TiledHistogram::answers.
void answer_regions(const TiledSubject& subject, const TiledGrid& grid, TileLanePool& pool, const ImageRows& rows,
                    std::span<const Region> regions, std::span<std::uint64_t> counts,
                    const queue::WrapWorker& wrap = {});
/// The tensor, as TiledHistogram::pieces.
void hand_out_pieces(const TiledSubject& subject, const TiledGrid& grid, TileLanePool& pool, const ImageRows& rows,
                     const TensorSink& sink, const queue::WrapWorker& wrap = {});

}  // namespace areal::cluster
