#pragma once
// Windows of floats, minima and maxima, by blocks (van Herk 1992; areal). Nothing is subtracted, so that a window's
// value depends on its own pixels alone; formulas/block_order.hpp fixes the order of the additions. The rows of a
// window merge to one row, then the windows along it. Reads 2, writes 1 per pixel; a strip begins with h rows.

#include <areal/filter.hpp>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>
#include "cpu/filter/block_rows.hpp"
#include "cpu/filter/request.hpp"
#include "cpu/filter/row_blocks.hpp"
#include "cpu/filter/walk_rows.hpp"

namespace areal::cpu {

class Blocks {
 public:
  /// A checked request for floats, or for minimum or maximum.
  explicit Blocks(const FilterRequest& request);
  /// The most pixels that windows may reach beyond an edge, for sums that cannot be cut there.
  static std::int64_t most_beyond(std::int64_t extent) { return extent > 1024 ? extent : 1024; }

  std::size_t workspace_bytes() const noexcept { return workspace_bytes_; }
  /// Checked views. The workspace may hold anything. Wolf's thresholds need all rows.
  void execute(const FilterArguments& arguments, void* workspace, const FilterRows& rows) const;

 private:
  class Strip;

  enum class Kind : std::uint8_t { pixels, squares, counts, moments, extremes };
  /// A row of windows that outputs need.
  struct Layer {
    Kind kind;
    Merge merge;
    RowBlocks::Layout rows = {};
    std::size_t row = 0, windows = 0;  ///< in the workspace
  };

  void add_layer(Kind kind, Merge merge) { layers_[static_cast<std::size_t>(layer_count_++)] = {kind, merge}; }
  bool is_extreme() const { return layers_[0].kind == Kind::extremes; }
  bool counts() const { return request_.mask || request_.omit_nan; }

  FilterRequest request_;
  Finish finish_;
  std::array<Layer, 4> layers_{};
  int layer_count_ = 0;
  formulas::WindowAxis columns_, rows_;  ///< cut where more pixels beyond an edge change nothing
  std::int64_t column_block_;
  BlockWindows along_{};
  std::vector<std::int32_t> shown_;  ///< the pixel at each position of a row; the width for beyond the edge
  std::int64_t inside_begin_ = 0, inside_end_ = 0;  ///< positions of pixels in order
  struct {
    std::size_t pixels = 0, valid = 0, spread = 0, prefix = 0, suffix = 0, whole = 0, total = 0, between = 0,
                longer = 0;
    std::size_t count = 0, numerator = 0, values = 0, out = 0, bytes = 0;
  } layout_;
  std::size_t workspace_bytes_ = 0;
};

}  // namespace areal::cpu
