#pragma once
// The guided filter (He, Sun and Tang 2010). One walk down strips of rows and panels of columns runs both passes: the
// sums of windows, from which a and b follow, and behind them the sums of a and b, whose rows a ring keeps. Both add in
// the order of formulas/block_order.hpp, in double, so that sums of integers are exact and the bits do not depend on
// threads, strips or panels. The first sums of bytes are 32-bit integers, from which the row that leaves is subtracted.
// Reads 2, writes 1 per pixel of image and guide; a strip begins with 2 h rows, a panel with w columns on each side.

#include <areal/filter.hpp>
#include <array>
#include <cstddef>
#include <cstdint>
#include "cpu/filter/positions.hpp"
#include "cpu/filter/request.hpp"
#include "cpu/filter/row_blocks.hpp"

namespace areal::cpu {

class Guided {
 public:
  /// A checked request.
  explicit Guided(const FilterRequest& request);

  std::size_t workspace_bytes() const noexcept { return workspace_bytes_; }
  /// Checked views. The workspace may hold anything.
  void execute(const FilterArguments& arguments, void* workspace, const FilterRows& rows) const;

 private:
  class Strip;

  /// A sum that windows need: of p, a channel of I, or a product of two.
  struct Term {
    int one, other;  ///< channels of the guide; `p` for p; other is `none` for one alone
  };
  static constexpr int p = 3, none = -1;
  static constexpr std::size_t most_terms = 13, most_coefficients = 4;

  std::int64_t panels() const { return (request_.columns.outputs + panel_ - 1) / panel_; }
  /// Positions of the sums of a and b, and of those of the pixels, in a panel.
  Positions again(std::int64_t panel) const;
  Positions first(const Positions& again) const;
  void add_term(int one, int other) { terms_[term_count_++] = {one, other}; }

  FilterRequest request_;
  double eps_;
  std::size_t channels_;                             ///< of the guide
  formulas::WindowAxis again_columns_, again_rows_;  ///< the windows that hold a pixel
  std::int64_t panel_, ring_;
  std::array<Term, most_terms> terms_{};
  std::size_t term_count_ = 0;
  bool by_bytes_ = false;  ///< image and guide are of 8u, and sums of products fit 32 bits
  struct {
    std::array<RowBlocks::Layout, most_terms> terms;
    std::array<RowBlocks::Layout, most_coefficients> coefficients;
    std::array<std::size_t, most_terms> sums{};
    std::array<std::size_t, most_coefficients> ring{}, beyond{}, means{}, guide{};
    std::array<std::size_t, most_terms> columns{}, prefixes{};
    std::array<std::size_t, most_coefficients> entering{}, leaving{};  ///< by source
    std::size_t one = 0, other = 0, merged = 0, count = 0, share = 0, count_again = 0, share_again = 0, values = 0,
                out = 0;
    std::size_t prefix = 0, suffix = 0, whole = 0, total = 0, between = 0, longer = 0, bytes = 0;
    std::int64_t ring_pitch = 0;
  } layout_;
  std::size_t workspace_bytes_ = 0;
};

}  // namespace areal::cpu
