// What every answer from a table asks of its views.
#include "api/table_check.hpp"
#include "api/require.hpp"
#include "api/view_check.hpp"

namespace areal {

namespace {

std::string words_of(const Shape& shape) { return sentence(shape.width, "x", shape.height); }

}  // namespace

void require_readable(const ConstView& view, const char* argument) {
  check_shape(argument, view.shape, view.type);
  check_view(argument, view, view.shape, view.type);
}

void require_table(const TableView& table, const char* argument) {
  const ConstView& view = table.view;
  require(view.shape.channels == 1 && view.shape.batch == 1, argument, ": ", view.shape.channels, " channels, batch ",
          view.shape.batch, ": a table that answers is one plane (see `plane`)");
  const bool known = view.type == Type::u32 || view.type == Type::s32 || view.type == Type::u64 ||
                     view.type == Type::s64 || view.type == Type::f32 || view.type == Type::f64;
  require(known, argument, ": element type ", name_of(view.type), ": a table holds 32u, 32s, 64u, 64s, 32f or 64f");
  require_readable(view, argument);
  require(table.border != Border::zero || (view.shape.width > 0 && view.shape.height > 0), argument, ": ",
          words_of(view.shape), " lacks the row and column of zeros of border `zero`");
}

void require_tensor(const TensorView& tensor) {
  const ConstView& view = tensor.view;
  require(view.shape.batch == 1, "tensor: batch ", view.shape.batch, ": a tensor that answers is of one image");
  require(view.shape.layout == Layout::planar || view.shape.channels <= 1,
          "tensor: its bins are interleaved; they must be planes");
  const bool known =
      view.type == Type::u32 || view.type == Type::u64 || view.type == Type::f32 || view.type == Type::f64;
  require(known, "tensor: element type ", name_of(view.type), ": a tensor holds 32u, 64u, 32f or 64f");
  require_readable(view, "tensor");
  require(tensor.border != Border::zero || (view.shape.width > 0 && view.shape.height > 0),
          "tensor: ", words_of(view.shape), " lacks the row and column of zeros of border `zero`");
}

void require_same_image(const TableView& table, const TableView& other, const char* argument) {
  require(table.image_width() == other.image_width() && table.image_height() == other.image_height(), argument,
          ": a table of an image of ", other.image_width(), "x", other.image_height(), ", the sums are of one of ",
          table.image_width(), "x", table.image_height());
}

void require_output(const View& out, const Shape& shape) {
  require(out.type == Type::f32 || out.type == Type::f64, "out: element type ", name_of(out.type),
          ": it may be 32f or 64f");
  require(out.shape.channels == 1 && out.shape.batch == 1, "out: ", out.shape.channels, " channels, batch ",
          out.shape.batch, ": it must be one plane");
  require(out.shape.width == shape.width && out.shape.height == shape.height, "out: ", words_of(out.shape),
          ", it must be ", words_of(shape));
  require_readable(out, "out");
}

void require_last_row_and_column(Border border, const char* what) {
  require(border != Border::exclusive, what,
          ": border `exclusive` lacks the image's last row and column, which some windows need: use another border, or "
          "`convert_border` first");
}

}  // namespace areal
