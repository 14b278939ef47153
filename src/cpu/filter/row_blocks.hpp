#pragma once
// Merges of the rows of windows, in the order of formulas/block_order.hpp.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include "cpu/filter/block_rows.hpp"
#include "cpu/filter/strips.hpp"
#include "formulas/block_order.hpp"

namespace areal::cpu {

/// Rows that somebody has in memory, as sources of RowBlocks: row(position) is valid until the next call.
template <class Row>
struct RowsInMemory {
  const Row& row;
  const BlockKernels& kernels;
  std::int64_t n;

  void copy(std::int64_t position, void* to) const {
    std::memcpy(to, row(position), static_cast<std::size_t>(n) * kernels.bytes);
  }
  void before(std::int64_t position, const void* after, void* to) const { kernels.merge(to, row(position), after, n); }
  void after(std::int64_t position, const void* before, void* to) const { kernels.merge(to, before, row(position), n); }
};

class RowBlocks {
 public:
  /// Rows of windows and of blocks, and offsets in a thread's part of the workspace.
  struct Layout {
    std::int64_t size = 0, block = 0;
    std::size_t suffix = 0, totals = 0, whole = 0, prefix = 0;

    /// Windows of `size` rows of `n` elements of so many bytes.
    static Layout of(std::size_t& end, std::int64_t size, std::int64_t block, std::int64_t n, std::size_t bytes) {
      Layout layout{size, block};
      const auto row = static_cast<std::int64_t>(pitch(n, bytes));
      layout.suffix = place(end, block * row, 1);
      layout.totals = place(end, layout.ring() * row, 1);
      layout.whole = place(end, row, 1);
      layout.prefix = place(end, row, 1);
      return layout;
    }
    static Layout of_sums(std::size_t& end, std::int64_t size, std::int64_t n) {
      return of(end, size, formulas::block_of_window(size), n, sizeof(double));
    }
    std::int64_t ring() const { return size / block + 3; }
  };

  /// `n` elements of a row, at most those of the layout.
  RowBlocks(const Layout& layout, char* memory, std::int64_t n, const BlockKernels& kernels = block_kernels(Merge::sum))
      : kernels_(kernels),
        suffix_(memory + layout.suffix),
        totals_(memory + layout.totals),
        whole_(memory + layout.whole),
        prefix_(memory + layout.prefix),
        size_(layout.size),
        block_(layout.block),
        ring_(layout.ring()),
        n_(n) {}

  /// out = the merged rows at positions [begin, begin + size). Each call's `begin` is the last one's plus 1. Positions
  /// are not before `begin`; rows.copy(position, to), before(position, after, to) and after(position, before, to) make
  /// a row of the one at a position, alone or merged.
  template <class Rows>
  void merge(std::int64_t begin, const Rows& rows, char* out) {
    const std::int64_t end = begin + size_;
    const std::int64_t first = formulas::floor_div(begin, block_), last = formulas::floor_div(end - 1, block_);
    if (first == last) {
      rows.copy(begin, out);
      for (std::int64_t v = begin + 1; v < end; ++v) rows.after(v, out, out);
      return;
    }
    const std::int64_t first_row = begin - first * block_;
    if (suffix_block_ != first) {
      suffix_block_ = first;
      rows.copy(first * block_ + block_ - 1, at(suffix_, block_ - 1));
      for (std::int64_t i = block_ - 2; i >= first_row; --i)
        rows.before(first * block_ + i, at(suffix_, i + 1), at(suffix_, i));
    }
    if (whole_begin_ == none)  // the first window
      for (std::int64_t b = first + 1; b < last; ++b) {
        rows.copy(b * block_, total(b));
        for (std::int64_t i = 1; i < block_; ++i) rows.after(b * block_ + i, total(b), total(b));
      }
    advance_prefix(last, end, rows);
    advance_whole(first + 1, last);
    kernels_.merge_three(out, at(suffix_, first_row), whole_, prefix_, n_);
  }
  /// The same of rows in memory.
  template <class Row>
  void sums(std::int64_t begin, const Row& row, double* out) {
    merge(begin, RowsInMemory<Row>{row, kernels_, n_}, reinterpret_cast<char*>(out));
  }

 private:
  static constexpr std::int64_t none = std::numeric_limits<std::int64_t>::min();

  // Rows begin at cache lines, so that vectors do not cross them, with one more so that rows of a power of two do not
  // share cache sets.
  static std::size_t pitch(std::int64_t n, std::size_t bytes) {
    return whole_lines(static_cast<std::size_t>(n) * bytes) + cache_line;
  }

  char* at(char* rows, std::int64_t i) const { return rows + static_cast<std::size_t>(i) * pitch(n_, kernels_.bytes); }
  char* total(std::int64_t block) const { return at(totals_, (block % ring_ + ring_) % ring_); }

  // The part of a block up to position `end`.
  template <class Rows>
  void advance_prefix(std::int64_t block, std::int64_t end, const Rows& rows) {
    if (prefix_block_ != block) prefix_block_ = block, prefix_end_ = block * block_;
    for (; prefix_end_ < end; ++prefix_end_) {
      if (prefix_end_ == block * block_)
        rows.copy(prefix_end_, prefix_);
      else
        rows.after(prefix_end_, prefix_, prefix_);
    }
    if (end == block * block_ + block_)
      std::memcpy(total(block), prefix_, static_cast<std::size_t>(n_) * kernels_.bytes);
  }

  // The whole blocks [begin, end).
  void advance_whole(std::int64_t begin, std::int64_t end) {
    if (whole_begin_ != begin) {
      kernels_.clear(whole_, n_);
      whole_begin_ = whole_end_ = begin;
    }
    for (; whole_end_ < end; ++whole_end_) kernels_.merge(whole_, whole_, total(whole_end_), n_);
  }

  const BlockKernels& kernels_;
  char *suffix_, *totals_, *whole_, *prefix_;
  std::int64_t size_, block_, ring_, n_;
  std::int64_t suffix_block_ = none, prefix_block_ = none, prefix_end_ = 0, whole_begin_ = none, whole_end_ = none;
};

}  // namespace areal::cpu
