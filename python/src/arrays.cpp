#include "arrays.hpp"

#include <areal/error.hpp>
#include <utility>

namespace areal::python {
namespace {

constexpr std::string_view choices[] = {"HW", "HWC", "CHW", "NHW", "NHWC", "NCHW", "DHW"};

std::string listed() {
  std::string all;
  for (const std::string_view one : choices) all += (all.empty() ? "" : ", ") + std::string(one);
  return all;
}

/// One dimension: its extent and its stride in elements.
struct Along {
  std::int64_t extent = 1, stride = 0;
};

template <class Array>
Along along(const Array& array, int dimension) {
  if (dimension < 0) return {};
  const auto i = static_cast<std::size_t>(dimension);
  return {static_cast<std::int64_t>(array.shape(i)), array.stride(i)};
}

/// Pitches in elements: of rows, planes and images. None where the memory is not laid out so.
struct Pitches {
  std::int64_t row = 0, plane = 0, batch = 0;
};
std::optional<Pitches> pitches_of(const Along& n, const Along& h, const Along& w, const Along& c, Layout layout) {
  const bool planar = layout == Layout::planar;
  const std::int64_t step = planar ? 1 : c.extent, row = w.extent * step;
  if (w.extent > 1 && w.stride != step) return std::nullopt;
  if (!planar && c.extent > 1 && c.stride != 1) return std::nullopt;
  Pitches p;
  p.row = h.extent > 1 ? h.stride : row;
  if (p.row < row) return std::nullopt;
  const std::int64_t plane = p.row * h.extent;
  p.plane = planar && c.extent > 1 ? c.stride : plane;
  if (planar && p.plane < plane) return std::nullopt;
  const std::int64_t image = planar ? p.plane * c.extent : plane;
  p.batch = n.extent > 1 ? n.stride : image;
  if (p.batch < image) return std::nullopt;
  return p;
}

template <class V, class Void, class Array>
std::optional<V> view_as(const Array& array, const Axes& axes, const Lie& lie, Void* data) {
  const Along n = along(array, axes.n), c = along(array, axes.c);
  Along h = along(array, axes.h), w = along(array, axes.w);
  if (lie.flipped) std::swap(h, w);
  const Shape shape{w.extent, h.extent, c.extent, n.extent, lie.layout};
  const Type type = type_of_dtype(array.dtype());
  if (shape.empty()) return V(data, type, shape);
  const std::optional<Pitches> p = pitches_of(n, h, w, c, lie.layout);
  if (!p) return std::nullopt;
  const auto size = static_cast<std::int64_t>(size_of(type));
  V view(data, type, shape, p->row * size, p->plane * size, p->batch * size);
  return view;
}

}  // namespace

Axes Axes::of(std::string_view letters, std::size_t dimensions) {
  if (letters.empty()) {
    if (dimensions != 2)
      throw InvalidArgument("axes: an array of " + std::to_string(dimensions) + " dimensions needs one of " + listed());
    letters = "HW";
  }
  bool known = false;
  for (const std::string_view one : choices) known = known || one == letters;
  if (!known) throw InvalidArgument("axes " + std::string(letters) + ": may be " + listed());
  if (letters.size() != dimensions)
    throw InvalidArgument("axes " + std::string(letters) + ": the array has " + std::to_string(dimensions) +
                          (dimensions == 1 ? " dimension" : " dimensions"));
  Axes axes;
  axes.letters = letters;
  for (int i = 0; i < static_cast<int>(letters.size()); ++i) switch (letters[static_cast<std::size_t>(i)]) {
      case 'D':
        axes.volume = true;
        [[fallthrough]];
      case 'N':
        axes.n = i;
        break;
      case 'H':
        axes.h = i;
        break;
      case 'W':
        axes.w = i;
        break;
      default:
        axes.c = i;
    }
  return axes;
}

Type type_of_dtype(nb::dlpack::dtype dtype) {
  using Code = nb::dlpack::dtype_code;
  const auto code = static_cast<Code>(dtype.code);
  if (dtype.lanes == 1) {
    if (code == Code::Bool && dtype.bits == 8) return Type::u8;
    if (code == Code::UInt) switch (dtype.bits) {
        case 8:
          return Type::u8;
        case 16:
          return Type::u16;
        case 32:
          return Type::u32;
        case 64:
          return Type::u64;
        default:
          break;
      }
    if (code == Code::Int) switch (dtype.bits) {
        case 8:
          return Type::s8;
        case 16:
          return Type::s16;
        case 32:
          return Type::s32;
        case 64:
          return Type::s64;
        default:
          break;
      }
    if (code == Code::Float) switch (dtype.bits) {
        case 16:
          return Type::f16;
        case 32:
          return Type::f32;
        case 64:
          return Type::f64;
        default:
          break;
      }
  }
  throw InvalidArgument(
      "array: its elements are of no type that areal has: bool, integers of 8 to 64 bits, floats of 16, 32 and 64");
}

nb::dlpack::dtype dtype_of(Type type) {
  using Code = nb::dlpack::dtype_code;
  const Code code = is_float(type) ? Code::Float : is_signed_integer(type) ? Code::Int : Code::UInt;
  return {static_cast<std::uint8_t>(code), static_cast<std::uint8_t>(8 * size_of(type)), 1};
}

std::optional<Pixels> pixels_of(const AnyArray& array, const Axes& axes) {
  for (const bool flipped : {false, true})
    for (const Layout layout : {Layout::planar, Layout::interleaved}) {
      if (layout == Layout::planar && axes.c < 0) continue;  // one channel
      const Lie lie{layout, flipped};
      if (const auto view = view_as<ConstView>(array, axes, lie, array.data())) return Pixels{*view, lie};
    }
  return std::nullopt;
}

std::optional<View> room_of(const nb::ndarray<>& array, const Axes& axes, const Lie& lie) {
  return view_as<View>(array, axes, lie, array.data());
}

ArrayShape array_shape(const ConstView& view, const Axes& axes, bool flipped) {
  ArrayShape made;
  made.dimensions = axes.letters.size();
  const auto size = static_cast<std::int64_t>(size_of(view.type));
  const auto set = [&](int dimension, std::int64_t extent, std::int64_t pitch) {
    if (dimension < 0) return;
    made.extents[static_cast<std::size_t>(dimension)] = static_cast<std::size_t>(extent);
    made.strides[static_cast<std::size_t>(dimension)] = pitch / size;
  };
  set(axes.n, view.shape.batch, view.batch_pitch);
  set(flipped ? axes.w : axes.h, view.shape.height, view.row_pitch);
  set(flipped ? axes.h : axes.w, view.shape.width, view.column_pitch());
  set(axes.c, view.shape.channels, view.shape.layout == Layout::planar ? view.plane_pitch : size);
  return made;
}

}  // namespace areal::python
