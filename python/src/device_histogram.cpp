#include "bindings.hpp"

namespace areal::python {

void bind_device_histogram(nb::module_&) {}

}  // namespace areal::python
