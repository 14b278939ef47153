#include "pieces/core/in_place_carries.hpp"
#include <cstring>
#include "api/core/copy_rows.hpp"

namespace areal::pieces {
namespace {

std::int64_t planes_of_rows(const Shape& shape) { return shape.layout == Layout::planar ? shape.channels : 1; }

}  // namespace

void copy_row(const ConstView& from, const View& to, Stream stream) {
  if (stream.is_host()) return copy_rows(from, to);
  const auto bytes = static_cast<std::size_t>(from.shape.width * from.column_pitch());
  for (std::int64_t c = 0; c < planes_of_rows(from.shape); ++c) cuda::copy(to.row(0, c), from.row(0, c), bytes, stream);
}

void clear_window(const View& view, Stream stream) {
  const auto bytes = static_cast<std::size_t>(view.shape.width * view.column_pitch());
  for (std::int64_t c = 0; c < planes_of_rows(view.shape); ++c) {
    if (!stream.is_host())
      cuda::clear_rows(view.row(0, c), view.row_pitch, bytes, static_cast<std::size_t>(view.shape.height), stream);
    else
      for (std::int64_t y = 0; y < view.shape.height; ++y) std::memset(view.row(y, c), 0, bytes);
  }
}

InPlaceCarries::InPlaceCarries(const Work& work, const StayingTables* above, std::int64_t copied, Stream stream)
    : work_(work), above_(above), copied_(above ? copied : 0) {
  for (std::size_t t = 0; t < work.form().outputs.size() && copied_ > 0; ++t) {
    const Rows& output = work.form().outputs[t];
    rows_.emplace_back(output.of(copied_ + 1, 1), output.type, work.memory());
    clear_window(row(t), stream);
  }
}

View InPlaceCarries::row(std::size_t output) const {
  const Rows& rows = work_.form().outputs[output];
  return rows_[output].view(rows.type, rows.of(copied_ + 1, 1));
}

void InPlaceCarries::wait_for(std::size_t piece, std::int64_t x, std::int64_t width, Stream stream) {
  if (!above_) return;
  above_->done[piece].hold_back(stream);
  if (x >= copied_) return;
  for (std::size_t t = 0; t < rows_.size(); ++t) {
    const View& table = above_->sums[t];
    copy_row(window(table, x, table.shape.height - 1, width, 1), window(row(t), x + 1, 0, width, 1), stream);
  }
}

std::vector<Carry> InPlaceCarries::take(const std::vector<View>& outputs, std::int64_t x) const {
  std::vector<Carry> carries(outputs.size());
  for (std::size_t t = 0; t < outputs.size(); ++t) {
    const Shape& shape = outputs[t].shape;
    if (x > 0) carries[t].left = window(outputs[t], -1, 0, 1, shape.height);
    if (x < copied_)
      carries[t].above = window(row(t), x, 0, shape.width + 1, 1);
    else if (above_)
      carries[t].above = window(above_->sums[t], x - 1, above_->sums[t].shape.height - 1, shape.width + 1, 1);
  }
  return carries;
}

}  // namespace areal::pieces
