#pragma once
// Section 4.6 of Poostchi et al. 2017 on <areal/device.hpp>: the bins of a tensor are grouped into tasks that wait in a
// queue; each device takes the next, and the tensor of a group comes back while another group is computed.

#include <areal/execution.hpp>
#include <areal/sequence.hpp>
#include <areal/view.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>
#include "bench.hpp"

namespace areal::bench {

struct BinsQueueOptions {
  std::int64_t bins = 32;
  std::string algorithm = "wf-tis";  // on tiles of 64, where it has tiles
  std::vector<Worker> workers;
  std::uint64_t group_bytes = std::uint64_t{1} << 30;  // at most, of a group's tensor, where a bin has fewer
  int slots = 2;                                       // groups that a worker has in hand, with a thread each
};

/// The tensor of bins [first, first + tensor.shape.channels) of a frame, in page-locked memory that is used again when
/// the call returns.
struct BinsPiece {
  std::int64_t frame, first;
  ConstView tensor;
};

class BinsQueue {
 public:
  /// Throws what plans and their memory throw.
  BinsQueue(const Size& size, const BinsQueueOptions& options);
  ~BinsQueue();

  std::int64_t group_bins() const noexcept { return group_bins_; }
  std::int64_t groups() const noexcept { return groups_; }
  const std::string& algorithm() const;  ///< what auto chose

  /// Seconds that all groups of frames [first, first + count) took. `image` gives a frame's pixels, page-locked where
  /// they should be copied at full speed; `piece` is called by the workers' threads at once. Throws what they throw.
  double run(std::int64_t first, std::int64_t count, const std::function<ConstView(std::int64_t frame)>& image,
             const std::function<void(const BinsPiece&)>& piece);

 private:
  struct Slot;
  Size size_;
  std::int64_t group_bins_ = 0, groups_ = 0;
  std::vector<std::unique_ptr<Slot>> slots_;
};

}  // namespace areal::bench
