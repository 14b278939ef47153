#pragma once
// Counts of a panel's columns by level, after Perreault and Hebert 2007: each column of the window's rows has a
// histogram of 256 levels in two steps of 16, a row that enters adds a pixel to each and the row that leaves takes one
// away. The counts of a step are cumulative: a column's bin holds all its pixels up to that level, so that a comparison
// of 16 bins with a rank finds the step. A window is the sum of its columns; it gains and loses one from pixel to
// pixel, in the coarse step always, in the fine one where it is needed.

#include <cstddef>
#include <cstdint>
#include "cpu/filter/entropy_terms.hpp"
#include "cpu/filter/range_weights.hpp"

namespace areal::cpu {

/// Of a cell that is left out.
inline constexpr std::uint16_t no_level = 256;

/// Counts are C: 16 bits for windows of fewer than 2^16 pixels, else 32.
template <class C>
struct ColumnCounts {
  C* coarse;           ///< [cell][16]
  C* fine;             ///< [16, and one for cells that are left out][cell][16]
  std::int64_t cells;  ///< columns
};

template <class C>
struct ColumnKernels {
  void (*add)(const ColumnCounts<C>& counts, const std::uint16_t* levels);
  void (*step)(const ColumnCounts<C>& counts, const std::uint16_t* entering, const std::uint16_t* leaving);
  /// For each window i of `size` columns from cell i on: its valid pixels `n`, the level of the pixel of the
  /// percentile, and `rest`, how many of that level's pixels are before it; null where that does not matter.
  void (*percentiles)(const ColumnCounts<C>& counts, std::int64_t size, std::int64_t windows, double percent,
                      std::uint32_t* n, std::uint8_t* level, std::uint32_t* rest);
  /// The pixels of each window that are at most its level of `centres`.
  void (*ranks)(const ColumnCounts<C>& counts, std::int64_t size, std::int64_t windows, const std::uint8_t* centres,
                std::uint32_t* n, std::uint32_t* up_to);
  /// The least of the most frequent levels; 0 without pixels, as the others.
  void (*modes)(const ColumnCounts<C>& counts, std::int64_t size, std::int64_t windows, std::uint32_t* n,
                std::uint8_t* level);
  void (*splits)(const ColumnCounts<C>& counts, std::int64_t size, std::int64_t windows, bool zeros_alone,
                 std::uint32_t* n, std::uint8_t* level);
  void (*entropies)(const ColumnCounts<C>& counts, std::int64_t size, std::int64_t windows, const EntropyTerms& terms,
                    std::uint32_t* n, double* entropy);
  /// The weighted means around the levels of `centres`. n is 0 for windows without a pixel that has a weight.
  void (*bilateral)(const ColumnCounts<C>& counts, std::int64_t size, std::int64_t windows, const RangeWeights& weights,
                    const std::uint8_t* centres, std::uint32_t* n, double* mean);
};

/// The best ones for this CPU.
template <class C>
const ColumnKernels<C>& column_kernels();

/// For `classes`: the place among `n` cells (x, y) of the `rest`-th one, from 0, that lies in the window whose first
/// cell is (left, top). There must be one.
using FindCell = std::int64_t (*)(const std::uint16_t* x, const std::uint16_t* y, std::int64_t n, std::uint16_t left,
                                  std::uint16_t top, std::uint16_t width, std::uint16_t height, std::uint32_t rest);
FindCell find_cell();

}  // namespace areal::cpu
