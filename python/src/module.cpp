#include "bindings.hpp"

NB_MODULE(_core, m) {
  areal::python::bind_errors(m);
  areal::python::bind_info(m);
  areal::python::bind_process(m);
  areal::python::bind_options(m);
  areal::python::bind_sat(m);
  areal::python::bind_query(m);
  areal::python::bind_windows(m);
  areal::python::bind_filters(m);
  areal::python::bind_match(m);
  areal::python::bind_cascade(m);
  areal::python::bind_binning(m);
  areal::python::bind_histogram(m);
  areal::python::bind_store(m);
  areal::python::bind_measures(m);
  areal::python::bind_dropin_tables(m);
  areal::python::bind_dropin_filters(m);
  areal::python::bind_dropin_integrate(m);
  areal::python::bind_device_buffers(m);
  areal::python::bind_view(m);
}
