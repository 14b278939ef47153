#include "regions.hpp"

#include <areal/error.hpp>
#include <array>
#include <string>
#include <utility>

namespace areal::python {
namespace {

enum class Format { xywh, xyxy, bbox, skimage };

Format format_of(std::string_view format) {
  if (format == "xywh") return Format::xywh;
  if (format == "xyxy") return Format::xyxy;
  if (format == "bbox") return Format::bbox;
  if (format == "skimage") return Format::skimage;
  throw InvalidArgument("format " + std::string(format) + ": may be xywh, xyxy, bbox or skimage");
}

/// Begin and extent along x, y and, for 3, z of box i.
template <std::size_t dimensions>
struct Extents {
  std::array<std::int64_t, dimensions> begin, extent;
};
template <std::size_t dimensions>
Extents<dimensions> extents_of(const ArrayRef& boxes, std::size_t i, Format format) {
  const auto at = [&](std::size_t k) {
    return static_cast<const std::int64_t*>(
        boxes.data)[static_cast<std::int64_t>(i) * boxes.strides[0] + static_cast<std::int64_t>(k) * boxes.strides[1]];
  };
  const bool is_reversed = format == Format::bbox || format == Format::skimage;  // rows before columns
  Extents<dimensions> made;
  for (std::size_t d = 0; d < dimensions; ++d) {
    const std::size_t k = is_reversed ? dimensions - 1 - d : d;
    made.begin[d] = at(k), made.extent[d] = at(dimensions + k);
    if (format == Format::xywh) continue;
    bool over = __builtin_sub_overflow(made.extent[d], made.begin[d], &made.extent[d]);
    if (format == Format::skimage) over = over || __builtin_add_overflow(made.extent[d], 1, &made.extent[d]);
    if (over) throw InvalidArgument("box " + std::to_string(i) + ": its extent does not fit 64 bits");
  }
  return made;
}

template <std::size_t dimensions, class Make>
auto all_of(const ArrayRef& boxes, std::string_view format, bool transposed, const Make& make) {
  if (boxes.dimensions != 2 || boxes.extents[1] != 2 * dimensions || boxes.type != Type::s64)
    throw InvalidArgument("boxes: an array of " + ArrayShape::of(boxes).words() + ", " + numpy_name(boxes.type) +
                          "; each box has " + std::to_string(2 * dimensions) + " numbers of int64");
  const Format known = format_of(format);
  std::vector<decltype(make(extents_of<dimensions>(boxes, 0, known)))> made(static_cast<std::size_t>(boxes.extents[0]));
  for (std::size_t i = 0; i < made.size(); ++i) {
    auto box = extents_of<dimensions>(boxes, i, known);
    if (transposed) std::swap(box.begin[0], box.begin[1]), std::swap(box.extent[0], box.extent[1]);
    made[i] = make(box);
  }
  return made;
}

}  // namespace

std::vector<Region> regions_of(const ArrayRef& boxes, std::string_view format, bool transposed) {
  return all_of<2>(boxes, format, transposed, [](const Extents<2>& b) {
    return Region{b.begin[0], b.begin[1], b.extent[0], b.extent[1]};
  });
}

std::vector<Box> volume_boxes_of(const ArrayRef& boxes, std::string_view format, bool transposed) {
  return all_of<3>(boxes, format, transposed, [](const Extents<3>& b) {
    return Box{b.begin[0], b.begin[1], b.begin[2], b.extent[0], b.extent[1], b.extent[2]};
  });
}

}  // namespace areal::python
