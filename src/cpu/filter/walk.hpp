#pragma once
// Sums of integers under windows (areal). Each strip of rows keeps the sums of its columns: the row that enters the
// windows is added, the one that leaves them subtracted. Prefix sums along the row then give every window's sum by one
// subtraction, also beyond the edges, whose prefix sums follow from those inside. All is exact, so that the bits do not
// depend on threads, SIMD targets or strips. Reads 2, writes 1 per pixel; a strip begins with h rows.

#include <areal/filter.hpp>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include "cpu/filter/request.hpp"
#include "cpu/filter/walk_rows.hpp"

namespace areal::cpu {

class Walk {
 public:
  /// A checked request for integers and another statistic than minimum and maximum.
  explicit Walk(const FilterRequest& request);

  std::size_t workspace_bytes() const noexcept { return workspace_bytes_; }
  /// Checked views. The workspace may hold anything. Wolf's thresholds need all rows.
  void execute(const FilterArguments& arguments, void* workspace, const FilterRows& rows) const;

 private:
  class Strip;

  /// A sum that windows need.
  struct Term {
    Power power;
    bool wide;
    bool counts = false;  ///< of valid pixels: of rows of ones and zeros, of 8u
    Type type = Type::u8;
    std::uint64_t beyond = 0;  ///< of a pixel beyond the edge
  };
  /// How count * squares - sum^2 is computed.
  enum class Numerator : std::uint8_t { none, exact, integers, wide_integers };
  /// Offsets in a thread's part of the workspace.
  struct Layout {
    std::array<std::size_t, 4> columns{}, prefix{};
    std::size_t left = 0, right = 0;
    std::array<std::size_t, 2> rows{}, marks{};
    std::size_t beyond_pixels = 0, beyond_marks = 0;
    std::size_t count = 0, sum = 0, squares = 0, numerator = 0, pixels = 0, values = 0, out = 0;
    std::array<std::size_t, 4> integers{};  ///< of the sums, then of the counts
    std::size_t bytes = 0;
  };

  void add_term(Power power, bool wide);
  bool counts() const { return request_.mask; }

  FilterRequest request_;
  Finish finish_;
  std::array<Term, 4> terms_{};
  int term_count_ = 0;
  Numerator numerator_ = Numerator::none;
  bool means_of_integers_ = false;  ///< the output may be computed by RoundedMean
  bool sums_fit_31_bits_ = false;   ///< and squares, if the filter needs them; FinishKernels::finish_inner serves
  bool by_bytes_ = false;           ///< by ByteMeans, for rows without gaps between elements
  std::int64_t chunk_ = 0;          ///< elements that are finished at a time
  Layout layout_;
  std::size_t workspace_bytes_ = 0;
};

}  // namespace areal::cpu
