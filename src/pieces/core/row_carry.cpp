#include "pieces/core/row_carry.hpp"
#include <cstring>
#include "cuda/device.hpp"

namespace areal::pieces {

void copy_row(const ConstView& table, std::int64_t y, const View& row, Stream stream) {
  const std::int64_t planes = table.shape.layout == Layout::planar ? table.shape.channels : 1;
  const auto bytes = static_cast<std::size_t>(table.row_pitch);
  const bool to_host = row.memory.is_host();
  if (table.memory.is_host()) {
    for (std::int64_t c = 0; c < planes; ++c) std::memcpy(row.row(0, c), table.row(y, c), bytes);
  } else if (planes > 1 && table.plane_pitch <= cuda::most_pitch) {
    cuda::copy_rows(row.data, row.plane_pitch, table.row(y), table.plane_pitch, bytes, static_cast<std::size_t>(planes),
                    to_host ? cuda::CopyDirection::out : cuda::CopyDirection::within, stream);
  } else {
    for (std::int64_t c = 0; c < planes; ++c)
      to_host ? cuda::copy_out(row.row(0, c), table.row(y, c), bytes, stream)
              : cuda::copy(row.row(0, c), table.row(y, c), bytes, stream);
  }
}

RowCarry::RowCarry(const Work& work, std::int64_t width, Stream stream) : work_(work), width_(width) {
  const int lead = work.form().carry_lead;
  for (const Rows& output : work.form().outputs) {
    const Memory& row = above_.emplace_back(output.of(lead + width + 1, 1), output.type, work.memory());
    if (lead == 0) continue;
    if (work.on_cuda())
      cuda::clear(row.data(), row.bytes(), stream);
    else
      std::memset(row.data(), 0, row.bytes());
  }
}

std::vector<Carry> RowCarry::take() const {
  std::vector<Carry> carries(above_.size());
  for (std::size_t t = 0; t < above_.size() && !is_first_; ++t) {
    const Rows& output = work_.form().outputs[t];
    carries[t].above = above_[t].view(output.type, output.of(work_.form().carry_lead + width_ + 1, 1));
  }
  return carries;
}

void RowCarry::hand_on(const std::vector<View>& outputs, Stream stream) {
  const int lead = work_.form().carry_lead;
  for (std::size_t t = 0; t < above_.size(); ++t) {
    const Rows& output = work_.form().outputs[t];
    View row = above_[t].view(output.type, output.of(lead + width_ + 1, 1));
    row.data = static_cast<char*>(row.data) + lead * row.column_pitch();
    copy_last_row(outputs[t], row, stream);
  }
  is_first_ = false;
}

}  // namespace areal::pieces
