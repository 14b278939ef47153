#pragma once
// Python arrays as areal's views: which dimension is which, and what can be read in place.

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

/// An array of Python: NumPy's by its fields, others by what nanobind reads (DLPack, the buffer protocol).
struct ArrayRef {
  void* data = nullptr;
  Type type = Type::u8;
  MemoryPlace memory;
  std::size_t dimensions = 0;
  std::array<std::int64_t, 4> extents{}, strides{};  ///< of the first four; strides in elements
  nb::object keep;                                   ///< what owns the memory, where that is not the array passed
};

/// None for what is no array, and for one that needs a copy to be read: another byte order, strides that are no
/// multiple of the element. `may_write`: none for one that is read-only. Throws InvalidArgument, naming it, for a dtype
/// that areal has no type for. The array must stay while the reference is used.
std::optional<ArrayRef> array_ref(nb::handle array, const char* name, bool may_write = false);
/// NumPy's array type, by which its arrays are known. Finds out whether their fields are where its documentation says.
void learn_numpy();
/// An ndarray itself, whose fields are known.
bool is_numpy_array(nb::handle object) noexcept;
bool is_writable_numpy_array(nb::handle array) noexcept;
/// numpy.empty(extents, dtype).
nb::object numpy_empty(Type type, const std::vector<std::int64_t>& extents);
/// The same array. nanobind's of 64-bit integers are C's long long, for which NumPy has a type apart from uint64 and
/// int64: equal, but refused by PyTorch.
nb::object with_numpys_type(nb::object array, Type type);

/// Which dimension of an array is which, by letters: HW HWC CHW NHW NHWC NCHW DHW. D is summed along, as N is not.
struct Axes {
  const char* letters = "HW";
  int dimensions = 2;
  int n = -1, h = 0, w = 1, c = -1;  ///< the number of the dimension, -1 for none; D is in `n`
  bool volume = false;

  /// Throws InvalidArgument, listing the choices, for letters that are none of them, and for an array of another number
  /// of dimensions. Empty letters are HW where there are two.
  static const Axes& of(std::string_view letters, std::size_t dimensions);
  /// The same without C: the axes of a mask and of counts.
  const Axes& without_channels() const;
};

[[noreturn]] void refuse_dtype(const char* name);
nb::dlpack::dtype dtype_of(Type type);
/// None for those that areal has not; bool is u8.
std::optional<Type> type_of_dtype(nb::dlpack::dtype dtype);
/// As NumPy has it: "uint8".
const char* numpy_name(Type type) noexcept;
/// Of such a name, "bool" included. Throws InvalidArgument.
Type type_of_numpy_name(const std::string& name, const char* argument);
/// Throws InvalidArgument, listing the choices.
Border border_of(const std::string& name);

/// How an array lies in memory.
struct Order {
  Layout layout = Layout::planar;
  bool transposed = false;  ///< neighbours in memory are neighbours in H: areal sees the transposed image
  std::int64_t folded = 0;  ///< not 0: so many planar channels are part of the batch, as areal takes 4 at most
  friend bool operator==(const Order&, const Order&) = default;
};

/// What areal takes: up to 4 channels as such.
constexpr std::int64_t most_channels = 4;

/// An array's memory read in place.
struct Pixels {
  ConstView view;
  Order order;
};
/// None where areal would need a copy: gaps between neighbours, negative or zero strides, planes that interlock.
std::optional<Pixels> pixels_of(const ArrayRef& array, const Axes& axes, bool may_transpose, bool may_fold);
/// The same in a given order.
std::optional<ConstView> view_in(const ArrayRef& array, const Axes& axes, const Order& order);
/// The same memory, to be written.
View writable_view(const ConstView& view);
std::optional<View> room_in(const ArrayRef& array, const Axes& axes, const Order& order);

/// An array's extents and strides, in elements, in the order of its axes.
struct ArrayShape {
  std::array<std::size_t, 4> extents{};
  std::array<std::int64_t, 4> strides{};
  std::size_t dimensions = 0;
  /// "480x640".
  std::string words() const;
  static ArrayShape of(const ArrayRef& array);
};
/// What an array of the axes is for a view in that order.
ArrayShape array_shape(const ConstView& view, const Axes& axes, const Order& order);
/// Throws InvalidArgument unless an array given as `out` has that shape and dtype.
void require_like(const ArrayRef& out, const ArrayShape& wanted, Type type);
/// Throws InvalidArgument unless an array is one that a plan is for.
void require_planned(const ArrayRef& array, const Axes& axes, const std::array<std::int64_t, 4>& extents, Type type);
/// The image that an array of those extents is, in C order (`transposed` and folded as in `order`). Throws
/// InvalidArgument for more folded planes than fit 63 bits.
Shape image_shape(const std::array<std::int64_t, 4>& extents, const Axes& axes, const Order& order);
/// The axes from the outermost in memory to the innermost, of an array in that order: "NCHW".
std::string memory_letters(const Axes& axes, const Order& order);
/// The order of an array in C order.
Order c_order(const std::array<std::int64_t, 4>& extents, const Axes& axes, bool may_fold);

}  // namespace areal::python
