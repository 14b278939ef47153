#pragma once
// One strip of a spread table at work: its parts, their steps, streams and events, the row that it takes over from
// above.

#include <areal/error.hpp>
#include <areal/spread.hpp>
#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <vector>
#include "pieces/core/current_device.hpp"
#include "pieces/core/in_place_carries.hpp"
#include "pieces/core/table_work.hpp"
#include "pieces/spread/cut.hpp"

namespace areal::pieces {

struct SpreadWork {
  SatPlan whole;  // of the whole table; it takes no memory
  SatOptions of_pieces;
  std::vector<SpreadStrip> strips = {};
  SpreadCut cut = {};

  Border border() const { return whole.options().border; }
};

/// `f()` while the worker's device is current; what it throws of memory and devices names the worker.
template <class F>
auto on_worker(const Worker& worker, const F& f) {
  try {
    const CurrentDevice device(worker);
    return f();
  } catch (const OutOfMemory& error) {
    throw OutOfMemory(name_of(worker) + ": " + error.what(), error.bytes());
  } catch (const DeviceError& error) {
    throw DeviceError(name_of(worker) + ": " + error.what(), error.lost());
  }
}

/// Its functions are called while the worker's device is current: `take_row`, `compute` and `end` by the strip's
/// thread, all else by the caller's, before and after.
class SpreadLane {
 public:
  /// Allocates. `above` is the strip above that has rows, or null.
  SpreadLane(const SpreadWork& work, std::size_t strip, const SpreadLane* above);

  const Work& tables() const noexcept { return tables_; }
  bool takes_rows() const noexcept { return above_ != nullptr; }
  std::size_t parts() const noexcept { return parts_.size(); }
  /// The number of its first part, and of the last one above, among all parts.
  std::size_t first_part() const noexcept { return first_part_; }
  std::size_t part_above() const noexcept { return first_part_ - 1; }

  /// Queues what comes first, behind what that stream has. What the views show stays until the end.
  void begin(const Views& strip, Stream caller, const SpreadLane* below);
  /// The band's entries of the row above, of which the lane above has queued the work.
  void take_row(std::size_t band);
  /// The band of its part p, of which all before it is queued.
  void compute(std::size_t p, std::size_t band);
  /// What comes last.
  void end();
  /// When all lanes have ended: what the caller queues later begins when this lane is done, and the lane below has
  /// taken its row.
  void hold_back_caller(const SpreadLane* below) const;
  /// Until all that was queued is done; throws what went wrong.
  void wait() const;
  void wait_quietly() const noexcept;

 private:
  struct Part : StayingTables {
    SpreadPart of;
    OwnedStream stream;
    std::vector<Memory> beyond = {};                           // the sums of a row that belongs to no table
    std::map<std::int64_t, std::unique_ptr<Step>> steps = {};  // by the band's width
  };

  const SpreadWork& work_;
  const SpreadStrip& strip_;
  const TableWork tables_;
  const SpreadLane* const above_;
  std::size_t first_part_ = 0;
  OwnedStream rows_;  // of the row above and the edges
  StreamPoint begun_, cleared_, taken_, rows_ended_;
  std::deque<Part> parts_;
  std::deque<InPlaceCarries> carries_;  // of each part; the first is of the strip, which may have no part
  Stream caller_ = Stream::host();
  Views views_;
};

}  // namespace areal::pieces
