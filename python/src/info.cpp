#include <nanobind/stl/tuple.h>
#include <areal/info.hpp>
#include <areal/version.hpp>
#include "bindings.hpp"

namespace areal::python {

void bind_info(nb::module_& m) {
  m.attr("version") = areal::version();
  m.def(
      "backends",
      [] {
        std::vector<std::tuple<std::string, bool, std::string>> all;
        for (const BackendInfo& row : areal::backends())
          all.emplace_back(name_of(row.backend), row.available, row.why_not);
        return all;
      },
      "Every backend: its name, whether this machine and build have it, and why not.");
  m.def(
      "devices",
      [] {
        std::vector<std::tuple<int, std::string, std::string, std::uint64_t, std::uint64_t>> all;
        for (const DeviceInfo& device : areal::devices())
          all.emplace_back(device.number, device.name, device.architecture, device.memory, device.free_memory);
        return all;
      },
      "Every GPU: its number, name, architecture, bytes of memory and those free.");
  m.def("default_threads", &areal::default_threads, "The default number of CPU threads.");
  m.def("simd_targets", &areal::simd_targets,
        "The instruction sets that this CPU can run loops in, the best first; the first is used.");
}

}  // namespace areal::python
