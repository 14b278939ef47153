#pragma once
// A filter on the CPU: everything known before the data is there, checked.

#include <areal/filter.hpp>
#include <areal/type.hpp>
#include <areal/view.hpp>
#include <cstdint>
#include <string>
#include "formulas/block_order.hpp"
#include "formulas/window_axis.hpp"

namespace areal::cpu {

struct FilterRequest {
  Filter filter;
  Shape image;
  Type in = Type::u8, out = Type::u8;
  formulas::WindowAxis columns, rows;
  /// The pixel that output (x, y) belongs to is (x + centre_x, y + centre_y).
  std::int64_t centre_x = 0, centre_y = 0;
  double value = 0;  ///< beyond the edge, with edge `constant`
  Rounding rounding = Rounding::nearest;
  bool omit_nan = false, mask = false;
  bool sizes = false;  ///< of each pixel's window; columns and rows are of one pixel
  std::int64_t min_count = 1;
  double fill = 0;
  std::int64_t guide = 0;  ///< channels; 0: the image guides itself
  Type guide_type = Type::u8;
  std::string algorithm = {};
  int threads = 0;
  std::int64_t together = 1;  ///< see of_elements

  /// The request for images with interleaved channels, seen as one channel whose columns are the elements of a row. A
  /// pixel has `together` of them, and a window covers every `together`-th.
  FilterRequest of_elements() const {
    FilterRequest elements = *this;
    elements.together = image.channels;
    elements.image.width *= image.channels, elements.image.channels = 1;
    formulas::WindowAxis& axis = elements.columns;
    axis.extent *= image.channels, axis.outputs *= image.channels, axis.before *= image.channels;
    axis.size = (axis.size - 1) * image.channels + 1;
    return elements;
  }
};

/// The element that an edge shows at a column of such an axis, or of pixels with `together` 1; -1 for none.
inline std::int64_t shown_element(const formulas::WindowAxis& axis, std::int64_t column, std::int64_t together) {
  if (together == 1) return formulas::shown_pixel(column, axis.extent, axis.edge);
  const std::int64_t pixel = formulas::floor_div(column, together);
  const std::int64_t shown = formulas::shown_pixel(pixel, axis.extent / together, axis.edge);
  return shown < 0 ? shown : shown * together + column - pixel * together;
}

/// A view of such an image as of one channel.
template <class Void>
BasicView<Void> elements_of(BasicView<Void> view) {
  view.shape.width *= view.shape.channels;
  view.shape.channels = 1;
  return view;
}
inline bool is_interleaved(const Shape& shape) { return shape.layout == Layout::interleaved && shape.channels > 1; }

/// What an execute has of the image and makes of the output. The views of a part hold a few rows, the request is of the
/// whole image, so that a part has the bits of the whole.
struct FilterRows {
  std::int64_t first = 0;           ///< of the image (and mask) views; where the edge wraps, it may lie outside
  std::int64_t begin = 0, end = 0;  ///< of the output, whose view begins with `begin`

  static FilterRows all(const formulas::WindowAxis& rows) { return {0, 0, rows.outputs}; }
  /// The views' row that row y of an image of so many rows is.
  std::int64_t held(std::int64_t y, std::int64_t extent) const {
    const std::int64_t row = y - first;
    return row < 0 ? row + extent : row >= extent ? row - extent : row;
  }
};

}  // namespace areal::cpu
