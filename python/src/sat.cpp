// Summed-area tables: options, plans, tables and their queries.
#include <areal/error.hpp>
#include <areal/region.hpp>
#include <areal/sat.hpp>
#include <areal/window.hpp>
#include <atomic>
#include <list>
#include <memory>
#include <mutex>
#include <utility>
#include "arrays.hpp"
#include "bindings.hpp"
#include "regions.hpp"

namespace areal::python {
namespace {

struct Options {
  SatOptions sat;
  std::optional<Type> table;  ///< the tables' type; none: default_types
  Execution execution;
  std::uint64_t number = 0;  ///< its own
};

Squares squares_of(const std::string& name) {
  if (name == "no") return Squares::no;
  if (name == "auto") return Squares::automatic;
  if (name == "uint32") return Squares::u32;
  if (name == "uint64") return Squares::u64;
  if (name == "float64") return Squares::f64;
  throw InvalidArgument("squares " + name + ": may be True, False, uint32, uint64 or float64");
}

Options options_of(const std::string& dtype, const std::string& border, const std::string& squares, bool tilted,
                   bool mask, bool ignore_nan, const std::string& algorithm, const std::string& backend, int device,
                   int threads) {
  static std::atomic<std::uint64_t> made_before{0};
  Options made;
  made.number = ++made_before;
  if (!dtype.empty()) {
    const auto type = type_named(dtype);
    if (!type)
      throw InvalidArgument("dtype " + dtype + ": tables are of uint32, int32, uint64, int64, float32 or float64");
    made.table = *type;
  }
  const auto known = border_named(border);
  if (!known) throw InvalidArgument("border " + border + ": may be zero, none or exclusive");
  made.sat.border = *known;
  made.sat.squares = squares_of(squares);
  made.sat.tilted = tilted, made.sat.mask = mask, made.sat.ignore_nan = ignore_nan;
  made.sat.algorithm = algorithm;
  const auto on = backend_named(backend);
  if (!on) throw InvalidArgument("backend " + backend + ": may be auto, cpu, cuda or simt");
  made.execution.backend = *on, made.execution.device = device, made.execution.threads = threads;
  return made;
}

/// A plan with workspaces for as many threads as use it at once.
class Planned {
 public:
  explicit Planned(SatPlan of) : plan(std::move(of)) {}
  template <class Run>
  void with_workspace(const Run& run) {
    std::unique_ptr<Workspace> workspace;
    {
      const std::lock_guard lock(mutex_);
      if (!free_.empty()) workspace = std::move(free_.back()), free_.pop_back();
    }
    if (!workspace) workspace = std::make_unique<Workspace>(plan);
    run(*workspace);
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(workspace));
  }
  const SatPlan plan;

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Workspace>> free_;
};

std::shared_ptr<Planned> plan_of(const Shape& shape, Type type, const Options& options, const Axes& axes) {
  SatOptions sat = options.sat;
  sat.volume = axes.volume;
  sat.tables = shape.layout;
  if (options.table) sat.types = TypePair{type, *options.table};
  return std::make_shared<Planned>(SatPlan(shape, type, sat, options.execution));
}

/// The plans of the last 64 kinds of calls of the one-line form.
class Plans {
 public:
  std::shared_ptr<Planned> get(const Shape& shape, Type type, const Options& options, const Axes& axes) {
    const std::lock_guard lock(mutex_);
    for (auto at = known_.begin(); at != known_.end(); ++at)
      if (at->options == options.number && at->shape == shape && at->type == type && at->volume == axes.volume) {
        known_.splice(known_.begin(), known_, at);
        return at->planned;
      }
    known_.push_front({shape, type, options.number, axes.volume, plan_of(shape, type, options, axes)});
    if (known_.size() > 64) known_.pop_back();
    return known_.front().planned;
  }

 private:
  struct Known {
    Shape shape;
    Type type;
    std::uint64_t options;
    bool volume;
    std::shared_ptr<Planned> planned;
  };
  std::mutex mutex_;
  std::list<Known> known_;
};
Plans& plans() {
  static Plans all;
  return all;
}

struct Table {
  SatTable table;
  Axes axes;
  bool flipped = false;
  std::string algorithm, reason, backend;
};

std::unique_ptr<Table> table_of(const AnyArray& array, const Options& options, const std::string& letters,
                                const std::optional<AnyArray>& mask) {
  const Axes axes = Axes::of(letters, array.ndim());
  const std::optional<Pixels> pixels = pixels_of(array, axes);
  if (!pixels) return nullptr;  // the caller copies
  std::optional<Pixels> valid;
  if (mask) {
    Axes of_mask = axes;
    if (axes.c >= 0) of_mask = Axes::of(axes.n >= 0 ? "NHW" : "HW", mask->ndim());
    valid = pixels_of(*mask, of_mask);
    if (!valid || valid->lie.flipped != pixels->lie.flipped) return nullptr;
  }
  const std::shared_ptr<Planned> planned = plans().get(pixels->view.shape, pixels->view.type, options, axes);
  auto made = std::make_unique<Table>();
  {
    const nb::gil_scoped_release released;
    made->table = planned->plan.allocate(MemoryPlace{});
    planned->with_workspace([&](Workspace& workspace) {
      planned->plan.execute(pixels->view, made->table, workspace, valid ? valid->view : ConstView());
    });
  }
  made->axes = axes, made->flipped = pixels->lie.flipped;
  made->algorithm = planned->plan.algorithm(), made->reason = planned->plan.reason();
  made->backend = name_of(planned->plan.backend());
  return made;
}

nb::object array_of(nb::handle self, const ConstView& view, const Axes& axes, bool flipped) {
  if (view.data == nullptr && !view.shape.empty()) return nb::none();
  const ArrayShape shape = array_shape(view, axes, flipped);
  return nb::cast(nb::ndarray<nb::numpy>(const_cast<void*>(view.data), shape.dimensions, shape.extents.data(), self,
                                         shape.strides.data(), dtype_of(view.type)));
}

SatView view_of(const SatTable& table) {
  const auto with_border = [&](const ConstView& view) -> std::optional<TableView> {
    if (view.data == nullptr) return std::nullopt;
    return TableView(view, table.border());
  };
  return SatView(TableView(table.sum(), table.border()), with_border(table.squares()), with_border(table.count()));
}

enum class Asked { sum, mean, variance, deviation };

/// An array of boxes x N x C; the caller drops the first dimension of a single box.
template <class T, class Query>
nb::object answered(const Table& t, std::size_t boxes, const Query& query) {
  const ConstView sum = t.table.sum();
  auto* const values = new std::vector<T>(boxes * static_cast<std::size_t>(sum.shape.batch * sum.shape.channels));
  const nb::capsule owner(values, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  {
    const nb::gil_scoped_release released;
    query(Span<T>(*values));
  }
  std::size_t extents[3] = {boxes};
  std::size_t dimensions = 1;
  if (t.axes.n >= 0) extents[dimensions++] = static_cast<std::size_t>(sum.shape.batch);
  if (t.axes.c >= 0) extents[dimensions++] = static_cast<std::size_t>(sum.shape.channels);
  return nb::cast(nb::ndarray<nb::numpy, T>(values->data(), dimensions, extents, owner));
}

nb::object query(const Table& t, const BoxArray& boxes, const std::string& format, bool clip, int asked, int threads) {
  if (t.axes.volume) throw InvalidArgument("boxes: a volume's have six numbers");
  const std::vector<Region> regions = regions_of(boxes, format, t.flipped);
  QueryOptions options;
  options.outside = clip ? Outside::clip : Outside::error;
  options.execution.threads = threads;
  const SatView view = view_of(t.table);
  const Span<const Region> all(regions.data(), regions.size());
  const Type type = t.table.sum().type;
  switch (static_cast<Asked>(asked)) {
    case Asked::mean:
      return answered<double>(t, regions.size(), [&](Span<double> out) { region_means(view, all, out, options); });
    case Asked::variance:
      return answered<double>(t, regions.size(), [&](Span<double> out) { region_variances(view, all, out, options); });
    case Asked::deviation:
      return answered<double>(t, regions.size(),
                              [&](Span<double> out) { region_standard_deviations(view, all, out, options); });
    case Asked::sum:
      break;
  }
  if (is_float(type))
    return answered<double>(t, regions.size(), [&](Span<double> out) { region_sums(view, all, out, options); });
  if (is_signed_integer(type))
    return answered<std::int64_t>(t, regions.size(),
                                  [&](Span<std::int64_t> out) { signed_region_sums(view, all, out, options); });
  return answered<std::uint64_t>(t, regions.size(),
                                 [&](Span<std::uint64_t> out) { region_sums(view, all, out, options); });
}

}  // namespace

void bind_sat(nb::module_& m) {
  nb::class_<Options>(m, "Options");
  m.def("options",
        [](const std::string& dtype, const std::string& border, const std::string& squares, bool tilted, bool mask,
           bool ignore_nan, const std::string& algorithm, const std::string& backend, int device, int threads) {
          return options_of(dtype, border, squares, tilted, mask, ignore_nan, algorithm, backend, device, threads);
        });
  nb::class_<Table>(m, "Table")
      .def_prop_ro("sum",
                   [](nb::handle self) {
                     const Table& t = nb::cast<const Table&>(self);
                     return array_of(self, t.table.sum(), t.axes, t.flipped);
                   })
      .def_prop_ro("squares",
                   [](nb::handle self) {
                     const Table& t = nb::cast<const Table&>(self);
                     return array_of(self, t.table.squares(), t.axes, t.flipped);
                   })
      .def_prop_ro("algorithm", [](const Table& t) { return t.algorithm; })
      .def_prop_ro("reason", [](const Table& t) { return t.reason; })
      .def_prop_ro("backend", [](const Table& t) { return t.backend; })
      .def_prop_ro("border", [](const Table& t) { return std::string(name_of(t.table.border())); })
      .def_prop_ro("axes", [](const Table& t) { return t.axes.letters; })
      .def("query", &query);
  m.def("sat", &table_of, nb::arg("array"), nb::arg("options"), nb::arg("axes"), nb::arg("mask").none());
}

}  // namespace areal::python
