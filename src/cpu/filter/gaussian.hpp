#pragma once
// Gaussians: `convolution`, the sampled weights, along columns and then along rows; `extended-boxes` (Gwosdek et al.
// 2011), boxes that repeat. Both walk down strips of rows and panels of columns, and keep the rows of their windows in
// rings; the boxes of a column follow each other there. Boxes add in the order of formulas/block_order.hpp, so that
// nothing drifts. All is in double, and its bits do not depend on threads, strips or panels. Reads 1, writes 1 per
// pixel; a strip begins with the rows of its first window, a panel with the columns on each side.

#include <areal/filter.hpp>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>
#include "cpu/filter/positions.hpp"
#include "cpu/filter/request.hpp"
#include "cpu/filter/row_blocks.hpp"
#include "formulas/gaussian.hpp"

namespace areal::cpu {

class Gaussian {
 public:
  using Axis = formulas::GaussianAxis;
  static constexpr double most_sigma = 1000;
  static constexpr std::int64_t most_reach = 4096;  ///< of weights
  static constexpr int most_passes = 10;

  /// A checked request.
  explicit Gaussian(const FilterRequest& request);

  std::size_t workspace_bytes() const noexcept { return workspace_bytes_; }
  /// Checked views. The workspace may hold anything.
  void execute(const FilterArguments& arguments, void* workspace, const FilterRows& rows) const;

 private:
  class Strip;

  /// Along an axis of the image.
  struct Along : Axis {
    std::vector<double> weights;
    std::vector<double> shares;  ///< with edge `shrink`: 1 / the weights inside, by output
    Along(const Axis& axis, double sigma, const formulas::WindowAxis& window);
    std::int64_t stages() const { return passes == 0 ? 1 : passes; }
    /// Rows that are computed together: the columns of their windows then stay in the first-level cache.
    std::int64_t together() const { return passes == 0 ? 8 : 1; }
    std::int64_t ring() const { return passes == 0 ? size() + together() - 1 : 2 * box.reach() + 1; }
  };

  /// Of a request of pixels or of elements.
  std::int64_t panels(const FilterRequest& request) const { return (request.columns.outputs + panel_ - 1) / panel_; }
  Positions positions(const FilterRequest& request, std::int64_t panel) const;
  bool takes_elements() const;

  FilterRequest request_, elements_;  ///< of interleaved channels, whose elements weights take together
  Along columns_, rows_;
  std::vector<double> element_shares_;  ///< those of columns, for each element
  std::int64_t panel_;
  struct {
    std::vector<RowBlocks::Layout> stages;
    std::vector<std::size_t> rings;
    std::size_t pointers = 0, merged = 0, other = 0, values = 0, out = 0, sums = 0;
    std::size_t prefix = 0, suffix = 0, whole = 0, total = 0, between = 0, longer = 0, bytes = 0;
    std::int64_t pitch = 0;
  } layout_;
  std::size_t workspace_bytes_ = 0;
};

}  // namespace areal::cpu
