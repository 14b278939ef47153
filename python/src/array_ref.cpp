// Python arrays: memory, type and shape.
#include <areal/error.hpp>
#include <cstring>
#include <utility>
#include "arrays.hpp"
#include "python_array.hpp"

namespace areal::python {

std::optional<Type> type_of_dtype(nb::dlpack::dtype dtype) {
  using Code = nb::dlpack::dtype_code;
  if (dtype.lanes != 1) return std::nullopt;
  const auto code = static_cast<Code>(dtype.code);
  if (code == Code::Bool && dtype.bits == 8) return Type::u8;
  for (int i = 0; i <= static_cast<int>(Type::f64); ++i)
    if (dtype == dtype_of(static_cast<Type>(i))) return static_cast<Type>(i);
  return std::nullopt;
}

namespace {

// The fields of NumPy's arrays and dtypes by its reference ("Python types and C-structures"), the same in 1.x and 2.x.
// Read here because the buffer protocol and DLPack take longer than a small table.
struct NumpyArray {
  PyObject head;
  char* data;
  int dimensions;
  Py_ssize_t *extents, *strides;  // strides in bytes
  PyObject *base, *dtype;
  int flags;
};
struct NumpyDtype {
  PyObject head;
  PyTypeObject* scalar;
  char kind, character, byte_order, former_flags;
  int number;
};
constexpr int numpy_writable = 0x0400;

PyTypeObject* numpy_array_type = nullptr;  // null if its fields are elsewhere
PyObject* empty_function = nullptr;        // numpy.empty; never released, like the dtypes
std::array<PyObject*, static_cast<std::size_t>(Type::f64) + 1> numpy_dtypes{};

/// By NumPy's type numbers; none for types that areal does not have.
std::optional<Type> type_of_number(int number) {
  static_assert(sizeof(int) == 4 && sizeof(long long) == 8);
  constexpr bool long_is_64 = sizeof(long) == 8;
  switch (number) {
    case 0:  // bool
    case 2:
      return Type::u8;
    case 1:
      return Type::s8;
    case 3:
      return Type::s16;
    case 4:
      return Type::u16;
    case 5:
      return Type::s32;
    case 6:
      return Type::u32;
    case 7:
      return long_is_64 ? Type::s64 : Type::s32;
    case 8:
      return long_is_64 ? Type::u64 : Type::u32;
    case 9:
      return Type::s64;
    case 10:
      return Type::u64;
    case 11:
      return Type::f32;
    case 12:
      return Type::f64;
    case 23:
      return Type::f16;
    default:
      return std::nullopt;
  }
}

std::optional<ArrayRef> numpy_ref(PyObject* object, const char* name, bool may_write) {
  const auto& array = *reinterpret_cast<const NumpyArray*>(object);
  const auto& dtype = *reinterpret_cast<const NumpyDtype*>(array.dtype);
  const auto type = type_of_number(dtype.number);
  if (!type) refuse_dtype(name);
  if (dtype.byte_order != '=' && dtype.byte_order != '|') return std::nullopt;
  if (may_write && !(array.flags & numpy_writable)) return std::nullopt;
  ArrayRef made;
  made.data = array.data;
  made.type = *type;
  made.dimensions = static_cast<std::size_t>(array.dimensions);
  const auto size = static_cast<Py_ssize_t>(size_of(*type));
  for (std::size_t i = 0; i < std::min<std::size_t>(made.dimensions, 4); ++i) {
    made.extents[i] = array.extents[i];
    made.strides[i] = array.strides[i] / size;
    if (made.strides[i] * size != array.strides[i]) return std::nullopt;
  }
  return made;
}

[[noreturn]] void refuse_device(const char* name) {
  throw Unavailable(std::string(name) + ": it is in the memory of a device; this function takes arrays in host memory");
}

template <class Array>
std::optional<ArrayRef> imported(nb::handle object, const char* name) {
  Array array;
  if (!nb::try_cast(object, array, false)) return std::nullopt;
  const auto type = type_of_dtype(array.dtype());
  if (!type) refuse_dtype(name);
  ArrayRef made;
  made.data = const_cast<void*>(static_cast<const void*>(array.data()));
  made.type = *type;
  if (array.device_type() != nb::device::cpu::value) refuse_device(name);
  made.dimensions = array.ndim();
  for (std::size_t i = 0; i < std::min<std::size_t>(made.dimensions, 4); ++i)
    made.extents[i] = static_cast<std::int64_t>(array.shape(i)), made.strides[i] = array.stride(i);
  // The import owns the DLPack tensor until it is destroyed.
  auto kept = std::make_unique<Array>(std::move(array));
  made.keep = nb::capsule(kept.get(), [](void* p) noexcept { delete static_cast<Array*>(p); });
  kept.release();
  return made;
}

/// Does an array with known contents read right?
bool has_known_fields(PyObject* array) {
  const auto& a = *reinterpret_cast<const NumpyArray*>(array);
  if (a.dimensions != 2 || a.extents[0] != 3 || a.extents[1] != 5 || a.strides[0] != 10 || a.strides[1] != 2)
    return false;
  const auto& d = *reinterpret_cast<const NumpyDtype*>(a.dtype);
  return d.number == 4 && d.kind == 'u' && (a.flags & numpy_writable) && a.data[0] == 7;
}

}  // namespace

std::optional<ArrayRef> array_ref(nb::handle array, const char* name, bool may_write) {
  if (Py_TYPE(array.ptr()) == numpy_array_type) return numpy_ref(array.ptr(), name, may_write);
  if (has_exchange_api(array)) {
    ArrayRef made = PythonArray(array, std::nullopt, name).ref();
    if (!made.memory.is_host()) refuse_device(name);
    return made;
  }
  return may_write ? imported<nb::ndarray<>>(array, name) : imported<nb::ndarray<nb::ro>>(array, name);
}

void learn_numpy() {
  const nb::module_ numpy = nb::module_::import_("numpy");
  const nb::object known = numpy.attr("full")(nb::make_tuple(3, 5), 7, "uint16");
  if (has_known_fields(known.ptr())) numpy_array_type = Py_TYPE(known.ptr());
  empty_function = nb::object(numpy.attr("empty")).release().ptr();
  for (std::size_t i = 0; i < numpy_dtypes.size(); ++i)
    numpy_dtypes[i] = numpy.attr("dtype")(numpy_name(static_cast<Type>(i))).release().ptr();
}

bool is_numpy_array(nb::handle object) noexcept { return Py_TYPE(object.ptr()) == numpy_array_type; }

bool is_writable_numpy_array(nb::handle array) noexcept {
  return (reinterpret_cast<const NumpyArray*>(array.ptr())->flags & numpy_writable) != 0;
}

nb::object numpy_dtype(Type type) { return nb::borrow(numpy_dtypes[static_cast<std::size_t>(type)]); }

nb::object numpy_empty(Type type, const std::vector<std::int64_t>& extents) {
  PyObject* const shape = PyTuple_New(static_cast<Py_ssize_t>(extents.size()));
  if (shape == nullptr) nb::raise_python_error();
  for (std::size_t i = 0; i < extents.size(); ++i)
    PyTuple_SetItem(shape, static_cast<Py_ssize_t>(i), PyLong_FromLongLong(extents[i]));
  const nb::object kept = nb::steal(shape);
  return nb::handle(empty_function)(kept, nb::handle(numpy_dtypes[static_cast<std::size_t>(type)]));
}

nb::object with_numpys_type(nb::object array, Type type) {
  if (type != Type::u64 && type != Type::s64) return array;
  return array.attr("view")(numpy_dtype(type));
}

}  // namespace areal::python
