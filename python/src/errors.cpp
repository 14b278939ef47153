// Maps areal's exceptions to those of areal._errors.
#include <areal/error.hpp>
#include <exception>
#include <new>
#include "bindings.hpp"

namespace areal::python {
namespace {

void raise(const char* name, const char* words, const char* attribute = nullptr, nb::object value = {}) {
  const nb::object type = nb::module_::import_("areal._errors").attr(name);
  const nb::object error = type(words);
  if (attribute != nullptr) error.attr(attribute) = value;
  PyErr_SetObject(type.ptr(), error.ptr());
}

void translate(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const InvalidArgument& e) {
    raise("InvalidArgument", e.what());
  } catch (const OutOfMemory& e) {
    raise("OutOfMemory", e.what(), "bytes", nb::int_(e.bytes()));
  } catch (const IoError& e) {
    raise("IoError", e.what());
  } catch (const Unavailable& e) {
    raise("Unavailable", e.what());
  } catch (const DeviceError& e) {
    raise("DeviceError", e.what(), "lost", nb::bool_(e.lost()));
  } catch (const Cancelled& e) {
    raise("Cancelled", e.what());
  } catch (const Error& e) {
    raise("Error", e.what());
  } catch (const std::bad_alloc&) {
    raise("OutOfMemory", "memory of this process could not be allocated", "bytes", nb::int_(0));
  }
}

}  // namespace

void set_python_error() noexcept {
  try {
    translate(std::current_exception(), nullptr);
  } catch (nb::python_error& e) {
    e.restore();
  } catch (const std::exception& e) {
    PyErr_SetString(PyExc_RuntimeError, e.what());
  } catch (...) {
    PyErr_SetString(PyExc_RuntimeError, "an unknown exception of C++");
  }
}

void bind_errors(nb::module_&) { nb::register_exception_translator(translate); }

}  // namespace areal::python
