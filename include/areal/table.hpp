#pragma once
/// \file table.hpp Tables and tensors that answer: views of memory with their border.

#include <areal/border.hpp>
#include <areal/execution.hpp>
#include <areal/view.hpp>
#include <optional>

namespace areal {

/// A table's memory and its border, which is never assumed. Sums, means, variances and windows take any number of
/// channels and images, planar or interleaved, and answer for every plane; all else takes one plane (channels = batch
/// = 1; see `plane`).
struct TableView {
  ConstView view;
  Border border;
  TableView(const ConstView& view_, Border border_) noexcept : view(view_), border(border_) {}
  std::int64_t image_width() const noexcept { return view.shape.width - (border == Border::zero ? 1 : 0); }
  std::int64_t image_height() const noexcept { return view.shape.height - (border == Border::zero ? 1 : 0); }
  MemoryPlace memory() const noexcept { return view.memory; }
};

/// A tensor that answers: planar, channels = bins.
struct TensorView {
  ConstView view;
  Border border;
  TensorView(const ConstView& view_, Border border_) noexcept : view(view_), border(border_) {}
  std::int64_t bins() const noexcept { return view.shape.channels; }
  std::int64_t image_width() const noexcept { return view.shape.width - (border == Border::zero ? 1 : 0); }
  std::int64_t image_height() const noexcept { return view.shape.height - (border == Border::zero ? 1 : 0); }
  MemoryPlace memory() const noexcept { return view.memory; }
};

/// The tables of one image, or of several planes, that queries read: the sum; for variances the squares, of the same
/// planes; the valid pixels' count where a mask or ignore_nan left some out, of as many channels or of one for all; the
/// tilted table.
struct SatView {
  TableView sum;
  std::optional<TableView> squares = {}, count = {};
  std::optional<ConstView> tilted = {};
  SatView(const TableView& sum_) : sum(sum_) {}  // NOLINT: implicit on purpose
  SatView(const ConstView& view, Border border) : sum(view, border) {}
  SatView(const TableView& sum_, std::optional<TableView> squares_, std::optional<TableView> count_ = {},
          std::optional<ConstView> tilted_ = {})
      : sum(sum_), squares(squares_), count(count_), tilted(tilted_) {}
  MemoryPlace memory() const noexcept { return sum.view.memory; }
};

/// Copies a table into another border without computing it again. `exclusive` lacks the image's last row and
/// column: from it, the other borders need `image` (the image the table was made of, same type pair); to it and between
/// the others `image` is not read, and of it only the last row and column. Tables of sums only: those of squares are of
/// no type pair's image. Integers are as if computed anew; floats round as one more addition does, alike everywhere.
/// O(H W). The memory of `from` decides where it runs, and `to` and `image` are the same memory; on CUDA with
/// `execution.stream` given the copy is queued, without one it is done when this returns. Throws InvalidArgument for
/// shapes or memory that do not belong together, and where `to` overlaps `from` or the image: not in place;
/// Unavailable and DeviceError as queries do.
void convert_border(const TableView& from, const View& to, Border to_border, const ConstView& image = {},
                    const Execution& execution = {});

}  // namespace areal
