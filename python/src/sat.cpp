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

nb::object sat(nb::handle on, nb::handle array, const Options& options, std::string_view axes, nb::handle mask,
               nb::handle out, nb::handle copy, nb::handle above, nb::handle left, nb::handle corner) {
  static auto& recent = *new SatPlans;  // never destroyed: threads may still execute while the process ends
  const Call call{array, mask, out, copy, above, left, corner};
  CallArrays arrays(Framework(on), copy);
  PythonArray image = arrays.first(array, "array");
  const Axes& letters = Axes::of(axes, image.ref().dimensions);
  return sat_of(recent, options, letters, arrays, std::move(image), call);
}

/// Python's plan: options, axes, extents and type.
class Plan {
 public:
  Plan(const Options& options, const std::vector<std::int64_t>& shape, const std::string& dtype, std::string_view axes)
      : options_(options), axes_(&Axes::of(axes, shape.size())), type_(type_of_numpy_name(dtype, "dtype")) {
    for (std::size_t i = 0; i < shape.size(); ++i) {
      if (shape[i] < 0) throw InvalidArgument("shape: an extent of " + std::to_string(shape[i]));
      extents_[i] = shape[i];
    }
    const SatOptions& sat = options_.sat;
    const Order order = c_order(extents_, *axes_, !sat.mask && !sat.ignore_nan);
    first_ = planned_table(plans_, options_, {image_shape(extents_, *axes_, order), type_, order.layout, axes_});
  }
  nb::object execute(nb::handle on, const Call& call) {
    CallArrays arrays(Framework(on), call.copy);
    PythonArray image = arrays.first(call.array, "array");
    require_planned(image.ref(), *axes_, extents_, type_);
    return sat_of(plans_, options_, *axes_, arrays, std::move(image), call);
  }
  const SatPlan& plan() const noexcept { return first_->planned.plan; }
  double seconds(const CallArrays& arrays, const Pixels& pixels, View table_view, int calls) {
    const std::shared_ptr<PlannedTable> found =
        planned_table(plans_, options_, {pixels.view.shape, type_, pixels.order.layout, axes_, arrays.place().memory},
                      arrays.framework());
    const SatPlan& plan = found->planned.plan;
    table_view.type = plan.types().table;
    const SatArguments arguments{.image = pixels.view, .sum = table_view};
    const auto timed = [&](Workspace& workspace) {
      const auto start = std::chrono::steady_clock::now();
      for (int i = 0; i < calls; ++i) plan.execute(arguments, workspace);
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    };
    if (arrays.on_host()) {
      Workspace workspace(plan);
      return timed(workspace);
    }
    Workspaces workspaces;
    Workspaces::Ready ready = workspaces.get(plan, arrays);
    return timed(ready.workspace);
  }
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
  SatPlans plans_;                       ///< one per memory order and device of the arrays
  std::shared_ptr<PlannedTable> first_;  ///< for NumPy's arrays in C order
};

/// plan(x, out=None, *, mask=None, copy=None, above=None, left=None, corner=None). A slot, because the dispatch of a
/// bound function takes as long as a small table.
PyObject* call_plan(PyObject* self, PyObject* positional, PyObject* named) noexcept {
  constexpr std::size_t parameters = 7;
  constexpr const char* names[parameters] = {"x", "out", "mask", "copy", "above", "left", "corner"};
  std::array<PyObject*, parameters> given{};
  if (!nb::inst_ready(self)) {  // nanobind checks this for its own functions only
    PyErr_SetString(PyExc_TypeError, "the plan was not initialised; a subclass calls super().__init__()");
    return nullptr;
  }
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
  try {
    nb::object on = nb::borrow(hooks().numpy);
    if (!is_numpy_array(given[0])) {
      // The array's framework; or the result, if the framework's own module must compute, as for gradients.
      on = nb::handle(hooks().framework)(nb::handle(self), nb::handle(given[0]), nb::handle(given[1]),
                                         nb::handle(given[2]), nb::handle(given[3]), nb::handle(given[4]),
                                         nb::handle(given[5]), nb::handle(given[6]));
      if (PyObject_IsInstance(on.ptr(), hooks().framework_type) != 1) return on.release().ptr();
    }
    const Call call{given[0], given[2], given[1], given[3], given[4], given[5], given[6]};
    return nb::inst_ptr<Plan>(self)->execute(on, call).release().ptr();
  } catch (nb::python_error& error) {
    error.restore();
    return nullptr;
  } catch (...) {
    set_python_error();
    return nullptr;
  }
}
PyType_Slot plan_slots[] = {{Py_tp_call, reinterpret_cast<void*>(call_plan)}, {0, nullptr}};

/// Host seconds of `calls` executes of the plan in a C++ loop, with one set of views and one workspace: the reference
/// for the overhead of Python calls.
double time_execute(Plan& self, nb::handle on, nb::handle array, nb::handle out, int calls) {
  CallArrays arrays{Framework(on)};
  const PythonArray from = arrays.first(array, "array"), to = arrays.writable(out);
  const auto pixels = pixels_of(from.ref(), self.axes(), false, false);
  std::optional<View> table_view = pixels ? writable_view(to.ref(), self.axes(), pixels->order) : std::nullopt;
  if (!table_view) throw InvalidArgument("array: it cannot be read in place");
  return self.seconds(arrays, *pixels, *table_view, calls);
}

}  // namespace

void bind_sat(nb::module_& m) {
  m.def("sat", &sat, nb::arg("on"), nb::arg("array"), nb::arg("options"), nb::arg("axes"), nb::arg("mask").none(),
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
  m.def("time_execute", &time_execute, nb::arg("plan"), nb::arg("on"), nb::arg("array"), nb::arg("out"),
        nb::arg("calls"));
  // How an array is read, for tests without a device.
  m.def(
      "describe_array",
      [](nb::handle x, nb::handle stream) {
        const PythonArray array(x, stream_given(stream), "array");
        const ArrayRef& ref = array.ref();
        const auto size = static_cast<std::ptrdiff_t>(std::min<std::size_t>(ref.dimensions, 4));
        nb::dict made;
        made["data"] = reinterpret_cast<std::uintptr_t>(ref.data);
        made["shape"] = std::vector<std::int64_t>(ref.extents.begin(), ref.extents.begin() + size);
        made["strides"] = std::vector<std::int64_t>(ref.strides.begin(), ref.strides.begin() + size);
        made["dtype"] = numpy_name(ref.type);
        made["device"] = ref.memory.is_host() ? nb::object(nb::none()) : nb::object(nb::int_(ref.memory.device));
        made["stream"] = ref.memory.is_host() ? 0 : number_of(array.place().stream);
        made["read_only"] = array.is_read_only();
        return made;
      },
      nb::arg("array"), nb::arg("stream").none() = nb::none());
  // The dtype of a table, for frameworks that need it before there is an array.
  m.def("table_dtype", [](nb::handle on, const std::vector<std::int64_t>& extents, const std::string& dtype,
                          const Options& options, std::string_view letters) {
    const Axes& axes = Axes::of(letters, extents.size());
    std::array<std::int64_t, 4> four{};
    std::copy(extents.begin(), extents.end(), four.begin());
    PlanKey key;
    key.image = image_shape(four, axes, c_order(four, axes, false)), key.axes = &axes;
    key.input = type_of_numpy_name(dtype, "dtype");
    const Framework framework(on);
    key.is_numpy = framework.is_numpy(), key.is_signed = framework.is_signed();
    return std::string(numpy_name(table_type(key, options)));
  });
}

}  // namespace areal::python
