#pragma once
// Python arrays as areal's views: which dimension is which, and what may be read as it lies.

#include <areal/view.hpp>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>
#include "nanobind.hpp"

namespace areal::python {

using AnyArray = nb::ndarray<nb::ro>;

/// Which dimension of an array is which, by letters: HW HWC CHW NHW NHWC NCHW DHW. D is summed along, as N is not.
struct Axes {
  std::string letters;
  int n = -1, h = -1, w = -1, c = -1;  ///< the number of the dimension; D is in `n`
  bool volume = false;

  /// Throws InvalidArgument, listing the choices, for letters that are none, and for an array of another number of
  /// dimensions. Empty letters are HW where there are two.
  static Axes of(std::string_view letters, std::size_t dimensions);
  int dimensions() const noexcept { return static_cast<int>(letters.size()); }
};

/// The element type. Throws InvalidArgument for a dtype that areal has no type for. bool reads as 8u.
Type type_of_dtype(nb::dlpack::dtype dtype);
nb::dlpack::dtype dtype_of(Type type);

/// How an array lies in memory.
struct Lie {
  Layout layout = Layout::planar;
  bool flipped = false;  ///< neighbours in memory are neighbours in H: what is computed is the transposed image
  friend bool operator==(const Lie&, const Lie&) = default;
};

/// An array's memory read as it lies, or none where areal would need a copy: gaps between neighbours, negative or zero
/// strides, planes that interlock.
struct Pixels {
  ConstView view;
  Lie lie;
};
std::optional<Pixels> pixels_of(const AnyArray& array, const Axes& axes);
/// The same of an array that is written.
std::optional<View> room_of(const nb::ndarray<>& array, const Axes& axes, const Lie& lie);

/// What an array of the axes must be for a view: its extents and its strides, in elements.
struct ArrayShape {
  std::array<std::size_t, 4> extents{};
  std::array<std::int64_t, 4> strides{};
  std::size_t dimensions = 0;
};
ArrayShape array_shape(const ConstView& view, const Axes& axes, bool flipped);

}  // namespace areal::python
