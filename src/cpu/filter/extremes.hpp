#pragma once
// Minima and maxima of windows (van Herk 1992 down the columns; doubling along the rows, areal). Rows are extended by
// what lies beyond the edge; the extremes along each row come first. Then blocks of h rows: the extremes from each row
// to its block's end, and those from the block's beginning, of which a window takes one of each. Reads 1, writes 1 per
// pixel; a strip begins with h rows.

#include <areal/filter.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>
#include "cpu/filter/request.hpp"

namespace areal::cpu {

class Extremes {
 public:
  /// What it needs, if it does not take a checked request for a minimum or maximum; empty if it does.
  static std::string takes(const FilterRequest& request);
  explicit Extremes(const FilterRequest& request);

  std::size_t workspace_bytes() const noexcept { return workspace_bytes_; }
  /// Checked views. The workspace may hold anything.
  void execute(const FilterArguments& arguments, void* workspace, const FilterRows& rows) const;

 private:
  class Strip;

  FilterRequest request_;
  bool least_;
  formulas::WindowAxis columns_, rows_;     ///< cut where more pixels beyond an edge change nothing
  std::int64_t panel_ = 0;                  ///< columns of outputs that are computed at a time
  std::vector<std::int32_t> left_, right_;  ///< the pixel at each place beyond the edge; -1 for none
  std::size_t row_bytes_ = 0;               ///< from a row of a block to the next
  std::size_t block_ = 0, prefix_ = 0, row_ = 0, out_ = 0, slot_bytes_ = 0, workspace_bytes_ = 0;
};

}  // namespace areal::cpu
