#pragma once
// Python arrays as areal's views: the meaning of dimensions, and reading in place.

#include <areal/border.hpp>
#include <areal/view.hpp>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>
#include "nanobind.hpp"

namespace areal::python {

/// A Python array: NumPy's by its fields, others through nanobind (DLPack, the buffer protocol).
struct ArrayRef {
  void* data = nullptr;
  Type type = Type::u8;
  MemoryPlace memory;
  std::size_t dimensions = 0;
  std::array<std::int64_t, 4> extents{}, strides{};  ///< of the first four; strides in elements
  nb::object keep;                                   ///< the owner of the memory, if it is not the array itself
};

/// None for an object that is not an array, and for an array that needs a copy: of another byte order, or with strides
/// that are not multiples of the element; with `may_write` also for a read-only array. Throws InvalidArgument for a
/// dtype that areal does not have. The array must outlive the reference.
std::optional<ArrayRef> array_ref(nb::handle array, const char* name, bool may_write = false);
/// Sets NumPy's array type, and checks that the fields of arrays are where NumPy's documentation says.
void learn_numpy();
/// Is the object exactly an ndarray, whose fields are known?
bool is_numpy_array(nb::handle object) noexcept;
bool is_writable_numpy_array(nb::handle array) noexcept;
/// numpy.empty(extents, dtype).
nb::object numpy_empty(Type type, const std::vector<std::int64_t>& extents);
/// The same array with dtype uint64 or int64: nanobind uses C's long long, a distinct NumPy type that PyTorch refuses.
nb::object with_numpys_type(nb::object array, Type type);

/// The dimensions of an array by letters: HW HWC CHW NHW NHWC NCHW DHW. Tables sum along D, but not along N.
struct Axes {
  const char* letters = "HW";
  int dimensions = 2;
  int n = -1, h = 0, w = 1, c = -1;  ///< the index of the dimension, -1 for none; D is in `n`
  bool volume = false;

  /// Empty letters are HW for 2 dimensions. Throws InvalidArgument with the choices for other letters, and for another
  /// number of dimensions.
  static const Axes& of(std::string_view letters, std::size_t dimensions);
  /// The axes of a mask and of counts: without C.
  const Axes& without_channels() const;
};

[[noreturn]] void refuse_dtype(const char* name);
nb::dlpack::dtype dtype_of(Type type);
/// areal's type of a dtype; u8 for bool, none for dtypes that areal does not have.
std::optional<Type> type_of_dtype(nb::dlpack::dtype dtype);
/// NumPy's name: "uint8".
const char* numpy_name(Type type) noexcept;
/// The type of NumPy's name, also "bool". Throws InvalidArgument for other names.
Type type_of_numpy_name(const std::string& name, const char* argument);
/// Throws InvalidArgument with the choices.
Border border_of(const std::string& name);

/// The memory order of an array.
struct Order {
  Layout layout = Layout::planar;
  bool transposed = false;  ///< H is the innermost dimension: areal sees the transposed image
  std::int64_t folded = 0;  ///< not 0: this many planar channels are in the batch, as areal's images have 4 at most
  friend bool operator==(const Order&, const Order&) = default;
};

/// The shape for areal, with up to 4 channels.
constexpr std::int64_t most_channels = 4;

/// An array's memory read in place.
struct Pixels {
  ConstView view;
  Order order;
};
/// None if areal needs a copy: for gaps between neighbours, negative or zero strides, overlapping planes.
std::optional<Pixels> pixels_of(const ArrayRef& array, const Axes& axes, bool may_transpose, bool may_fold);
/// The same in the given order.
std::optional<ConstView> view_in(const ArrayRef& array, const Axes& axes, const Order& order);
/// The same memory, writable.
View writable_view(const ConstView& view);
std::optional<View> writable_view(const ArrayRef& array, const Axes& axes, const Order& order);

/// An array's extents and strides, in elements, in the order of its axes.
struct ArrayShape {
  std::array<std::size_t, 4> extents{};
  std::array<std::int64_t, 4> strides{};
  std::size_t dimensions = 0;
  /// "480x640".
  std::string words() const;
  static ArrayShape of(const ArrayRef& array);
};
/// The view's shape as an array with these axes.
ArrayShape array_shape(const ConstView& view, const Axes& axes, const Order& order);
/// Throws InvalidArgument unless `out` has that shape and dtype.
void require_like(const ArrayRef& out, const ArrayShape& wanted, Type type);
/// Throws InvalidArgument unless an array has the plan's shape and dtype.
void require_planned(const ArrayRef& array, const Axes& axes, const std::array<std::int64_t, 4>& extents, Type type);
/// The image that an array of those extents is, in C order (`transposed` and folded as in `order`). Throws
/// InvalidArgument for more folded planes than fit 63 bits.
Shape image_shape(const std::array<std::int64_t, 4>& extents, const Axes& axes, const Order& order);
/// The axes from the outermost in memory to the innermost, of an array in that order: "NCHW".
std::string memory_letters(const Axes& axes, const Order& order);
/// The order of an array in C order.
Order c_order(const std::array<std::int64_t, 4>& extents, const Axes& axes, bool may_fold);

}  // namespace areal::python
