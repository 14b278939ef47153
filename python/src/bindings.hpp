#pragma once
// One function per subject; module.cpp calls all of them.

#include "nanobind.hpp"

namespace areal::python {

/// For the catch block of a function that Python calls without nanobind: sets the Python exception.
void set_python_error() noexcept;

void bind_errors(nb::module_& m);
void bind_info(nb::module_& m);
void bind_process(nb::module_& m);
void bind_options(nb::module_& m);
void bind_sat(nb::module_& m);
void bind_query(nb::module_& m);
void bind_windows(nb::module_& m);
void bind_filters(nb::module_& m);
void bind_match(nb::module_& m);
void bind_cascade(nb::module_& m);
void bind_binning(nb::module_& m);
void bind_histogram(nb::module_& m);
void bind_store(nb::module_& m);
void bind_measures(nb::module_& m);
void bind_dropin_tables(nb::module_& m);
void bind_dropin_filters(nb::module_& m);
void bind_dropin_integrate(nb::module_& m);
void bind_device_buffers(nb::module_& m);
void bind_view(nb::module_& m);

}  // namespace areal::python
