#pragma once
// What one channel keeps to answer regions while they are dragged: a compact store of histograms, and cells of sums and
// extremes for pixels of more than 8 bits, whose 256 bins do not tell their values.

#include <areal/histogram_store.hpp>
#include <areal/region.hpp>
#include <areal/view.hpp>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>
#include "view/answer.hpp"
#include "view/pyramid.hpp"

namespace areal::view {

class Survey {
 public:
  /// Bytes of the store of a channel.
  static std::uint64_t store_bytes(const Extent& full, Type type, std::int64_t bins);

  /// One channel in host memory, which must stay valid, of fewer than 2^31 pixels. Throws InvalidArgument for a range
  /// or a number of bins that Binning::uniform refuses.
  Survey(const ConstView& channel, std::int64_t bins, std::pair<double, double> range, int threads = 0);

  /// Makes the cells and, if it takes at most `memory` bytes, the store; once, while other threads call `answer`. O(H
  /// W). Returns the bytes of the store.
  std::uint64_t make(std::uint64_t memory, int threads = 0);
  /// What is not made yet is counted from the region's pixels, with the same answer but for the last digits of means
  /// and deviations. Throws InvalidArgument for a region outside the image. For any thread.
  Answer answer(const Region& region) const;
  Store store() const noexcept { return has_store_ ? store_.store() : Store::none; }

 private:
  std::vector<std::uint64_t> counts(const Region& region) const;

  ConstView channel_;
  Execution execution_;
  Counting counting_;
  HistogramStore store_;
  std::atomic<bool> has_store_ = false;
  std::optional<Cells> cells_;  // of pixels of more than 8 bits
};

}  // namespace areal::view
