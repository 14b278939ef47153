#pragma once
// What one channel of a picture beyond memory keeps: cells of side x side pixels. Their histograms are summed over all
// cells above and left, so that any rectangle of cells costs four reads a bin; of pixels of more than 8 bits, a pyramid
// of cells holds the moments, which confines NaN and rounding. Pixels at a region's edges are read from the picture.

#include <areal/region.hpp>
#include <areal/view.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include "view/answer.hpp"
#include "view/pyramid.hpp"

namespace areal::view {

/// Columns [left, right) and rows [top, bottom) of cells.
struct CellRange {
  std::int64_t left = 0, top = 0, right = 0, bottom = 0;
  bool empty() const noexcept { return left >= right || top >= bottom; }
};

class Grid {
 public:
  static constexpr std::int64_t least_side = 64, most_side = 4096;
  /// Receives blocks of pixels.
  using Pixels = std::function<void(const ConstView&)>;

  /// The cells' memory.
  static std::uint64_t bytes(const Extent& full, Type type, std::int64_t bins, std::int64_t side);
  /// The least side whose cells take at most `memory` bytes: `least_side` doubled until they fit, or `most_side`.
  static std::int64_t side_for(const Extent& full, Type type, std::int64_t bins, std::uint64_t memory);
  /// `sample`: some pixels of the channel. Throws InvalidArgument for what Binning::uniform refuses.
  static std::unique_ptr<Grid> make(const Extent& full, std::int64_t bins, std::pair<double, double> range,
                                    std::int64_t side, const ConstView& sample);

  virtual ~Grid() = default;
  virtual std::int64_t side() const = 0;
  /// Adds pixels of rows that are not complete, each pixel once, on one thread while others call `answer`.
  virtual void add(std::int64_t x, std::int64_t y, const ConstView& block, int threads) = 0;
  /// The histogram covers another range from now on. Pixels of more than 8 bits must be forgotten and added again. Not
  /// while others call `answer`.
  virtual void set_range(std::pair<double, double> range) = 0;
  virtual void forget() = 0;
  /// All pixels of the first `rows` rows are added: the cells that lie in them can be read.
  virtual void complete(std::int64_t rows) = 0;
  /// Rows of cells that can be read.
  virtual std::int64_t rows() const = 0;
  /// Of readable cells and of the pixels that `rest` passes on. O(bins + side of the range), and the pixels. For any
  /// thread.
  virtual Answer answer(const CellRange& cells, const std::function<void(const Pixels&)>& rest) const = 0;

 protected:
  Grid() = default;
  Grid(const Grid&) = delete;
  Grid& operator=(const Grid&) = delete;
};

}  // namespace areal::view
