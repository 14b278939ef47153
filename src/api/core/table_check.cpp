// Requirements of queries on their views.
#include "api/core/table_check.hpp"
#include <algorithm>
#include "api/core/planes.hpp"
#include "api/core/require.hpp"
#include "api/core/view_check.hpp"

namespace areal {

namespace {

auto extent_of(const Shape& shape) {
  return Phrase{[&](std::ostream& out) { out << shape.width << "x" << shape.height; }};
}

void require_element(Type type, const char* argument) {
  const bool known = type == Type::u32 || type == Type::s32 || type == Type::u64 || type == Type::s64 ||
                     type == Type::f32 || type == Type::f64;
  require(known, argument, ": element type ", name_of(type), ": a table holds 32u, 32s, 64u, 64s, 32f or 64f");
}

}  // namespace

void require_readable(const ConstView& view, const char* argument) {
  check_shape(argument, view.shape, view.type);
  check_view(argument, view, view.shape, view.type);
}

void require_table(const TableView& table, const char* argument) {
  const ConstView& view = table.view;
  require(view.shape.channels == 1 && view.shape.batch == 1, argument, ": ", view.shape.channels, " channels, batch ",
          view.shape.batch, ": a table that answers this is one plane (see `plane`)");
  require_tables(table, argument);
}

void require_tables(const TableView& table, const char* argument) {
  const ConstView& view = table.view;
  require_element(view.type, argument);
  require_readable(view, argument);
  require(table.border != Border::zero || (view.shape.width > 0 && view.shape.height > 0), argument, ": ",
          extent_of(view.shape), " lacks the row and column of zeros of border `zero`");
}

formulas::Extents require_volume(const ConstView& volume, Border border) {
  require(border != Border::exclusive, "border: a volume table is `zero` or `none`, not `exclusive`");
  require_element(volume.type, "volume");
  require(volume.shape.channels == 1, "volume: ", volume.shape.channels, " channels, it may have one");
  require_readable(volume, "volume");
  const Shape& shape = volume.shape;
  const std::int64_t zeros = border == Border::zero ? 1 : 0;
  require(shape.width >= zeros && shape.height >= zeros && shape.batch >= zeros, "volume: ", shape.width, "x",
          shape.height, "x", shape.batch, " lacks the plane, row and column of zeros of border `zero`");
  return {shape.width - zeros, shape.height - zeros, shape.batch - zeros};
}

void require_answers(std::size_t values, const char* what, std::size_t regions, const Shape& table) {
  if (planes_of(table) == 1) return require_answer_each(values, regions, what, "regions");
  std::int64_t wanted = 0;
  require(!__builtin_mul_overflow(static_cast<std::int64_t>(regions), planes_of(table), &wanted) &&
              static_cast<std::int64_t>(values) == wanted,
          "out: ", values, " ", what, ", it must be ", regions, " regions times batch ", table.batch, " times ",
          table.channels, " channels");
}

void require_answer_each(std::size_t answers, std::size_t items, const char* answers_name, const char* items_name) {
  require(answers == items, "out: ", answers, " ", answers_name, " for ", items, " ", items_name);
}

void require_tensor(const TensorView& tensor) {
  const ConstView& view = tensor.view;
  require(view.shape.batch == 1, "tensor: batch ", view.shape.batch, ": a tensor that answers is of one image");
  require(view.shape.layout == Layout::planar || view.shape.channels <= 1,
          "tensor: its bins are interleaved; they must be planes");
  const bool known = view.type == Type::u16 || view.type == Type::u32 || view.type == Type::u64 ||
                     view.type == Type::f32 || view.type == Type::f64;
  require(known, "tensor: element type ", name_of(view.type), ": a tensor holds 16u, 32u, 64u, 32f or 64f");
  require_readable(view, "tensor");
  require(tensor.border != Border::zero || (view.shape.width > 0 && view.shape.height > 0),
          "tensor: ", extent_of(view.shape), " lacks the row and column of zeros of border `zero`");
}

void require_sums(const TableView& table, Type sums) {
  const Type type = table.view.type;
  const bool fits = sums == Type::f64 || (!is_float(type) && is_signed_integer(type) == (sums == Type::s64));
  require(fits, "table: element type ", name_of(type), ", sums of ", name_of(sums), " take a table of ",
          sums == Type::s64 ? "32s or 64s" : "32u or 64u");
}

void require_counts(const TensorView& tensor, Type counts) {
  require(counts == Type::f64 || !is_float(tensor.view.type), "tensor: element type ", name_of(tensor.view.type),
          ", histograms of 64u take a tensor of 16u, 32u or 64u");
}

void require_histograms(std::size_t values, std::size_t regions, std::int64_t bins) {
  std::int64_t wanted = 0;
  require(!__builtin_mul_overflow(static_cast<std::int64_t>(regions), bins, &wanted) &&
              static_cast<std::int64_t>(values) == wanted,
          "out: ", values, " values, it must be ", regions, " regions times ", bins, " bins");
}

void require_variance_tables(const TableView& sum, const TableView& squares, const TableView* count) {
  require_tables(sum, "sum");
  require_tables(squares, "squares");
  require_same_image(sum, squares, "squares");
  if (!count) return;
  require_count(sum, *count);
  require(!is_float(count->view.type), "count: element type ", name_of(count->view.type), ": counts are integers");
}

void require_squares(const SatView& table) {
  require(table.squares.has_value(),
          "squares: variances need the table of squares, which this table lacks: make it with ", "squares");
}

void require_same_image(const TableView& table, const TableView& other, const char* argument) {
  require(table.image_width() == other.image_width() && table.image_height() == other.image_height(), argument,
          ": a table of an image of ", other.image_width(), "x", other.image_height(), ", the sums are of one of ",
          table.image_width(), "x", table.image_height());
  const Shape &a = table.view.shape, &b = other.view.shape;
  require(a.channels == b.channels && a.batch == b.batch, argument, ": ", b.channels, " channels, batch ", b.batch,
          ", the sums have ", a.channels, " and ", a.batch);
}

void require_count(const TableView& table, const TableView& count) {
  require_tables(count, "count");
  TableView each = count;  // one channel of counts serves every channel
  if (count.view.shape.channels == 1) each.view.shape.channels = table.view.shape.channels;
  require_same_image(table, each, "count");
}

void require_output(const View& out, const Shape& shape) {
  require(out.type == Type::f32 || out.type == Type::f64, "out: element type ", name_of(out.type),
          ": it may be 32f or 64f");
  require_output_shape(out, shape);
}

void require_output_shape(const View& out, const Shape& shape) {
  if (planes_of(shape) == 1)
    require(out.shape.channels == 1 && out.shape.batch == 1, "out: ", out.shape.channels, " channels, batch ",
            out.shape.batch, ": it must be one plane");
  require(out.shape.channels == shape.channels && out.shape.batch == shape.batch, "out: ", out.shape.channels,
          " channels, batch ", out.shape.batch, ": it must have the table's ", shape.channels, " and ", shape.batch);
  require(out.shape.width == shape.width && out.shape.height == shape.height, "out: ", extent_of(out.shape),
          ", it must be ", extent_of(shape));
  require_readable(out, "out");
}

Shape require_distance_map(const TensorView& tensor, std::int64_t width, std::int64_t height, std::size_t target,
                           const View& out) {
  require_tensor(tensor);
  require_last_row_and_column(tensor.border, "tensor");
  const Shape shape = require_distance_map(Shape{tensor.image_width(), tensor.image_height()}, tensor.bins(), width,
                                           height, target, out);
  require(!may_overlap(tensor.view, out), "out: it overlaps the tensor");
  return shape;
}

Shape require_distance_map(const Shape& image, std::int64_t bins, std::int64_t width, std::int64_t height,
                           std::size_t target, const View& out) {
  require(width >= 1 && height >= 1, "window: ", width, "x", height, ", it must be at least 1x1");
  require(static_cast<std::int64_t>(target) == bins, "target: ", target, " bins, not ", bins);
  const Shape shape{std::max<std::int64_t>(0, image.width - width + 1),
                    std::max<std::int64_t>(0, image.height - height + 1)};
  require_output(out, shape);
  return shape;
}

void require_last_row_and_column(Border border, const char* what) {
  require(border != Border::exclusive, what,
          ": border `exclusive` lacks the image's last row and column, which some windows need: use another border, or "
          "`convert_border` first");
}

}  // namespace areal
