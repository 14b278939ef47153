#pragma once
// Copies of arrays that cannot be read in place.

#include <areal/error.hpp>
#include <string>
#include <utility>
#include "arrays.hpp"
#include "process.hpp"

namespace areal::python {

class Copies {
 public:
  /// `copy`: Python's argument; False refuses copies.
  explicit Copies(nb::handle copy) : refused_(copy.is(Py_False)) {}
  /// The array with its axes in memory as `letters` names them, the outermost first; in C order where it names none.
  /// Throws InvalidArgument where copies are refused, and for what is no array or of a type that areal has not.
  ArrayRef of(nb::handle array, const char* name, const char* axes, const std::string& letters) const {
    if (refused_)
      throw InvalidArgument(std::string("copy=False: ") + name +
                            " cannot be read in place; rows need a positive pitch, and pixels may not lie apart");
    nb::object native = nb::handle(hooks().native)(array, name, axes, letters);
    auto made = array_ref(native, name);
    if (!made) refuse_dtype(name);
    made->keep = std::move(native);
    return std::move(*made);
  }
  /// The array as it is, or in this machine's byte order.
  ArrayRef read(nb::handle array, const char* name) const {
    if (auto made = array_ref(array, name)) return std::move(*made);
    return of(array, name, "", "");
  }
  /// The view of an array of those axes in that order, copied where it does not lie so. `array` keeps the memory.
  ConstView view(nb::handle object, const char* name, const Axes& axes, const Order& order, ArrayRef& array) const {
    array = read(object, name);
    if (array.dimensions != static_cast<std::size_t>(axes.dimensions))
      throw InvalidArgument(std::string(name) + ": an array of " + std::to_string(array.dimensions) +
                            " dimensions; its axes are " + axes.letters);
    if (const auto view = view_in(array, axes, order)) return *view;
    array = of(object, name, axes.letters, memory_letters(axes, order));
    return view_in(array, axes, order).value();
  }

 private:
  bool refused_;
};

}  // namespace areal::python
