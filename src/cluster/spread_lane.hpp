#pragma once
// One strip of a spread table at work: its plans and workspaces, its streams and events on CUDA, the row that it takes
// over from above.

#include <areal/sat.hpp>
#include <areal/spread.hpp>
#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <vector>
#include "api/core/memory.hpp"
#include "api/core/planned.hpp"
#include "cluster/spread_cut.hpp"
#include "cuda/device.hpp"

namespace areal::cluster {

struct SpreadWork {
  Shape image;
  Type type = Type::u8;
  Border border = Border::zero;
  SatOptions plan;  ///< of a piece: border none, types, algorithm
  std::vector<SpreadStrip> strips;
  SpreadCut cut;

  Type table_type() const { return plan.types->table; }
  std::int64_t size() const { return static_cast<std::int64_t>(size_of(table_type())); }
  /// Where the sums of a strip's first row of pixels are in its table.
  std::int64_t row_offset(std::size_t strip) const {
    return border == Border::exclusive || (border == Border::zero && strip == 0) ? 1 : 0;
  }
  std::int64_t column_offset() const { return border == Border::none ? 0 : 1; }
};

/// `take_row`, `compute` and `end` are called by the strip's thread, all else by the caller's, before and after.
class SpreadLane {
 public:
  /// Allocates. `above` is the strip above that has rows, or null.
  SpreadLane(const SpreadWork& work, std::size_t strip, const SpreadLane* above);

  bool on_cuda() const noexcept { return strip_.worker.backend == Backend::cuda; }
  bool takes_rows() const noexcept { return above_ != nullptr; }
  std::size_t parts() const noexcept { return parts_.size(); }
  /// The number of its first part, and of the last one above, among all parts.
  std::size_t first_part() const noexcept { return first_part_; }
  std::size_t part_above() const noexcept { return first_part_ - 1; }

  /// Queues what comes first, behind what that stream has. What the views show stays until the end.
  void begin(const ConstView& pixels, const View& table, Stream caller, const SpreadLane* below);
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
  struct Part {
    const SpreadPart* of = nullptr;
    std::optional<cuda::OwnedStream> stream;
    std::vector<std::unique_ptr<cuda::Event>> done;  // of each band
    std::map<std::int64_t, Planned<SatPlan>> plans;  // by the band's width
    View table;                                      // its rows of sums, all columns
    Memory above;  // the first band's row above, a zero first, where that is not before it in the table
  };

  void clear_edges();
  void clear(void* at, std::int64_t pitch, std::int64_t row_bytes, std::int64_t rows);
  void copy(void* to, const void* from, std::int64_t bytes, Stream stream);
  const void* row_above(std::size_t p, std::size_t band);
  Stream rows_stream() const { return rows_ ? rows_->get() : Stream::host(); }
  Stream stream_of(const Part& part) const { return part.stream ? part.stream->get() : Stream::host(); }

  const SpreadWork& work_;
  const SpreadStrip& strip_;
  const std::size_t number_;
  const SpreadLane* const above_;
  std::size_t first_part_ = 0;
  std::deque<Part> parts_;
  Memory row_above_, beyond_;  // width + 1 entries, a zero first; the sums of a row that belongs to no table
  std::optional<cuda::OwnedStream> rows_;
  std::optional<cuda::Event> begun_, cleared_, taken_, rows_ended_;
  bool has_run_ = false;
  Stream caller_ = Stream::host();
  ConstView pixels_;
  View table_;
};

/// `f()`; what it throws of memory and devices names the worker.
template <class F>
auto named(const Worker& worker, const F& f) {
  try {
    return f();
  } catch (const OutOfMemory& error) {
    throw OutOfMemory(name_of(worker) + ": " + error.what(), error.bytes());
  } catch (const DeviceError& error) {
    throw DeviceError(name_of(worker) + ": " + error.what(), error.lost());
  }
}

}  // namespace areal::cluster
