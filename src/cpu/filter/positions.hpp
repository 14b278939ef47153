#pragma once
// The positions of a row that the windows of some outputs cover.

#include <algorithm>
#include <cstdint>
#include "cpu/filter/request.hpp"
#include "formulas/block_order.hpp"
#include "formulas/window_axis.hpp"

namespace areal::cpu {

/// Positions are columns of the image, or its elements, and beyond its edges those that the edge shows. A row of
/// elements holds them in order, after `lead` others: columns that an edge shows, but no window covers.
struct Positions {
  std::int64_t start = 0, count = 0;                ///< whole blocks
  std::int64_t covered_begin = 0, covered_end = 0;  ///< by windows; nothing reads the others
  std::int64_t columns_begin = 0, columns_end = 0;  ///< that covered positions show
  std::int64_t lead = 0, length = 0;                ///< elements of a row
  std::int64_t together = 1;                        ///< see FilterRequest

  Positions() = default;
  /// Windows of outputs [begin, end), of which there are some, in blocks of that size.
  Positions(const formulas::WindowAxis& axis, std::int64_t begin, std::int64_t end, std::int64_t block,
            std::int64_t together_ = 1)
      : together(together_) {
    covered_begin = begin - axis.before, covered_end = end - axis.before + axis.size - 1;
    start = formulas::floor_div(covered_begin, block) * block;
    count = (covered_end - start + block - 1) / block * block;
    columns_begin = std::max<std::int64_t>(0, covered_begin), columns_end = std::min(axis.extent, covered_end);
    const auto show = [&](std::int64_t from, std::int64_t to) {
      for (std::int64_t v = from; v < to; ++v)
        if (const std::int64_t column = shown_element(axis, v, together); column >= 0)
          columns_begin = std::min(columns_begin, column), columns_end = std::max(columns_end, column + 1);
    };
    show(covered_begin, std::min<std::int64_t>(0, covered_end));
    show(std::max(axis.extent, covered_begin), covered_end);
    lead = std::max<std::int64_t>(0, start - columns_begin);
    length = lead + std::max(count, columns_end - start);
  }

  std::int64_t columns() const { return columns_end - columns_begin; }
  /// The first of these columns in a row.
  std::int64_t first_column() const { return lead + columns_begin - start; }

  /// Completes a row that has its columns: positions beyond the edges, and zeros where no window reads.
  template <class T>
  void spread(const formulas::WindowAxis& axis, T beyond, T* row) const {
    T* const at = row + lead - start;  // of position 0
    const auto show = [&](std::int64_t from, std::int64_t to) {
      for (std::int64_t v = from; v < to; ++v) {
        const std::int64_t column = shown_element(axis, v, together);
        at[v] = column < 0 ? beyond : at[column];
      }
    };
    show(covered_begin, std::min<std::int64_t>(0, covered_end));
    // Columns right of the covered ones, which only an edge shows, are no positions.
    show(std::max(axis.extent, covered_begin), covered_end);
    std::fill(at + start, at + covered_begin, T{});
    if (covered_end >= columns_end) std::fill(at + covered_end, at + start + count, T{});
  }
  /// A row beyond the edge.
  template <class T>
  void fill(T value, T* row) const {
    std::fill_n(row, length, value);
  }
};

}  // namespace areal::cpu
