#pragma once
// Ctrl-C, forked children, and the objects of the Python package that _core needs.

#include <areal/cancel.hpp>
#include <areal/error.hpp>
#include <areal/execution.hpp>
#include <chrono>
#include <string>
#include "nanobind.hpp"

namespace areal::python {

/// Throws InvalidArgument for an unknown backend. A forked child uses one thread, and the CPU for backend auto; throws
/// Unavailable for cuda there.
Execution execution_of(const std::string& backend, int device, int threads);
bool is_forked_child() noexcept;
/// Throws Unavailable for cuda in a forked child, which CUDA does not support.
void require_usable(Backend backend);

/// Catches a Python exception that a signal handler raises in the calling thread during `work`.
class Interrupt {
 public:
  /// For CancelScope: false once a handler has raised.
  bool may_continue();
  /// The same for loops outside a CancelScope; checks every 50 ms. Call without the GIL.
  bool may_continue_polling() {
    const auto now = std::chrono::steady_clock::now();
    if (now < next_) return !raised_;
    next_ = now + std::chrono::milliseconds(50);
    return may_continue();
  }
  bool raised() const noexcept { return raised_; }

 private:
  bool raised_ = false;
  std::chrono::steady_clock::time_point next_ = std::chrono::steady_clock::now() + std::chrono::milliseconds(50);
};

/// Runs the work without the GIL. If it `is_long`, Ctrl-C stops it; then throws KeyboardInterrupt, or the exception of
/// the signal handler.
template <class Work>
void without_gil(bool is_long, const Work& work) {
  if (!is_long) {
    const nb::gil_scoped_release released;
    return work();
  }
  Interrupt interrupt;
  try {
    const nb::gil_scoped_release released;
    const CancelScope scope([&interrupt] { return interrupt.may_continue(); });
    work();
  } catch (const Cancelled&) {
    if (interrupt.raised()) throw nb::python_error();
    throw;
  }
}

/// Objects of the package that _core calls; its module keeps them.
struct Hooks {
  PyObject* sat_type = nullptr;        ///< areal.Sat
  PyObject* framework_type = nullptr;  ///< areal._frameworks.Framework
  PyObject* numpy = nullptr;           ///< the Framework of NumPy's arrays
  /// carry(framework, x, shape, axes, table dtype, only sums, reverse, transposed, above, left, corner): arrays with
  /// all axes.
  PyObject* carry = nullptr;
  /// framework(plan, x, out, mask, copy, above, left, corner): the framework of x, or the table, if the framework's own
  /// module must compute it.
  PyObject* framework = nullptr;
};
const Hooks& hooks();

}  // namespace areal::python
