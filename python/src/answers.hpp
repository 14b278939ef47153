#pragma once
// Arrays that answers come in.

#include <areal/array.hpp>
#include <areal/error.hpp>
#include <areal/span.hpp>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>
#include "arrays.hpp"
#include "process.hpp"

namespace areal::python {

/// An array of N boxes x the further extents, which fill(span) fills without the GIL.
template <class T, class Fill>
nb::object answers(std::size_t boxes, const std::vector<std::size_t>& further, const Fill& fill) {
  std::vector<std::size_t> extents{boxes};
  std::size_t size = boxes;
  for (const std::size_t extent : further) {
    extents.push_back(extent);
    if (__builtin_mul_overflow(size, extent, &size)) throw InvalidArgument("boxes: their answers do not fit 64 bits");
  }
  auto values = std::make_unique<T[]>(size);
  without_gil(true, [&] { fill(Span<T>(values.get(), size)); });
  const nb::capsule owner(values.get(), [](void* p) noexcept { delete[] static_cast<T*>(p); });
  T* const data = values.release();
  return with_numpys_type(nb::cast(nb::ndarray<nb::numpy, T>(data, extents.size(), extents.data(), owner)), type_of<T>);
}

/// An array of NumPy that owns what was computed.
inline nb::object owned_array(Array array, const Axes& axes, const Order& order) {
  auto kept = std::make_unique<Array>(std::move(array));
  const ConstView view = std::as_const(*kept).view();
  const nb::capsule owner(kept.get(), [](void* p) noexcept { delete static_cast<Array*>(p); });
  static_cast<void>(kept.release());
  return numpy_array(view, axes, order, owner);
}

}  // namespace areal::python
