#pragma once
// Section 4.6 of Poostchi et al. 2017 on <areal/device.hpp>: groups of bins are tasks in a queue. Each device takes the
// next task; copying a group's tensor back overlaps with computing another group.

#include <areal/execution.hpp>
#include <areal/sequence.hpp>
#include <areal/view.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>
#include "bench/harness/bench.hpp"

namespace areal::bench {

struct BinsQueueOptions {
  std::int64_t bins = 32;
  std::string algorithm = "wf-tis";  // on tiles of 64, if it has tiles
  std::vector<Worker> workers;
  std::uint64_t group_bytes = std::uint64_t{1} << 30;  // most bytes of a group's tensor; a group has at least one bin
  int slots = 2;                                       // concurrent groups of a worker, with a thread each
};

/// The tensor of bins [first, first + tensor.shape.channels) of a frame, in page-locked memory that is reused after the
/// call.
struct BinsPiece {
  std::int64_t frame, first;
  ConstView tensor;
};

class BinsQueue {
 public:
  /// Throws the exceptions of HistogramPlan and of allocations.
  BinsQueue(const Size& size, const BinsQueueOptions& options);
  ~BinsQueue();

  std::int64_t group_bins() const noexcept { return group_bins_; }
  std::int64_t groups() const noexcept { return groups_; }
  const std::string& algorithm() const;  ///< what auto chose

  /// Computes all groups of frames [first, first + count) and returns the seconds. `image` gives a frame's pixels, in
  /// page-locked memory for full speed. The workers' threads call `piece` concurrently. Rethrows their exceptions.
  double run(std::int64_t first, std::int64_t count, const std::function<ConstView(std::int64_t frame)>& image,
             const std::function<void(const BinsPiece&)>& piece);

 private:
  struct Slot;
  Size size_;
  std::int64_t group_bins_ = 0, groups_ = 0;
  std::vector<std::unique_ptr<Slot>> slots_;
};

}  // namespace areal::bench
