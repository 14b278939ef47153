#pragma once
// Rows of an image as keys, with what lies beyond its edges: the cells that a panel of windows covers.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include "cpu/filter/element.hpp"
#include "cpu/filter/rank_keys.hpp"
#include "cpu/filter/rank_pixels.hpp"
#include "cpu/filter/request.hpp"
#include "formulas/window_axis.hpp"

namespace areal::cpu {

/// What a cell is to its window.
enum class Cell : std::uint8_t { valid, left_out, nan };
/// Which cells of a row may be other than valid.
enum class Marks : std::uint8_t { none, outside, everywhere };

template <class T>
class RankRows {
 public:
  using Keys = RankKeys<T>;
  using Key = typename Keys::Key;

  /// Of one channel of an image, and its mask. Cell 0 is at position `first` of the columns. `shown` holds an index for
  /// each cell.
  RankRows(const FilterRequest& request, const FilterRows& rows, const ConstView& image, const ConstView& mask,
           std::int64_t first, std::int64_t cells, std::int32_t* shown)
      : request_(request), rows_(rows), image_(image), mask_(mask), first_(first), cells_(cells), shown_(shown) {
    const formulas::WindowAxis& axis = request.columns;
    inside_begin_ = std::clamp<std::int64_t>(-first, 0, cells);
    inside_end_ = std::clamp<std::int64_t>(axis.extent - first, inside_begin_, cells);
    const auto show = [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i)
        shown_[i] = static_cast<std::int32_t>(shown_element(axis, first + i, request.together));
    };
    show(0, inside_begin_);
    show(inside_end_, cells);
    const bool holds = axis.edge == Edge::constant || axis.edge == Edge::zero;
    const T value = converted<T>(axis.edge == Edge::constant ? request.value : 0);
    beyond_key_ = Keys::key(value);
    beyond_ = !holds ? Cell::left_out : mark_of(value);
  }

  /// Whether pixels inside the image are keys where they are, and valid.
  bool are_keys() const {
    if constexpr (!std::is_same_v<T, Key>) return false;
    const auto size = static_cast<std::int64_t>(sizeof(T));
    return !request_.mask && image_.column_pitch() == size && image_.row_pitch % size == 0 &&
           reinterpret_cast<std::uintptr_t>(image_.data) % sizeof(T) == 0;
  }
  /// Cells inside the image.
  std::int64_t inside_begin() const { return inside_begin_; }
  std::int64_t inside_end() const { return inside_end_; }
  /// The first pixel inside of the row at a position; null beyond the image.
  const void* inside(std::int64_t position) const {
    const std::int64_t y = formulas::shown_pixel(position, request_.rows.extent, request_.rows.edge);
    return y < 0 ? nullptr
                 : static_cast<const char*>(image_.row(held(y))) + (first_ + inside_begin_) * image_.column_pitch();
  }

  /// The row at a position, in the image without the keys of cells [skip_begin, skip_end), if `are_keys()`. Writes
  /// `marks`, but for Marks::none.
  Marks read(std::int64_t position, Key* keys, Cell* marks, std::int64_t skip_begin = 0,
             std::int64_t skip_end = 0) const {
    const std::int64_t y = formulas::shown_pixel(position, request_.rows.extent, request_.rows.edge);
    if (y < 0) {
      std::fill_n(keys, cells_, beyond_key_);
      std::fill_n(marks, cells_, beyond_);
      return beyond_ != Cell::valid ? Marks::everywhere : Marks::none;
    }
    const char* const row = static_cast<const char*>(image_.row(held(y)));
    const std::int64_t step = image_.column_pitch();
    const auto size = static_cast<std::int64_t>(sizeof(T)), inside = inside_end_ - inside_begin_;
    const char* const from = row + (first_ + inside_begin_) * step;
    Key* const to = keys + inside_begin_;
    bool has_nan = false;
    if (skip_begin < skip_end) {
      std::memcpy(to, from, static_cast<std::size_t>(skip_begin - inside_begin_) * sizeof(T));
      std::memcpy(keys + skip_end, from + (skip_end - inside_begin_) * size,
                  static_cast<std::size_t>(inside_end_ - skip_end) * sizeof(T));
    } else if (step == size) {
      has_nan = rank_pixels<T>().to_keys(from, inside, to);
    } else {
      for (std::int64_t i = 0; i < inside; ++i) std::memcpy(to + i, from + i * step, sizeof(T));
      has_nan = rank_pixels<T>().to_keys(to, inside, to);
    }
    // Rows without NaN and mask have no marks, unless cells beyond the edge are left out.
    const bool outside = inside < cells_;
    const bool has_marks_inside = has_nan || request_.mask;
    bool has_marks = has_marks_inside || (outside && beyond_ != Cell::valid && !copies());
    if (!has_marks && Keys::is_real && outside)
      for_outside([&](std::int64_t i) {
        if (shown_[i] >= 0 && Keys::is_nan(pixel(row, step, shown_[i]))) has_marks = true;
      });
    if (has_marks) {
      const char* const valid = request_.mask ? static_cast<const char*>(mask_.row(held(y))) : nullptr;
      const auto mark = [&](std::int64_t x, T value) {
        return valid != nullptr && valid[x] == 0 ? Cell::left_out : mark_of(value);
      };
      if (has_marks_inside)
        for (std::int64_t i = 0; i < inside; ++i)
          marks[inside_begin_ + i] = mark(first_ + inside_begin_ + i, pixel(from, step, i));
      else
        std::fill_n(marks + inside_begin_, inside, Cell::valid);
      for_outside(
          [&](std::int64_t i) { marks[i] = shown_[i] < 0 ? beyond_ : mark(shown_[i], pixel(row, step, shown_[i])); });
    }
    for_outside(
        [&](std::int64_t i) { keys[i] = shown_[i] < 0 ? beyond_key_ : Keys::key(pixel(row, step, shown_[i])); });
    return has_marks_inside ? Marks::everywhere : has_marks ? Marks::outside : Marks::none;
  }

  /// Prefetches the row at a position.
  void fetch(std::int64_t position) const {
    const std::int64_t y = formulas::shown_pixel(position, request_.rows.extent, request_.rows.edge);
    if (y < 0) return;
    const std::int64_t step = image_.column_pitch();
    const char* const from = static_cast<const char*>(image_.row(held(y))) + (first_ + inside_begin_) * step;
    for (std::int64_t i = 0; i < (inside_end_ - inside_begin_) * step; i += 64) __builtin_prefetch(from + i, 0, 2);
  }

 private:
  std::int64_t held(std::int64_t y) const { return rows_.held(y, request_.rows.extent); }
  bool copies() const {
    const Edge edge = request_.columns.edge;
    return edge == Edge::replicate || edge == Edge::reflect || edge == Edge::symmetric || edge == Edge::wrap;
  }
  Cell mark_of(T value) const {
    if (!Keys::is_nan(value)) return Cell::valid;
    return request_.omit_nan ? Cell::left_out : Cell::nan;
  }
  static T pixel(const char* row, std::int64_t step, std::int64_t x) {
    T value;
    std::memcpy(&value, row + x * step, sizeof value);
    return value;
  }
  template <class Visit>
  void for_outside(const Visit& visit) const {
    for (std::int64_t i = 0; i < inside_begin_; ++i) visit(i);
    for (std::int64_t i = inside_end_; i < cells_; ++i) visit(i);
  }

  const FilterRequest& request_;
  const FilterRows& rows_;
  ConstView image_, mask_;
  std::int64_t first_, cells_, inside_begin_, inside_end_;
  std::int32_t* shown_;
  Key beyond_key_;
  Cell beyond_;
};

/// The pixel of a window of n valid ones, in their order, that a percentile is.
class RankOf {
 public:
  explicit RankOf(double percent) : percent_(percent) {}
  std::uint32_t operator()(std::uint32_t n) {
    if (n == n_) return rank_;
    n_ = n;
    const double rank = std::floor(percent_ * n / 100);
    rank_ = n == 0 ? 0 : rank >= n ? n - 1 : static_cast<std::uint32_t>(rank);
    return rank_;
  }

 private:
  double percent_;
  std::uint32_t n_ = 0, rank_ = 0;
};

}  // namespace areal::cpu
