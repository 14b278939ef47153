#pragma once
// Python's boxes as regions and boxes of volumes, in four common formats.

#include <areal/region.hpp>
#include <string_view>
#include <vector>
#include "arrays.hpp"

namespace areal::python {

/// Regions of N x 4 int64 numbers in host memory. "xywh": left, top, width, height. "xyxy": left, top, right, bottom,
/// half-open. "bbox": top, left, bottom, right, half-open, as in regionprops. "skimage": top, left, bottom, right,
/// closed. `transposed` swaps x and y. Throws InvalidArgument for another format, other extents, and regions that do
/// not fit 64 bits.
std::vector<Region> regions_of(const ArrayRef& boxes, std::string_view format, bool transposed);
/// Boxes of a volume: x, y, z, width, height, depth; x, y, z twice; plane, row, column twice, half-open or closed.
std::vector<Box> volume_boxes_of(const ArrayRef& boxes, std::string_view format, bool transposed);

}  // namespace areal::python
