// Binnings.
#include <areal/binning.hpp>
#include <areal/error.hpp>
#include "arrays.hpp"
#include "bindings.hpp"

namespace areal::python {

void bind_binning(nb::module_& m) {
  nb::class_<Binning>(m, "BinningRule")
      .def_prop_ro("bins", &Binning::bins)
      .def_prop_ro("channels", &Binning::channels)
      .def_prop_ro("is_clamped", &Binning::is_clamped)
      .def("bin_edges", &Binning::bin_edges)
      .def("clamped", &Binning::clamped)
      .def("slice", &Binning::slice, nb::arg("first"), nb::arg("count"))
      .def("bin_of", &Binning::bin_of, nb::arg("value"));
  m.def("binning_uniform", &Binning::uniform, nb::arg("bins"), nb::arg("lo"), nb::arg("hi"));
  m.def("binning_edges", &Binning::edges, nb::arg("edges"));
  m.def("binning_lookup", &Binning::lookup, nb::arg("bin_of"));
  m.def("binning_labels", &Binning::labels, nb::arg("bins"), nb::arg("ignored").none());
  m.def("binning_joint", &Binning::joint, nb::arg("channels"));
  m.def(
      "binning_of_type",
      [](const std::string& dtype, std::int64_t bins) {
        return Binning::of_type(type_of_numpy_name(dtype, "dtype"), bins);
      },
      nb::arg("dtype"), nb::arg("bins"));
}

}  // namespace areal::python
