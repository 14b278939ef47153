#include "carries.hpp"

#include <areal/error.hpp>
#include <cstring>
#include <string>
#include <utility>

namespace areal::python {
namespace {

/// Elements of an array by image, channel, row and column, whatever its strides.
class Elements {
 public:
  Elements(const ArrayRef& array, const Axes& axes, const Order& order, Type type, const char* name)
      : data_(static_cast<const char*>(array.data)), size_(static_cast<std::int64_t>(size_of(type))) {
    if (array.dimensions != static_cast<std::size_t>(axes.dimensions) || array.type != type)
      throw InvalidArgument(std::string(name) + ": it must have the axes " + axes.letters + " and the dtype " +
                            numpy_name(type));
    const auto set = [&](int dimension, std::int64_t& extent, std::int64_t& stride) {
      if (dimension < 0) return;
      extent = array.extents[static_cast<std::size_t>(dimension)];
      stride = array.strides[static_cast<std::size_t>(dimension)] * size_;
    };
    set(axes.n, n, n_stride_), set(axes.c, c, c_stride_), set(axes.h, h, h_stride_), set(axes.w, w, w_stride_);
    if (order.folded) folded_ = order.folded;
  }
  /// Of a plane as areal numbers them.
  const char* at(std::int64_t image, std::int64_t channel, std::int64_t y, std::int64_t x) const {
    if (folded_) channel = image % folded_, image /= folded_;
    return data_ + image * n_stride_ + channel * c_stride_ + y * h_stride_ + x * w_stride_;
  }
  std::int64_t n = 1, c = 1, h = 1, w = 1;

 private:
  const char* data_;
  std::int64_t size_, n_stride_ = 0, c_stride_ = 0, h_stride_ = 0, w_stride_ = 0, folded_ = 0;
};

template <class From>
void fill(Array& to, const From& from) {
  const View view = to.view();
  const auto size = static_cast<std::int64_t>(size_of(view.type));
  const bool planar = view.shape.layout == Layout::planar;
  for (std::int64_t n = 0; n < view.shape.batch; ++n)
    for (std::int64_t c = 0; c < view.shape.channels; ++c)
      for (std::int64_t y = 0; y < view.shape.height; ++y) {
        char* row = static_cast<char*>(view.row(y, planar ? c : 0, n)) + (planar ? 0 : c * size);
        for (std::int64_t x = 0; x < view.shape.width; ++x, row += view.column_pitch())
          std::memcpy(row, from(n, c, y, x), static_cast<std::size_t>(size));
      }
}

}  // namespace

CarryArrays::CarryArrays(const ArrayRef& above, const ArrayRef& left, const Axes& axes, const Order& order,
                         const Shape& image, Type table, Layout tables, bool reverse) {
  const Elements row(above, axes, order, table, "above"), column(left, axes, order, table, "left");
  const std::int64_t height = order.transposed ? image.width : image.height;
  const std::int64_t width = order.transposed ? image.height : image.width;
  const std::int64_t channels = order.folded ? order.folded : image.channels;
  const std::int64_t batch = order.folded ? image.batch / order.folded : image.batch;
  if (row.h != 1 || row.w != width + 1 || row.n != batch || row.c != channels)
    throw InvalidArgument("above: it must have " + std::to_string(width) +
                          " + 1 elements, the corner first, for each channel and image");
  if (column.w != 1 || column.h != height || column.n != batch || column.c != channels)
    throw InvalidArgument("left: it must have " + std::to_string(height) + " elements for each channel and image");
  const Shape planes{0, 0, image.channels, image.batch, tables};
  Shape top = planes, side = planes;
  top.width = image.width + 1, top.height = 1, side.width = 1, side.height = image.height;
  above_ = Array(top, table), left_ = Array(side, table);
  if (order.transposed) {
    fill(above_, [&](std::int64_t n, std::int64_t c, std::int64_t, std::int64_t x) {
      if (reverse) return x == height ? row.at(n, c, 0, width) : column.at(n, c, x, 0);
      return x == 0 ? row.at(n, c, 0, 0) : column.at(n, c, x - 1, 0);
    });
    fill(left_, [&](std::int64_t n, std::int64_t c, std::int64_t y, std::int64_t) {
      return row.at(n, c, 0, reverse ? y : y + 1);
    });
  } else {
    fill(above_, [&](std::int64_t n, std::int64_t c, std::int64_t, std::int64_t x) { return row.at(n, c, 0, x); });
    fill(left_, [&](std::int64_t n, std::int64_t c, std::int64_t y, std::int64_t) { return column.at(n, c, y, 0); });
  }
}

Carry CarryArrays::carry() const { return {above_.view(), left_.view()}; }

}  // namespace areal::python
