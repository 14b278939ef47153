#pragma once
// Boxes of Python as regions, in the four formats that people use.

#include <areal/region.hpp>
#include <string>
#include <vector>
#include "nanobind.hpp"

namespace areal::python {

/// N x 4 whole numbers.
using BoxArray = nb::ndarray<const std::int64_t, nb::ndim<2>, nb::device::cpu>;

/// "xywh": left, top, width, height. "xyxy": left, top, right, bottom, half-open. "bbox": top, left, bottom, right,
/// half-open, as regionprops has them. "skimage": top, left, bottom, right, with the last ones inside. `flipped`:
/// x and y change places. Throws InvalidArgument for another format, other extents, and what does not fit 64 bits.
std::vector<Region> regions_of(const BoxArray& boxes, const std::string& format, bool flipped);

}  // namespace areal::python
