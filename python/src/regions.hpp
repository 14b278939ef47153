#pragma once
// Boxes of Python as regions and boxes of volumes, in the four formats that people use.

#include <areal/region.hpp>
#include <string_view>
#include <vector>
#include "arrays.hpp"

namespace areal::python {

/// Of N x 4 numbers of int64 in host memory. "xywh": left, top, width, height. "xyxy": left, top, right, bottom,
/// half-open. "bbox": top, left, bottom, right, half-open, as regionprops has them. "skimage": top, left, bottom,
/// right, with the last ones inside. `transposed`: x and y change places. Throws InvalidArgument for another format,
/// other extents, and what does not fit 64 bits.
std::vector<Region> regions_of(const ArrayRef& boxes, std::string_view format, bool transposed);
/// Of a volume: x, y, z, width, height, depth; x, y, z twice; plane, row, column twice, half-open or closed.
std::vector<Box> volume_boxes_of(const ArrayRef& boxes, std::string_view format, bool transposed);

}  // namespace areal::python
