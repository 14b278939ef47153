// skimage.transform.integrate: sums of inclusive boxes of any dimension from a table.
#include <areal/error.hpp>
#include <cstring>
#include <string>
#include <utility>
#include "bindings.hpp"
#include "dropin.hpp"
#include "process.hpp"

namespace areal::python::dropin {
namespace {

constexpr std::size_t most_dimensions = 4;

using Coordinates = std::vector<std::int64_t>;  // rows of `dimensions`

/// Appends the integers of a row, a list or tuple of n. False for other objects.
bool append_row(PyObject* row, std::size_t n, Coordinates& out) {
  const bool is_tuple = PyTuple_CheckExact(row);
  if (!is_tuple && !PyList_CheckExact(row)) return false;
  const nb::object items = is_tuple ? nb::borrow(row) : nb::steal(PySequence_Tuple(row));
  if (!items.is_valid() || static_cast<std::size_t>(PyTuple_Size(items.ptr())) != n) return false;
  for (std::size_t i = 0; i < n; ++i) {
    PyObject* const item = PyTuple_GetItem(items.ptr(), static_cast<Py_ssize_t>(i));
    if (!PyLong_CheckExact(item)) return false;
    int overflow = 0;
    out.push_back(PyLong_AsLongLongAndOverflow(item, &overflow));
    if (overflow != 0) return false;
  }
  return true;
}

/// Reads rows of n integers: an int64 array of N x n or n, a list or tuple of rows, or one row. False for other
/// objects, which NumPy then handles.
bool read_rows(nb::handle from, std::size_t n, Coordinates& out) {
  if (PyList_CheckExact(from.ptr()) || PyTuple_CheckExact(from.ptr())) {
    const nb::object rows = nb::steal(PySequence_Tuple(from.ptr()));
    if (!rows.is_valid()) throw nb::python_error();
    const Py_ssize_t count = PyTuple_Size(rows.ptr());
    if (count == 0) return false;
    if (PyLong_CheckExact(PyTuple_GetItem(rows.ptr(), 0))) return append_row(rows.ptr(), n, out);
    out.reserve(static_cast<std::size_t>(count) * n);
    for (Py_ssize_t i = 0; i < count; ++i)
      if (!append_row(PyTuple_GetItem(rows.ptr(), i), n, out)) return false;
    return true;
  }
  nb::ndarray<const std::int64_t, nb::device::cpu> array;
  if (!nb::try_cast(from, array, false)) return false;
  const std::size_t dimensions = array.ndim();
  if (dimensions != 1 && dimensions != 2) return false;
  if (array.shape(dimensions - 1) != n) return false;
  const std::size_t count = dimensions == 2 ? array.shape(0) : 1;
  out.reserve(count * n);
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t k = 0; k < n; ++k)
      out.push_back(array.data()[(dimensions == 2 ? static_cast<std::int64_t>(i) * array.stride(0) : 0) +
                                 static_cast<std::int64_t>(k) * array.stride(dimensions - 1)]);
  return true;
}

std::int64_t wrapping_difference(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}

/// The table's extents and strides, in elements.
struct Lattice {
  std::size_t dimensions = 0;
  std::int64_t extent[most_dimensions] = {}, stride[most_dimensions] = {};
};

[[noreturn]] void refuse_index(std::int64_t index, std::size_t axis, std::int64_t extent) {
  const std::string words = "index " + std::to_string(index) + " is out of bounds for axis " + std::to_string(axis) +
                            " with size " + std::to_string(extent);
  throw nb::index_error(words.c_str());
}

/// Checks the elements before the starts, in skimage's order of corners. A start can be beyond the table while its end
/// is not if their difference wraps: skimage then treats the box as valid.
void require_starts(const Lattice& table, const Coordinates& start) {
  const std::size_t n = table.dimensions, boxes = start.size() / n;
  for (std::size_t corner = 1; corner < std::size_t{1} << n; ++corner)
    for (std::size_t box = 0; box < boxes; ++box) {
      const std::int64_t* const s = start.data() + box * n;
      const auto is_start = [&](std::size_t k) { return (corner >> (n - 1 - k) & 1) != 0; };
      bool empty = false;
      for (std::size_t k = 0; k < n; ++k) empty = empty || (is_start(k) && s[k] < 1);
      for (std::size_t k = 0; k < n && !empty; ++k)
        if (is_start(k) && s[k] > table.extent[k]) refuse_index(s[k] - 1, k, table.extent[k]);
    }
}

/// Counts negative numbers from the end, then raises the errors of skimage and NumPy, in their order and words.
void resolve(const Lattice& table, Coordinates& start, Coordinates& end) {
  const std::size_t n = table.dimensions;
  bool backward = false, starts_outside = false;
  for (std::size_t i = 0; i < start.size(); ++i) {
    const std::int64_t extent = table.extent[i % n];
    if (start[i] < 0) start[i] += extent;
    if (end[i] < 0) end[i] += extent;
    backward = backward || wrapping_difference(end[i], start[i]) < 0;
    starts_outside = starts_outside || start[i] > extent;
  }
  if (backward) throw nb::index_error("end coordinates must be greater or equal to start");
  for (std::size_t i = 0; i < end.size(); ++i) {
    const std::int64_t extent = table.extent[i % n];
    if (end[i] < -extent || end[i] >= extent) refuse_index(end[i], i % n, extent);
    if (end[i] < 0) end[i] += extent;  // as NumPy counts it a second time
  }
  if (starts_outside) require_starts(table, start);
}

template <class T>
T element(const void* data, std::int64_t at) {
  T value;
  std::memcpy(&value, static_cast<const char*>(data) + at * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
  return value;
}

template <class T>
double real_of(T value) {
  if constexpr (std::is_same_v<T, Half>)
    return to_float(value);
  else
    return static_cast<double>(value);
}

/// Integers are summed modulo 2^64; sums from 32- and 64-bit tables are reduced modulo the table's own power of two, so
/// that a table that wrapped gives right sums. Floats are added in skimage's order, the last axis's corners first.
template <class T>
void box_sums(const void* data, const Lattice& table, const Coordinates& start, const Coordinates& end, double* out,
              Interrupt& interrupt) {
  using Sum = std::conditional_t<std::is_integral_v<T>, std::uint64_t, double>;
  const std::size_t n = table.dimensions, corners = std::size_t{1} << n, boxes = start.size() / n;
  for (std::size_t box = 0; box < boxes; ++box) {
    if (box % 65536 == 65535 && !interrupt.may_continue_polling()) return;
    const std::int64_t *s = start.data() + box * n, *e = end.data() + box * n;
    Sum sum = 0;
    for (std::size_t corner = 0; corner < corners; ++corner) {
      std::int64_t at = 0;
      bool outside = false, minus = false;
      for (std::size_t k = 0; k < n && !outside; ++k) {
        const bool is_start = (corner >> (n - 1 - k) & 1) != 0;
        outside = is_start && s[k] < 1;
        minus = minus != is_start;
        if (!outside) at += (is_start ? s[k] - 1 : e[k]) * table.stride[k];
      }
      if (outside) continue;
      Sum value;
      if constexpr (std::is_integral_v<T>)
        value = static_cast<std::uint64_t>(static_cast<std::int64_t>(element<T>(data, at)));
      else
        value = real_of(element<T>(data, at));
      sum = minus ? sum - value : sum + value;
    }
    if constexpr (std::is_integral_v<T> && sizeof(T) >= 4)
      out[box] = static_cast<double>(static_cast<T>(sum));
    else if constexpr (std::is_integral_v<T>)
      out[box] = static_cast<double>(static_cast<std::int64_t>(sum));
    else
      out[box] = sum;
  }
}

void box_sums_of(Type type, const void* data, const Lattice& table, const Coordinates& start, const Coordinates& end,
                 double* out, Interrupt& interrupt) {
  switch (type) {
    case Type::u8:
      return box_sums<std::uint8_t>(data, table, start, end, out, interrupt);
    case Type::s8:
      return box_sums<std::int8_t>(data, table, start, end, out, interrupt);
    case Type::u16:
      return box_sums<std::uint16_t>(data, table, start, end, out, interrupt);
    case Type::s16:
      return box_sums<std::int16_t>(data, table, start, end, out, interrupt);
    case Type::u32:
      return box_sums<std::uint32_t>(data, table, start, end, out, interrupt);
    case Type::s32:
      return box_sums<std::int32_t>(data, table, start, end, out, interrupt);
    case Type::u64:
      return box_sums<std::uint64_t>(data, table, start, end, out, interrupt);
    case Type::s64:
      return box_sums<std::int64_t>(data, table, start, end, out, interrupt);
    case Type::f16:
      return box_sums<Half>(data, table, start, end, out, interrupt);
    case Type::f32:
      return box_sums<float>(data, table, start, end, out, interrupt);
    case Type::f64:
      return box_sums<double>(data, table, start, end, out, interrupt);
  }
}

/// None for a table of more than 4 dimensions, and unless the coordinates are rows with an integer per dimension, as
/// many ends as starts.
nb::object integrate(nb::handle array, nb::handle start, nb::handle end) {
  const std::optional<ArrayRef> table = array_ref(array, "ii");
  if (!table || table->dimensions == 0 || table->dimensions > most_dimensions) return nb::none();
  const std::size_t n = table->dimensions;
  Lattice lattice{n};
  for (std::size_t k = 0; k < n; ++k) lattice.extent[k] = table->extents[k], lattice.stride[k] = table->strides[k];
  Coordinates starts, ends;
  if (!read_rows(start, n, starts) || !read_rows(end, n, ends) || starts.size() != ends.size()) return nb::none();
  auto* const sums = new std::vector<double>(starts.size() / n);
  const nb::capsule owner(sums, [](void* p) noexcept { delete static_cast<std::vector<double>*>(p); });
  Interrupt interrupt;
  {
    const nb::gil_scoped_release released;
    resolve(lattice, starts, ends);
    box_sums_of(table->type, table->data, lattice, starts, ends, sums->data(), interrupt);
  }
  if (interrupt.raised()) throw nb::python_error();
  const std::size_t extents[1] = {sums->size()};
  return nb::cast(nb::ndarray<nb::numpy, double>(sums->data(), 1, extents, owner));
}

}  // namespace
}  // namespace areal::python::dropin

namespace areal::python {

void bind_dropin_integrate(nb::module_& m) {
  m.def("dropin_integrate", &dropin::integrate, nb::arg("table"), nb::arg("start").none(), nb::arg("end").none());
}

}  // namespace areal::python
