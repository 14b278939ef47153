// areal.sat and plans.
#include <areal/error.hpp>
#include <areal/sat.hpp>
#include <array>
#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
#include "bindings.hpp"
#include "sat_call.hpp"

namespace areal::python {
namespace {

nb::object sat(nb::handle array, const Options& options, std::string_view axes, nb::handle mask, nb::handle out,
               nb::handle copy, nb::handle above, nb::handle left, nb::handle corner) {
  const Call call{array, mask, out, copy, above, left, corner};
  ArrayRef read = read_array(call);
  const Axes& letters = Axes::of(axes, read.dimensions);
  RecentPlans source(options);
  return sat_of(source, letters, std::move(read), call);
}

/// A plan of Python: options, axes, extents and type.
class Plan {
 public:
  Plan(const Options& options, const std::vector<std::int64_t>& shape, const std::string& dtype, std::string_view axes)
      : options_(options), axes_(&Axes::of(axes, shape.size())), type_(type_of_numpy_name(dtype, "dtype")) {
    for (std::size_t i = 0; i < shape.size(); ++i) {
      if (shape[i] < 0) throw InvalidArgument("shape: an extent of " + std::to_string(shape[i]));
      extents_[i] = shape[i];
    }
    const SatOptions& sat = plans_.options().sat;
    const Order order = c_order(extents_, *axes_, !sat.mask && !sat.ignore_nan);
    first_ = plans_.get(image_shape(extents_, *axes_, order), type_, order.layout, axes_->volume);
  }
  nb::object execute(const Call& call) {
    ArrayRef read = read_array(call);
    require_planned(says(), read);
    return sat_of(plans_, *axes_, std::move(read), call);
  }
  PlanSays says() const noexcept { return {options_, *axes_, extents_, type_}; }
  const SatPlan& plan() const noexcept { return first_->plan; }
  PlannedSat& planned() noexcept { return *first_; }
  const Axes& axes() const noexcept { return *axes_; }
  Type type() const noexcept { return type_; }
  nb::tuple shape() const {
    nb::list extents;
    for (int i = 0; i < axes_->dimensions; ++i) extents.append(extents_[static_cast<std::size_t>(i)]);
    return nb::tuple(extents);
  }

 private:
  Options options_;
  const Axes* axes_;
  std::array<std::int64_t, 4> extents_{};
  Type type_;
  OwnPlans plans_{options_};
  std::shared_ptr<PlannedSat> first_;  ///< for arrays in C order
};

/// plan(x, out=None, *, mask=None, copy=None, above=None, left=None, corner=None). A slot, and not a bound function,
/// whose dispatch takes as long as a small table.
PyObject* call_plan(PyObject* self, PyObject* positional, PyObject* named) noexcept {
  constexpr std::size_t parameters = 7;
  constexpr const char* names[parameters] = {"x", "out", "mask", "copy", "above", "left", "corner"};
  std::array<PyObject*, parameters> given{};
  const Py_ssize_t count = PyTuple_Size(positional);
  if (count > 2) {
    PyErr_Format(PyExc_TypeError, "a plan takes an array and out by position, and %zd arguments were given", count);
    return nullptr;
  }
  for (Py_ssize_t i = 0; i < count; ++i) given[static_cast<std::size_t>(i)] = PyTuple_GetItem(positional, i);
  PyObject *key = nullptr, *value = nullptr;
  for (Py_ssize_t at = 0; named != nullptr && PyDict_Next(named, &at, &key, &value);) {
    std::size_t i = 0;
    while (i < parameters && PyUnicode_CompareWithASCIIString(key, names[i]) != 0) ++i;
    if (i == parameters || given[i] != nullptr) {
      PyErr_Format(PyExc_TypeError, "a plan's argument %R %s", key, i == parameters ? "is unknown" : "was given twice");
      return nullptr;
    }
    given[i] = value;
  }
  if (given[0] == nullptr) {
    PyErr_SetString(PyExc_TypeError, "a plan takes an array, and none was given");
    return nullptr;
  }
  for (PyObject*& one : given)
    if (one == nullptr) one = Py_None;
  if (!is_numpy_array(given[0])) {  // areal._foreign.execute: NotImplemented for what NumPy reads
    PyObject* const answer = PyObject_CallFunctionObjArgs(hooks().execute_foreign, self, given[0], given[1], given[2],
                                                          given[3], given[4], given[5], given[6], nullptr);
    if (answer != Py_NotImplemented) return answer;
    Py_DECREF(answer);
  }
  try {
    const Call call{given[0], given[2], given[1], given[3], given[4], given[5], given[6]};
    return nb::inst_ptr<Plan>(self)->execute(call).release().ptr();
  } catch (...) {
    set_python_error();
    return nullptr;
  }
}
PyType_Slot plan_slots[] = {{Py_tp_call, reinterpret_cast<void*>(call_plan)}, {0, nullptr}};

/// Seconds of `calls` executes of the plan in C++, with the GIL, on views made once: what a call of Python is compared
/// with.
double time_execute(Plan& self, nb::handle array, nb::handle out, int calls) {
  const SatPlan& plan = self.plan();
  const auto from = array_ref(array, "array"), to = array_ref(out, "out", true);
  const auto pixels = from ? pixels_of(*from, self.axes(), false, false) : std::nullopt;
  const auto room = pixels && to ? room_in(*to, self.axes(), pixels->order) : std::nullopt;
  if (!room) throw InvalidArgument("array: it cannot be read in place");
  Workspace workspace(plan);
  const SatArguments arguments{.image = pixels->view, .sum = *room};
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < calls; ++i) plan.execute(arguments, workspace);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

PlanSays plan_says(nb::handle plan) { return nb::cast<const Plan&>(plan).says(); }

void require_planned(const PlanSays& plan, const ArrayRef& array) {
  const auto dimensions = static_cast<std::size_t>(plan.axes.dimensions);
  if (array.dimensions == dimensions && array.extents == plan.extents && array.type == plan.type) return;
  ArrayRef wanted;
  wanted.dimensions = dimensions, wanted.extents = plan.extents;
  throw InvalidArgument("array: one of " + ArrayShape::of(array).words() + ", " + numpy_name(array.type) +
                        "; this plan is for " + ArrayShape::of(wanted).words() + ", " + numpy_name(plan.type));
}

void bind_sat(nb::module_& m) {
  m.def("sat", &sat, nb::arg("array"), nb::arg("options"), nb::arg("axes"), nb::arg("mask").none(),
        nb::arg("out").none(), nb::arg("copy").none(), nb::arg("above").none(), nb::arg("left").none(),
        nb::arg("corner").none());
  nb::class_<Plan>(m, "Plan", nb::type_slots(plan_slots))
      .def(nb::init<const Options&, const std::vector<std::int64_t>&, const std::string&, std::string_view>(),
           nb::arg("options"), nb::arg("shape"), nb::arg("dtype"), nb::arg("axes"))
      .def_prop_ro(
          "axes", [](const Plan& p) { return p.axes().letters; }, "The letters of the dimensions.")
      .def_prop_ro("shape", &Plan::shape, nb::sig("def shape(self) -> tuple[int, ...]"), "Of the arrays.")
      .def_prop_ro(
          "dtype", [](const Plan& p) { return numpy_name(p.type()); }, "Of the arrays, as NumPy names it.")
      .def_prop_ro(
          "table_dtype", [](const Plan& p) { return numpy_name(p.plan().types().table); }, "Of the sums.")
      .def_prop_ro(
          "border", [](const Plan& p) { return std::string(name_of(p.plan().options().border)); },
          "zero, none or exclusive.")
      .def_prop_ro(
          "algorithm", [](const Plan& p) { return p.plan().algorithm(); }, "The id of what makes the tables.")
      .def_prop_ro(
          "reason", [](const Plan& p) { return p.plan().reason(); }, "Why that algorithm and backend.")
      .def_prop_ro(
          "backend", [](const Plan& p) { return std::string(name_of(p.plan().backend())); }, "cpu, cuda or simt.")
      .def_prop_ro(
          "table_bytes", [](const Plan& p) { return p.plan().table_bytes(); }, "Of all tables of one call.")
      .def_prop_ro(
          "workspace_bytes", [](const Plan& p) { return p.plan().workspace_bytes(); },
          "Of memory that each thread needs that executes at once.");
  m.def("time_execute", &time_execute, nb::arg("plan"), nb::arg("array"), nb::arg("out"), nb::arg("calls"));
}

}  // namespace areal::python
