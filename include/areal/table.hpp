#pragma once
/// \file table.hpp Tables and tensors that answer: views of memory with their border.

#include <areal/border.hpp>
#include <areal/view.hpp>
#include <optional>

namespace areal {

/// A table's memory and its border, which is never assumed. Sums, means, variances and windows take any number of
/// channels and images, planar or interleaved, and answer for every plane; all else takes one plane (channels = batch
/// = 1; see `plane`).
struct TableView {
  ConstView view;
  Border border;
  TableView(const ConstView& view_, Border border_ = Border::zero) noexcept : view(view_), border(border_) {}
  std::int64_t image_width() const noexcept { return view.shape.width - (border == Border::zero ? 1 : 0); }
  std::int64_t image_height() const noexcept { return view.shape.height - (border == Border::zero ? 1 : 0); }
  MemoryPlace memory() const noexcept { return view.memory; }
};

/// A tensor that answers: planar, channels = bins.
struct TensorView {
  ConstView view;
  Border border;
  TensorView(const ConstView& view_, Border border_ = Border::none) noexcept : view(view_), border(border_) {}
  std::int64_t bins() const noexcept { return view.shape.channels; }
  std::int64_t image_width() const noexcept { return view.shape.width - (border == Border::zero ? 1 : 0); }
  std::int64_t image_height() const noexcept { return view.shape.height - (border == Border::zero ? 1 : 0); }
  MemoryPlace memory() const noexcept { return view.memory; }
};

/// The tables of one image that queries read: the sum; for variances the squares; the valid pixels' count where a mask
/// or ignore_nan left some out; the tilted table.
struct SatView {
  TableView sum;
  std::optional<TableView> squares = {}, count = {};
  std::optional<ConstView> tilted = {};
  SatView(const TableView& sum_) : sum(sum_) {}  // NOLINT: implicit on purpose
  SatView(const TableView& sum_, std::optional<TableView> squares_, std::optional<TableView> count_ = {},
          std::optional<ConstView> tilted_ = {})
      : sum(sum_), squares(squares_), count(count_), tilted(tilted_) {}
  MemoryPlace memory() const noexcept { return sum.view.memory; }
};

}  // namespace areal
