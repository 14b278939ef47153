#pragma once
// Equalize, Otsu, Entropy, Modal and Bilateral of windows, from their counts by level.
//
// column-counts: 8u by histograms of a panel's columns (see column_counts.hpp), O(256) a pixel for any window.
// sliding-counts, but for Bilateral: 8u and 16u by a histogram of the window that takes in a column and gives one up
// from pixel to pixel, to the right in one row and to the left in the next (see sliding_counts.hpp).

#include <areal/filter.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include "cpu/filter/entropy_terms.hpp"
#include "cpu/filter/range_weights.hpp"
#include "cpu/filter/request.hpp"

namespace areal::cpu {

class Levels {
 public:
  /// What the algorithm takes, if it does not take the request; else empty.
  static std::string refusal(std::string_view algorithm, const FilterRequest& request);

  /// A checked request, that the algorithm which it names takes.
  explicit Levels(const FilterRequest& request);

  std::size_t workspace_bytes() const noexcept { return workspace_bytes_; }
  /// Checked views. The workspace may hold anything.
  void execute(const FilterArguments& arguments, void* workspace, const FilterRows& rows) const;

 private:
  template <class T, class Out>
  class Panel;
  template <class Out, class C>
  class CountsPanel;
  template <class T, class Out>
  class SlidingPanel;

  struct Layout {
    std::size_t shown = 0, keys = 0, marks = 0, n = 0, level = 0, real = 0;  // of both
    std::size_t levels = 0, coarse = 0, fine = 0, centres = 0, up_to = 0;    // column counts
    std::size_t columns = 0, counts = 0;                                     // sliding counts
    std::size_t bytes = 0;
  };
  void lay_out();
  bool has_short_counts() const { return columns_.size * rows_.size < 65536; }
  bool slides() const { return request_.algorithm == "sliding-counts"; }
  template <class F>
  void with_counts(const F& f) const;
  std::size_t levels() const { return request_.in == Type::u8 ? 256 : 65536; }
  /// The number of bins of Equalize less 1, of each plane.
  void survey(const FilterArguments& arguments, std::uint32_t* most) const;

  FilterRequest request_;
  formulas::WindowAxis columns_, rows_;  ///< cut where nothing is beyond the edge
  std::int64_t panel_ = 1;               ///< outputs
  EntropyTerms terms_;
  RangeWeights weights_;
  Layout layout_;
  std::size_t workspace_bytes_ = 0;
};

}  // namespace areal::cpu
