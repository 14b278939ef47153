#include <areal/info.hpp>
#include <areal/version.hpp>
#include "bindings.hpp"

namespace areal::python {

void bind_info(nb::module_& m) {
  m.def("backends", [] {
    nb::list all;
    for (const BackendInfo& row : areal::backends())
      all.append(nb::make_tuple(std::string(name_of(row.backend)), row.available, row.why_not));
    return all;
  });
  m.def("devices", [] {
    nb::list all;
    for (const DeviceInfo& device : areal::devices())
      all.append(nb::make_tuple(device.number, device.name, device.architecture, device.memory, device.free_memory));
    return all;
  });
  m.def("default_threads", &areal::default_threads);
  m.def("simd_targets", &areal::simd_targets);
}

}  // namespace areal::python
