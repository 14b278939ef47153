#include "regions.hpp"

#include <areal/error.hpp>
#include <utility>

namespace areal::python {

std::vector<Region> regions_of(const BoxArray& boxes, const std::string& format, bool flipped) {
  if (boxes.shape(1) != 4)
    throw InvalidArgument("boxes: an array of " + std::to_string(boxes.shape(0)) + "x" +
                          std::to_string(boxes.shape(1)) + "; each box has 4 numbers");
  const bool is_xywh = format == "xywh", is_xyxy = format == "xyxy", is_rows = format == "bbox",
             is_closed = format == "skimage";
  if (!is_xywh && !is_xyxy && !is_rows && !is_closed)
    throw InvalidArgument("format " + format + ": may be xywh, xyxy, bbox or skimage");
  std::vector<Region> regions(boxes.shape(0));
  for (std::size_t i = 0; i < regions.size(); ++i) {
    std::int64_t b[4];
    for (std::size_t k = 0; k < 4; ++k)
      b[k] =
          boxes.data()[static_cast<std::int64_t>(i) * boxes.stride(0) + static_cast<std::int64_t>(k) * boxes.stride(1)];
    if (is_rows || is_closed) std::swap(b[0], b[1]), std::swap(b[2], b[3]);
    Region r{b[0], b[1], b[2], b[3]};
    if (!is_xywh) {
      bool over = __builtin_sub_overflow(b[2], b[0], &r.width) || __builtin_sub_overflow(b[3], b[1], &r.height);
      if (is_closed)
        over = over || __builtin_add_overflow(r.width, 1, &r.width) || __builtin_add_overflow(r.height, 1, &r.height);
      if (over) throw InvalidArgument("box " + std::to_string(i) + ": its extent does not fit 64 bits");
    }
    if (flipped) std::swap(r.x, r.y), std::swap(r.width, r.height);
    regions[i] = r;
  }
  return regions;
}

}  // namespace areal::python
