#include "process.hpp"

#include <areal/error.hpp>
#include <atomic>
#include "arrays.hpp"
#include "bindings.hpp"

namespace areal::python {
namespace {

std::atomic<bool> forked{false};
Hooks installed;

}  // namespace

bool is_forked_child() noexcept { return forked.load(std::memory_order_relaxed); }

void require_usable(Backend backend) {
  if (backend == Backend::cuda && is_forked_child())
    throw Unavailable(
        "backend cuda: CUDA does not work in a forked child; start the process with multiprocessing's \"spawn\" or "
        "\"forkserver\"");
}

Execution execution_of(const std::string& backend, int device, int threads) {
  Execution made;
  const auto on = backend_named(backend);
  if (!on) throw InvalidArgument("backend " + backend + ": may be auto, cpu, cuda or simt");
  require_usable(*on);
  made.backend = *on, made.device = device, made.threads = threads;
  if (is_forked_child()) {
    made.threads = 1;
    if (made.backend == Backend::automatic) made.backend = Backend::cpu;
  }
  return made;
}

bool Interrupt::may_continue() {
  const nb::gil_scoped_acquire acquired;
  raised_ = raised_ || (acquired.is_valid() && PyErr_CheckSignals() != 0);
  return !raised_;
}

const Hooks& hooks() { return installed; }

void bind_process(nb::module_& m) {
  m.def("install", [](nb::handle module, nb::object sat_type, nb::object framework_type, nb::object numpy,
                      nb::object carry, nb::object framework) {
    learn_numpy();
    module.attr("_kept") = nb::make_tuple(sat_type, framework_type, numpy, carry, framework);
    installed = {sat_type.ptr(), framework_type.ptr(), numpy.ptr(), carry.ptr(), framework.ptr()};
  });
  m.def("after_fork_in_child", [] { forked = true; });
  m.def("is_forked_child", &is_forked_child);
}

}  // namespace areal::python
