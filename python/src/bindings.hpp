#pragma once
// One function a subject; module.cpp calls all of them.

#include "nanobind.hpp"

namespace areal::python {

void bind_errors(nb::module_& m);
void bind_info(nb::module_& m);
void bind_sat(nb::module_& m);
void bind_histogram(nb::module_& m);
void bind_device_sat(nb::module_& m);
void bind_device_queries(nb::module_& m);
void bind_device_histogram(nb::module_& m);

}  // namespace areal::python
