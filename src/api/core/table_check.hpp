#pragma once
// Requirements of queries on their views.

#include <areal/table.hpp>
#include <cstddef>
#include "formulas/corners.hpp"

namespace areal {

/// Throws InvalidArgument, naming the argument, unless the view has no negative extent, memory where it has elements,
/// and rows and planes that do not overlap.
void require_readable(const ConstView& view, const char* argument);
/// The same, and one plane of 32u, 32s, 64u, 64s, 32f or 64f, with the zero row and column if the border has them.
void require_table(const TableView& table, const char* argument);
/// The same with any number of planes.
void require_tables(const TableView& table, const char* argument);
/// Throws unless there is a value for each region and plane of the table.
void require_answers(std::size_t values, const char* what, std::size_t regions, const Shape& table);
/// Requires a table of a volume, `zero` or `none`, of one of these types; returns the volume's extents.
formulas::Extents require_volume(const ConstView& volume, Border border);
/// Throws unless there is an answer (a sum, for example) for each region or box.
void require_answer_each(std::size_t answers, std::size_t items, const char* answers_name, const char* items_name);
/// The same as `require_readable`, and planar bins of 16u, 32u, 64u, 32f or 64f.
void require_tensor(const TensorView& tensor);
/// Throws unless the table's sums can be returned as that type: 64u of unsigned tables, 64s of signed ones, 64f of any.
void require_sums(const TableView& table, Type sums);
/// The same for a tensor's counts: 64u of integers, 64f of any.
void require_counts(const TensorView& tensor, Type counts);
/// Throws unless there is a value for each region and bin.
void require_histograms(std::size_t values, std::size_t regions, std::int64_t bins);
/// Requires tables of one image from which variances can be computed. `count` may be null.
void require_variance_tables(const TableView& sum, const TableView& squares, const TableView* count);
/// Throws if the view lacks the table of squares.
void require_squares(const SatView& table);
/// Throws unless both tables are of images of one size, and have equally many planes.
void require_same_image(const TableView& table, const TableView& other, const char* argument);
/// Requires counts for that table, of as many channels or of one for all.
void require_count(const TableView& table, const TableView& count);
/// Requires 32f or 64f of that shape, in any layout.
void require_output(const View& out, const Shape& shape);
/// Requires that shape, of any type, in any layout.
void require_output_shape(const View& out, const Shape& shape);
/// Checks the arguments of a map of distances; returns its shape.
Shape require_distance_map(const TensorView& tensor, std::int64_t width, std::int64_t height, std::size_t target,
                           const View& out);
Shape require_distance_map(const Shape& image, std::int64_t bins, std::int64_t width, std::int64_t height,
                           std::size_t target, const View& out);
/// Windows slide over every pixel; an exclusive table or tensor lacks the last row and column.
void require_last_row_and_column(Border border, const char* what);

}  // namespace areal
