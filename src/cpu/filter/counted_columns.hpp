#pragma once
// The counts of a panel's columns, from row to row of its windows.

#include <cstdint>
#include <cstring>
#include "cpu/filter/column_counts.hpp"
#include "cpu/filter/rank_rows.hpp"
#include "formulas/window_axis.hpp"

namespace areal::cpu {

constexpr std::int64_t counts_cells = 1100;  // columns of 16-bit counts, in the L2 cache
constexpr std::int64_t least_counted_panel = 256;

/// Of pixels of 8 bits.
template <class T, class C>
class CountedColumns {
 public:
  using Key = typename RankRows<T>::Key;

  /// `levels` holds two rows of cells, `keys` and `marks` one.
  CountedColumns(const ColumnCounts<C>& counts, std::uint16_t* levels, Key* keys, Cell* marks)
      : counts_(counts), levels_(levels), keys_(keys), marks_(marks) {}

  /// visit(y, counts) for outputs [begin, end).
  template <class Visit>
  void for_rows(const RankRows<T>& rows, const formulas::WindowAxis& axis, std::int64_t begin, std::int64_t end,
                const Visit& visit) const {
    const ColumnKernels<C>& kernels = column_kernels<C>();
    std::uint16_t* const entering = levels_;
    std::uint16_t* const leaving = entering + counts_.cells;
    std::memset(counts_.coarse, 0, static_cast<std::size_t>(16 * counts_.cells) * sizeof(C));
    std::memset(counts_.fine, 0, static_cast<std::size_t>(17 * 16 * counts_.cells) * sizeof(C));
    std::int64_t top = begin - axis.before;
    for (std::int64_t v = top; v < top + axis.size; ++v) {
      read(rows, v, entering);
      kernels.add(counts_, entering);
    }
    for (std::int64_t y = begin; y < end; ++y, ++top) {
      if (y > begin) {
        read(rows, top + axis.size - 1, entering);
        read(rows, top - 1, leaving);
        kernels.step(counts_, entering, leaving);
      }
      visit(y, counts_);
    }
  }

 private:
  void read(const RankRows<T>& rows, std::int64_t position, std::uint16_t* to) const {
    if (rows.read(position, keys_, marks_) != Marks::none) {
      for (std::int64_t i = 0; i < counts_.cells; ++i)
        to[i] = marks_[i] == Cell::valid ? static_cast<std::uint16_t>(keys_[i]) : no_level;
    } else {
      for (std::int64_t i = 0; i < counts_.cells; ++i) to[i] = static_cast<std::uint16_t>(keys_[i]);
    }
  }

  ColumnCounts<C> counts_;
  std::uint16_t* levels_;
  Key* keys_;
  Cell* marks_;
};

}  // namespace areal::cpu
