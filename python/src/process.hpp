#pragma once
// What the process and its interpreter ask for: Ctrl-C, forked children, and what _core needs of the Python side.

#include <areal/execution.hpp>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include "nanobind.hpp"

namespace areal::python {

/// Throws InvalidArgument for a backend that is none. In a forked child: one thread, and on the CPU where the backend
/// is left open; Unavailable for cuda.
Execution execution_of(const std::string& backend, int device, int threads);
bool is_forked_child() noexcept;
/// Throws Unavailable for cuda in a forked child, which CUDA does not support.
void require_usable(Backend backend);

/// Lets Ctrl-C stop an execute that has released the GIL. One execute at a time.
class Interrupt {
 public:
  /// The calling thread is the one that may take the GIL.
  void begin() noexcept {
    thread_ = std::this_thread::get_id();
    next_ = std::chrono::steady_clock::now() + interval;
    raised_ = false;
  }
  /// A Progress: looks for signals at most every 50 ms, on the thread that began. False once one has raised.
  bool go_on();
  /// A Python exception was raised, and is the calling thread's.
  bool raised() const noexcept { return raised_; }

 private:
  static constexpr std::chrono::milliseconds interval{50};
  std::thread::id thread_;
  std::chrono::steady_clock::time_point next_{};
  bool raised_ = false;
};

/// Objects of the package that _core calls; its module keeps them.
struct Hooks {
  PyObject* sat_type = nullptr;        ///< areal.Sat, a Python class over Table
  PyObject* histogram_type = nullptr;  ///< areal.IntegralHistogram, a Python class over Tensor
  PyObject* native =
      nullptr;  ///< native(array, name, axes, letters): a copy, with its axes in memory as the letters say
  PyObject* carry = nullptr;  ///< carry(above, left, corner, axes, shape, table dtype, only sums): arrays of all axes
  /// execute_foreign(plan, x, out, mask, copy, above, left, corner): the table of an array of another framework, or
  /// NotImplemented.
  PyObject* execute_foreign = nullptr;
};
const Hooks& hooks();

}  // namespace areal::python
