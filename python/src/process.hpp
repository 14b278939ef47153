#pragma once
// What the process and its interpreter ask for: Ctrl-C, forked children, and what _core needs of the Python side.

#include <areal/cancel.hpp>
#include <areal/error.hpp>
#include <areal/execution.hpp>
#include <chrono>
#include <string>
#include "nanobind.hpp"

namespace areal::python {

/// Throws InvalidArgument for a backend that is none. In a forked child: one thread, and on the CPU where the backend
/// is left open; Unavailable for cuda.
Execution execution_of(const std::string& backend, int device, int threads);
bool is_forked_child() noexcept;
/// Throws Unavailable for cuda in a forked child, which CUDA does not support.
void require_usable(Backend backend);

/// A Python exception that a signal's handler raised while `work` ran; the calling thread's.
class Interrupt {
 public:
  /// What a CancelScope asks: false once a handler has raised.
  bool go_on();
  /// The same for loops that no CancelScope sees, every 50 ms. Without the GIL.
  bool go_on_in_time() {
    const auto now = std::chrono::steady_clock::now();
    if (now < next_) return !raised_;
    next_ = now + std::chrono::milliseconds(50);
    return go_on();
  }
  bool raised() const noexcept { return raised_; }

 private:
  bool raised_ = false;
  std::chrono::steady_clock::time_point next_ = std::chrono::steady_clock::now() + std::chrono::milliseconds(50);
};

/// Runs the work without the GIL. Where it `is_long`, Ctrl-C stops it: then this throws KeyboardInterrupt, or what the
/// signal's handler raised.
template <class Work>
void without_gil(bool is_long, const Work& work) {
  if (!is_long) {
    const nb::gil_scoped_release released;
    return work();
  }
  Interrupt interrupt;
  try {
    const nb::gil_scoped_release released;
    const CancelScope scope([&interrupt] { return interrupt.go_on(); });
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
  PyObject* numpy = nullptr;           ///< its instance for NumPy's arrays
  /// carry(framework, x, shape, axes, table dtype, only sums, reverse, transposed, above, left, corner): arrays of all
  /// axes.
  PyObject* carry = nullptr;
  /// framework(plan, x, out, mask, copy, above, left, corner): the framework of x, or the table, where the
  /// framework's own module has to make it.
  PyObject* framework = nullptr;
};
const Hooks& hooks();

}  // namespace areal::python
