#pragma once
// Requirements of a border conversion on its views.

#include <areal/table.hpp>

namespace areal {

/// True if `to` has a row and column that `from` lacks, so that the image's last ones are read. Throws InvalidArgument
/// for mismatched or overlapping views, and if a needed image is missing.
bool require_conversion(const TableView& from, const View& to, Border to_border, const ConstView& image);

}  // namespace areal
