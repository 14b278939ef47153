#include "options.hpp"

#include <areal/error.hpp>
#include <atomic>
#include "arrays.hpp"
#include "bindings.hpp"
#include "process.hpp"

namespace areal::python {
namespace {

Squares squares_of(const std::string& name) {
  if (name == "no") return Squares::no;
  if (name == "auto") return Squares::automatic;
  if (name == "uint32") return Squares::u32;
  if (name == "uint64") return Squares::u64;
  if (name == "float64") return Squares::f64;
  if (name == "float32") return Squares::f32;
  throw InvalidArgument("squares " + name + ": may be True, False, uint32, uint64, float64 or float32");
}

Options options_of(const std::optional<std::string>& dtype, const std::string& border, const std::string& squares,
                   bool tilted, bool mask, bool ignore_nan, const std::string& algorithm, const std::string& backend,
                   int device, int threads, bool reverse) {
  static std::atomic<std::uint64_t> made_before{0};
  Options made;
  made.number = ++made_before;
  if (dtype) {
    made.table = type_named(*dtype);
    if (!made.table) throw InvalidArgument("dtype " + *dtype + ": areal has no such type");
  }
  made.sat.border = border_of(border);
  made.sat.squares = squares_of(squares);
  made.sat.tilted = tilted, made.sat.mask = mask, made.sat.ignore_nan = ignore_nan, made.sat.reverse = reverse;
  made.sat.algorithm = algorithm;
  made.execution = execution_of(backend, device, threads);
  return made;
}

}  // namespace

void bind_options(nb::module_& m) {
  nb::class_<Options>(m, "Options");
  m.def("options", &options_of, nb::arg("dtype").none(), nb::arg("border"), nb::arg("squares"), nb::arg("tilted"),
        nb::arg("mask"), nb::arg("ignore_nan"), nb::arg("algorithm"), nb::arg("backend"), nb::arg("device"),
        nb::arg("threads"), nb::arg("reverse"));
}

}  // namespace areal::python
