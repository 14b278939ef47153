#pragma once
// Sums of the rows of windows, in the order of formulas/block_order.hpp.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include "cpu/filter/block_rows.hpp"
#include "cpu/filter/strips.hpp"
#include "formulas/block_order.hpp"

namespace areal::cpu {

class RowBlocks {
 public:
  /// Offsets in a thread's part of the workspace.
  struct Layout {
    std::size_t suffix = 0, totals = 0, whole = 0, prefix = 0;

    /// Windows of `size` rows of `n` elements.
    static Layout of(std::size_t& end, std::int64_t size, std::int64_t n) {
      Layout layout;
      const std::int64_t row = pitch(n);
      layout.suffix = place(end, formulas::block_of_window(size) * row, sizeof(double));
      layout.totals = place(end, ring_of(size) * row, sizeof(double));
      layout.whole = place(end, row, sizeof(double));
      layout.prefix = place(end, row, sizeof(double));
      return layout;
    }
  };

  /// `n` elements of a row, at most those of the layout.
  RowBlocks(const Layout& layout, char* memory, std::int64_t size, std::int64_t n)
      : suffix_(reinterpret_cast<double*>(memory + layout.suffix)),
        totals_(reinterpret_cast<double*>(memory + layout.totals)),
        whole_(reinterpret_cast<double*>(memory + layout.whole)),
        prefix_(reinterpret_cast<double*>(memory + layout.prefix)),
        size_(size),
        n_(n),
        block_(formulas::block_of_window(size)) {}

  /// out = the sum of the rows at positions [begin, begin + size). Each call's `begin` is the last one's plus 1.
  /// row(position) returns a row, valid until the next call; positions are not before `begin`.
  template <class Row>
  void sums(std::int64_t begin, const Row& row, double* out) {
    const std::int64_t end = begin + size_;
    const std::int64_t first = formulas::floor_div(begin, block_), last = formulas::floor_div(end - 1, block_);
    if (first == last) {
      std::copy_n(row(begin), n_, out);
      for (std::int64_t v = begin + 1; v < end; ++v) kernels_.merge(out, out, row(v), n_);
      return;
    }
    const std::int64_t first_row = begin - first * block_;
    if (suffix_block_ != first) {
      suffix_block_ = first;
      std::copy_n(row(first * block_ + block_ - 1), n_, at(suffix_, block_ - 1));
      for (std::int64_t i = block_ - 2; i >= first_row; --i)
        kernels_.merge(at(suffix_, i), row(first * block_ + i), at(suffix_, i + 1), n_);
    }
    if (whole_begin_ == none)  // the first window
      for (std::int64_t b = first + 1; b < last; ++b) {
        std::copy_n(row(b * block_), n_, total(b));
        for (std::int64_t i = 1; i < block_; ++i) kernels_.merge(total(b), total(b), row(b * block_ + i), n_);
      }
    advance_prefix(last, end, row);
    advance_whole(first + 1, last);
    kernels_.merge_three(out, at(suffix_, first_row), whole_, prefix_, n_);
  }

 private:
  static constexpr std::int64_t none = std::numeric_limits<std::int64_t>::min();

  // A cache line apart, so that rows of a power of two do not share cache sets.
  static std::int64_t pitch(std::int64_t n) { return n + static_cast<std::int64_t>(cache_line / sizeof(double)); }
  static std::int64_t ring_of(std::int64_t size) { return size / formulas::block_of_window(size) + 3; }

  double* at(double* rows, std::int64_t i) const { return rows + i * pitch(n_); }
  double* total(std::int64_t block) const {
    const std::int64_t ring = ring_of(size_);
    return at(totals_, (block % ring + ring) % ring);
  }

  // The part of a block up to position `end`.
  template <class Row>
  void advance_prefix(std::int64_t block, std::int64_t end, const Row& row) {
    if (prefix_block_ != block) prefix_block_ = block, prefix_end_ = block * block_;
    for (; prefix_end_ < end; ++prefix_end_) {
      if (prefix_end_ == block * block_)
        std::copy_n(row(prefix_end_), n_, prefix_);
      else
        kernels_.merge(prefix_, prefix_, row(prefix_end_), n_);
    }
    if (end == block * block_ + block_) std::copy_n(prefix_, n_, total(block));
  }

  // The whole blocks [begin, end).
  void advance_whole(std::int64_t begin, std::int64_t end) {
    if (whole_begin_ != begin) {
      kernels_.clear(whole_, n_);
      whole_begin_ = whole_end_ = begin;
    }
    for (; whole_end_ < end; ++whole_end_) kernels_.merge(whole_, whole_, total(whole_end_), n_);
  }

  const BlockKernels& kernels_ = block_kernels(Merge::sum);
  double *suffix_, *totals_, *whole_, *prefix_;
  std::int64_t size_, n_, block_;
  std::int64_t suffix_block_ = none, prefix_block_ = none, prefix_end_ = 0, whole_begin_ = none, whole_end_ = none;
};

}  // namespace areal::cpu
