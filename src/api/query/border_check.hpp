#pragma once
// What a table in another border asks of its views.

#include <areal/table.hpp>

namespace areal {

/// True where `from` lacks what `to` has, so that the image's last row and column are read. Throws InvalidArgument for
/// views that do not belong together or overlap, and without the image where it is needed.
bool require_conversion(const TableView& from, const View& to, Border to_border, const ConstView& image);

}  // namespace areal
