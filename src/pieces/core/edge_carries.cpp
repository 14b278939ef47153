#include "pieces/core/edge_carries.hpp"
#include <cstring>

namespace areal::pieces {

void CarryLayout::Block::add(Type type, const Shape& shape) {
  constexpr std::size_t line = 64;
  types.push_back(type), shapes.push_back(shape), offsets.push_back(bytes);
  bytes += (bytes_of(shape, type) + line - 1) / line * line;
}

CarryLayout::CarryLayout(const Form& form, std::int64_t width, std::int64_t height) {
  for (const Rows& output : form.outputs) {
    above_.add(output.type, output.of(form.carry_lead + width + form.margin, 1));
    left_.add(output.type, output.of(1, height + form.margin - (1 - form.carry_lead)));
  }
}

ConstView EdgesOf::column(const ConstView& output) const {
  const std::int64_t left_out = 1 - form_.carry_lead;  // the corner, which is in the row above
  ConstView column = output;
  column.data = static_cast<const char*>(output.row(form_.reverse ? 0 : left_out)) +
                (form_.reverse ? 0 : width_ + form_.margin - 1) * output.column_pitch();
  column.shape.width = 1, column.shape.height -= left_out;
  return column;
}

void EdgesOf::write_corner(const View& into, const ConstView& left) const {
  if (form_.carry_lead == 0) return;
  const std::int64_t planes = into.shape.layout == Layout::planar ? into.shape.channels : 1;
  const auto bytes = static_cast<std::size_t>(into.column_pitch());
  for (std::int64_t c = 0; c < planes; ++c) {
    char* const corner =
        static_cast<char*>(into.row(0, c)) + (form_.reverse ? width_ + form_.margin : 0) * into.column_pitch();
    if (left.data == nullptr)
      std::memset(corner, 0, bytes);
    else
      std::memcpy(corner, left.row(form_.reverse ? 0 : left.shape.height - 1, c), bytes);
  }
}

}  // namespace areal::pieces
