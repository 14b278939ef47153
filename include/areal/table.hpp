#pragma once
/// \file table.hpp Tables and tensors for queries: views of memory with their border.

#include <areal/border.hpp>
#include <areal/execution.hpp>
#include <areal/view.hpp>
#include <optional>

namespace areal {

/// A table's memory and its border, which has no default. Sums, means, variances and windows support any number of
/// channels and images, planar or interleaved, and answer for every plane; all other queries need one plane (channels =
/// batch = 1; see `plane`).
struct TableView {
  ConstView view;
  Border border;
  TableView(const ConstView& view_, Border border_) noexcept : view(view_), border(border_) {}
  std::int64_t image_width() const noexcept { return view.shape.width - (border == Border::zero ? 1 : 0); }
  std::int64_t image_height() const noexcept { return view.shape.height - (border == Border::zero ? 1 : 0); }
  MemoryPlace memory() const noexcept { return view.memory; }
};

/// A tensor for queries: planar, channels = bins.
struct TensorView {
  ConstView view;
  Border border;
  TensorView(const ConstView& view_, Border border_) noexcept : view(view_), border(border_) {}
  std::int64_t bins() const noexcept { return view.shape.channels; }
  std::int64_t image_width() const noexcept { return view.shape.width - (border == Border::zero ? 1 : 0); }
  std::int64_t image_height() const noexcept { return view.shape.height - (border == Border::zero ? 1 : 0); }
  MemoryPlace memory() const noexcept { return view.memory; }
};

/// The tables that queries read, of one or several planes: the sum; for variances the squares, of the same planes; with
/// a mask or ignore_nan the count of valid pixels, of as many channels or one for all; the tilted table.
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

/// Copies a table into another border without computing it again. `exclusive` lacks the image's last row and column:
/// converting from it needs `image`, the table's image in the same type pair, whose last row and column are read; other
/// conversions ignore it. Tables of sums only: tables of squares have no type pair. Integers equal those of a new
/// computation; floats are rounded as by one more addition, alike everywhere. O(H W). The memory of `from` decides
/// where it runs, and `to` and `image` are in the same memory; on CUDA with `execution.stream` the copy is queued,
/// otherwise it is complete on return.
/// Throws InvalidArgument for mismatched shapes or memory, and if `to` overlaps `from` or the image; Unavailable and
/// DeviceError as queries do.
void convert_border(const TableView& from, const View& to, Border to_border, const ConstView& image = {},
                    const Execution& execution = {});

}  // namespace areal
