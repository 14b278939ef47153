#include "arrays.hpp"

#include <algorithm>
#include <areal/error.hpp>
#include <utility>

namespace areal::python {
namespace {

constexpr Axes choices[] = {{"HW", 2, -1, 0, 1, -1, false}, {"HWC", 3, -1, 0, 1, 2, false},
                            {"CHW", 3, -1, 1, 2, 0, false}, {"NHW", 3, 0, 1, 2, -1, false},
                            {"NHWC", 4, 0, 1, 2, 3, false}, {"NCHW", 4, 0, 2, 3, 1, false},
                            {"DHW", 3, 0, 1, 2, -1, true}};

std::string axes_choices() {
  std::string all;
  for (const Axes& one : choices) all += (all.empty() ? "" : ", ") + std::string(one.letters);
  return all;
}

/// One dimension: its extent and its stride in elements.
struct Dimension {
  std::int64_t extent = 1, stride = 0;
};

Dimension dimension_of(const ArrayRef& array, int dimension) {
  if (dimension < 0) return {};
  const auto i = static_cast<std::size_t>(dimension);
  return {array.extents[i], array.strides[i]};
}

/// Pitches of rows, planes and images in elements. None if a dimension's stride is less than the span of the inner
/// dimensions, which views require.
struct Pitches {
  std::int64_t row = 0, plane = 0, batch = 0;
};
std::optional<Pitches> pitches_of(const Dimension& n, const Dimension& h, const Dimension& w, const Dimension& c,
                                  Layout layout) {
  const bool planar = layout == Layout::planar;
  const std::int64_t step = planar ? 1 : c.extent;
  if (w.extent > 1 && w.stride != step) return std::nullopt;
  if (!planar && c.extent > 1 && c.stride != 1) return std::nullopt;
  std::array<Dimension, 3> outer{h, planar ? c : Dimension{}, n};
  std::sort(outer.begin(), outer.end(), [](const Dimension& a, const Dimension& b) { return a.stride < b.stride; });
  std::int64_t span = w.extent * step;
  for (const Dimension& one : outer) {
    if (one.extent <= 1) continue;
    if (one.stride < span) return std::nullopt;
    span += (one.extent - 1) * one.stride;
  }
  Pitches p;
  p.row = h.extent > 1 ? h.stride : w.extent * step;
  p.plane = !planar ? 1 : c.extent > 1 ? c.stride : p.row * h.extent;
  p.batch = n.extent > 1 ? n.stride : planar ? p.plane * c.extent : p.row * h.extent;
  return p;
}

template <class V>
std::optional<V> view_as(const ArrayRef& array, const Axes& axes, const Order& order) {
  Dimension n = dimension_of(array, axes.n), c = dimension_of(array, axes.c);
  Dimension h = dimension_of(array, axes.h), w = dimension_of(array, axes.w);
  if (order.transposed) std::swap(h, w);
  if (order.folded) {
    if (c.extent != order.folded) return std::nullopt;
    const bool has_pixels = h.extent > 0 && w.extent > 0;  // strides of others mean nothing
    if (has_pixels && n.extent > 1 && n.stride != c.extent * c.stride) return std::nullopt;
    n = {n.extent * c.extent, c.stride};
    c = {};
  }
  const Shape shape{w.extent, h.extent, c.extent, n.extent, order.layout};
  const Type type = array.type;
  if (shape.empty()) return V(array.data, type, shape).in(array.memory);
  const std::optional<Pitches> p = pitches_of(n, h, w, c, order.layout);
  if (!p) return std::nullopt;
  const auto size = static_cast<std::int64_t>(size_of(type));
  return V(array.data, type, shape, p->row * size, p->plane * size, p->batch * size).in(array.memory);
}

}  // namespace

const Axes& Axes::of(std::string_view letters, std::size_t dimensions) {
  if (letters.empty()) {
    if (dimensions != 2)
      throw InvalidArgument("axes: an array of " + std::to_string(dimensions) + " dimensions needs one of " +
                            axes_choices());
    return choices[0];
  }
  for (const Axes& one : choices)
    if (one.letters == letters) {
      if (static_cast<std::size_t>(one.dimensions) != dimensions)
        throw InvalidArgument("axes " + std::string(letters) + ": the array has " + std::to_string(dimensions) +
                              (dimensions == 1 ? " dimension" : " dimensions"));
      return one;
    }
  throw InvalidArgument("axes " + std::string(letters) + ": may be " + axes_choices());
}

const Axes& Axes::without_channels() const {
  if (c < 0) return *this;
  return n >= 0 ? choices[3] : choices[0];
}

void refuse_dtype(const char* name) {
  throw InvalidArgument(std::string(name) +
                        ": areal has no type for its elements; it takes bool, integers of 8 to 64 bits and floats of "
                        "16, 32 and 64 bits");
}

nb::dlpack::dtype dtype_of(Type type) {
  using Code = nb::dlpack::dtype_code;
  const Code code = is_float(type) ? Code::Float : is_signed_integer(type) ? Code::Int : Code::UInt;
  return {static_cast<std::uint8_t>(code), static_cast<std::uint8_t>(8 * size_of(type)), 1};
}

namespace {
constexpr const char* numpy_names[] = {"uint8",  "int8",  "uint16",  "int16",   "uint32", "int32",
                                       "uint64", "int64", "float16", "float32", "float64"};
}
const char* numpy_name(Type type) noexcept { return numpy_names[static_cast<std::size_t>(type)]; }

Type type_of_numpy_name(const std::string& name, const char* argument) {
  if (name == "bool") return Type::u8;
  for (std::size_t i = 0; i < std::size(numpy_names); ++i)
    if (numpy_names[i] == name) return static_cast<Type>(i);
  throw InvalidArgument(std::string(argument) + " " + name +
                        ": may be bool, an integer of 8 to 64 bits or a float of 16, 32 or 64 bits");
}

Border border_of(const std::string& name) {
  const auto known = border_named(name);
  if (!known) throw InvalidArgument("border " + name + ": may be zero, none or exclusive");
  return *known;
}

std::optional<Pixels> pixels_of(const ArrayRef& array, const Axes& axes, bool may_transpose, bool may_fold) {
  const std::int64_t channels = dimension_of(array, axes.c).extent;
  for (const bool transposed : {false, true}) {
    if (transposed && !may_transpose) break;
    if (may_fold && channels > most_channels) {
      const Order order{Layout::planar, transposed, channels};
      if (const auto view = view_as<ConstView>(array, axes, order)) return Pixels{*view, order};
      continue;
    }
    for (const Layout layout : {Layout::planar, Layout::interleaved}) {
      if (layout == Layout::planar && axes.c < 0) continue;  // one channel
      const Order order{layout, transposed, 0};
      if (const auto view = view_as<ConstView>(array, axes, order)) return Pixels{*view, order};
    }
  }
  return std::nullopt;
}

std::optional<ConstView> view_in(const ArrayRef& array, const Axes& axes, const Order& order) {
  return view_as<ConstView>(array, axes, order);
}
std::optional<View> writable_view(const ArrayRef& array, const Axes& axes, const Order& order) {
  return view_as<View>(array, axes, order);
}

View writable_view(const ConstView& view) {
  return View(const_cast<void*>(view.data), view.type, view.shape, view.row_pitch, view.plane_pitch, view.batch_pitch)
      .in(view.memory);
}

std::string ArrayShape::words() const {
  std::string all;
  for (std::size_t i = 0; i < dimensions; ++i) all += (i ? "x" : "") + std::to_string(extents[i]);
  return all;
}

ArrayShape array_shape(const ConstView& view, const Axes& axes, const Order& order) {
  ArrayShape made;
  made.dimensions = static_cast<std::size_t>(axes.dimensions);
  const auto size = static_cast<std::int64_t>(size_of(view.type));
  const auto set = [&](int dimension, std::int64_t extent, std::int64_t pitch) {
    if (dimension < 0) return;
    made.extents[static_cast<std::size_t>(dimension)] = static_cast<std::size_t>(extent);
    made.strides[static_cast<std::size_t>(dimension)] = pitch / size;
  };
  const bool folded = order.folded != 0 && axes.c >= 0;
  const std::int64_t channels = folded ? order.folded : view.shape.channels;
  set(axes.n, folded ? view.shape.batch / order.folded : view.shape.batch,
      folded ? order.folded * view.batch_pitch : view.batch_pitch);
  set(order.transposed ? axes.w : axes.h, view.shape.height, view.row_pitch);
  set(order.transposed ? axes.h : axes.w, view.shape.width, view.column_pitch());
  set(axes.c, channels, folded ? view.batch_pitch : view.shape.layout == Layout::planar ? view.plane_pitch : size);
  return made;
}

ArrayShape ArrayShape::of(const ArrayRef& array) {
  ArrayShape made;
  made.dimensions = std::min<std::size_t>(array.dimensions, 4);
  for (std::size_t i = 0; i < made.dimensions; ++i) made.extents[i] = static_cast<std::size_t>(array.extents[i]);
  return made;
}

void require_like(const ArrayRef& out, const ArrayShape& wanted, Type type) {
  const ArrayShape is = ArrayShape::of(out);
  if (out.dimensions != wanted.dimensions || is.extents != wanted.extents || out.type != type)
    throw InvalidArgument("out: an array of " + is.words() + ", " + numpy_name(out.type) + ", where one of " +
                          wanted.words() + ", " + numpy_name(type) + ", is needed");
}

void require_planned(const ArrayRef& array, const Axes& axes, const std::array<std::int64_t, 4>& extents, Type type) {
  const auto dimensions = static_cast<std::size_t>(axes.dimensions);
  if (array.dimensions == dimensions && array.extents == extents && array.type == type) return;
  ArrayRef wanted;
  wanted.dimensions = dimensions, wanted.extents = extents;
  throw InvalidArgument("array: one of " + ArrayShape::of(array).words() + ", " + numpy_name(array.type) +
                        "; this plan is for " + ArrayShape::of(wanted).words() + ", " + numpy_name(type));
}

Shape image_shape(const std::array<std::int64_t, 4>& extents, const Axes& axes, const Order& order) {
  const auto at = [&](int dimension) { return dimension < 0 ? 1 : extents[static_cast<std::size_t>(dimension)]; };
  Shape shape{at(axes.w), at(axes.h), at(axes.c), at(axes.n), order.layout};
  if (order.transposed) std::swap(shape.width, shape.height);
  if (order.folded && __builtin_mul_overflow(shape.batch, std::exchange(shape.channels, 1), &shape.batch))
    throw InvalidArgument("shape: its images and channels together do not fit 63 bits");
  return shape;
}

Order c_order(const std::array<std::int64_t, 4>& extents, const Axes& axes, bool may_fold) {
  if (axes.c < 0) return {Layout::interleaved, false, 0};
  const std::int64_t channels = extents[static_cast<std::size_t>(axes.c)];
  if (may_fold && channels > most_channels) return {Layout::planar, false, channels};
  return {axes.c + 1 < axes.dimensions || channels == 1 ? Layout::planar : Layout::interleaved, false, 0};
}

std::string memory_letters(const Axes& axes, const Order& order) {
  const char rows = order.transposed ? 'W' : 'H', columns = order.transposed ? 'H' : 'W';
  std::string letters;
  if (axes.n >= 0) letters += axes.letters[axes.n];
  if (axes.c >= 0 && order.layout == Layout::planar) letters += 'C';
  letters += rows, letters += columns;
  if (axes.c >= 0 && order.layout == Layout::interleaved) letters += 'C';
  return letters;
}

}  // namespace areal::python
