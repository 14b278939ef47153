#pragma once
// What every answer from a table asks of its views.

#include <areal/histogram.hpp>
#include <areal/region.hpp>

namespace areal {

/// Throws InvalidArgument, naming the argument, unless the view has no negative extent, memory where it has elements,
/// and rows and planes that do not overlap.
void require_readable(const ConstView& view, const char* argument);
/// The same, and one plane of 32u, 32s, 64u, 64s, 32f or 64f, with the zero row and column where the border says so.
void require_table(const TableView& table, const char* argument);
/// The same as `require_readable`, and planar bins of 32u, 64u, 32f or 64f.
void require_tensor(const TensorView& tensor);
/// Throws unless both tables are of images of one size.
void require_same_image(const TableView& table, const TableView& other, const char* argument);
/// One plane of 32f or 64f of that shape.
void require_output(const View& out, const Shape& shape);
/// Windows slide over every pixel; an exclusive table or tensor lacks the last row and column.
void require_last_row_and_column(Border border, const char* what);

}  // namespace areal
