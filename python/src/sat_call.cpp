#include "sat_call.hpp"

#include <areal/error.hpp>
#include <areal/sat.hpp>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace areal::python {
namespace {

/// The order of a call's tables, of `out` and of a Sat's attributes.
enum TableKind : std::size_t { sums = 0, squares_of_pixels = 1, tilted_sums_of = 2, counts_of = 3, table_kinds = 4 };
constexpr std::array<const char*, table_kinds> attributes = {"array", "squares", "tilted", "count"};

/// The arrays of `out`: one, a tuple in the order of TableKind, or those of a Sat to reuse.
class Outs {
 public:
  Outs(nb::handle out, const CallArrays& arrays) {
    if (out.is_none()) return;
    given_ = true;
    if (PyObject_IsInstance(out.ptr(), hooks().sat_type) == 1) {
      for (const char* name : attributes)
        if (nb::object one = out.attr(name); !one.is_none()) objects_[count_++] = std::move(one);
    } else if (nb::isinstance<nb::tuple>(out)) {
      const auto all = nb::borrow<nb::tuple>(out);
      if (all.size() > table_kinds) throw InvalidArgument("out: a tuple of more than four arrays");
      for (const nb::handle one : all) objects_[count_++] = nb::borrow(one);
    } else {
      objects_[count_++] = nb::borrow(out);
    }
    for (std::size_t i = 0; i < count_; ++i) arrays_[i] = arrays.writable(objects_[i]).ref();
  }
  bool given() const noexcept { return given_; }
  std::size_t count() const noexcept { return count_; }
  const ArrayRef& array(std::size_t i) const { return arrays_[i]; }
  const nb::object& object(std::size_t i) const { return objects_[i]; }

 private:
  bool given_ = false;
  std::size_t count_ = 0;
  std::array<nb::object, table_kinds> objects_;
  std::array<ArrayRef, table_kinds> arrays_;
};

/// A table of the call: the view that the plan writes, in the framework's memory or in `out`.
struct Output {
  TableKind kind;
  Shape shape;
  Type type, seen_as;  ///< of the plan, and of the framework's array, which may have a sign
  View view;
  NewArray made;
  nb::object array;
};

/// The slots of areal.Sat. Set here, because its __init__ takes as long as a small table.
struct Slots {
  /// `_on`, `_says`, then the tables in the order of TableKind. The class keeps them.
  std::array<nb::handle, 2 + table_kinds> slots;
  descrsetfunc set;
  Slots() {
    const nb::handle type(hooks().sat_type);
    slots[0] = nb::object(type.attr("_on")), slots[1] = nb::object(type.attr("_says"));
    for (std::size_t i = 0; i < table_kinds; ++i) slots[2 + i] = nb::object(type.attr(attributes[i]));
    set = reinterpret_cast<descrsetfunc>(PyType_GetSlot(Py_TYPE(slots[0].ptr()), Py_tp_descr_set));
  }
};

/// A new areal.Sat.
nb::object sat_object(const Framework& on, const std::array<nb::object, table_kinds>& tables, const nb::object& says) {
  static const Slots known;
  const nb::object found = on.is_numpy() ? nb::borrow(hooks().sat_type) : nb::object(on.object().attr("Sat"));
  auto* const type = reinterpret_cast<PyTypeObject*>(found.ptr());
  nb::object made = nb::steal(reinterpret_cast<allocfunc>(PyType_GetSlot(type, Py_tp_alloc))(type, 0));
  if (!made.is_valid()) nb::raise_python_error();
  const auto set = [&](std::size_t i, nb::handle value) {
    if (known.set(known.slots[i].ptr(), made.ptr(), value.ptr()) != 0) nb::raise_python_error();
  };
  set(0, on.object()), set(1, says);
  for (std::size_t i = 0; i < table_kinds; ++i)
    set(2 + i, tables[i].is_valid() ? nb::handle(tables[i]) : nb::handle(Py_None));
  return made;
}

/// The steps of one call.
class SatCall {
 public:
  SatCall(SatPlans& plans, const Options& options, const Axes& axes, const CallArrays& arrays, PythonArray image,
          const Call& call)
      : plans_(plans),
        options_(options),
        axes_(axes),
        arrays_(arrays),
        call_(call),
        image_(std::move(image)),
        may_transpose_(!options.sat.tilted),
        counts_(options.sat.mask || options.sat.ignore_nan) {}
  nb::object result() {
    pixels_ = arrays_.pixels(call_.array, axes_, may_transpose_, !counts_, image_);
    place_tables();
    read_mask();
    read_carry();
    arguments_.image = pixels_.view;
    View* const into[] = {&arguments_.sum, &arguments_.squares, &arguments_.tilted, &arguments_.count};
    for (std::size_t i = 0; i < count_; ++i) *into[outputs_[i].kind] = outputs_[i].view;
    planned_->planned.execute(arguments_, arrays_);
    return finished();
  }

 private:
  void copy_image(const Order& order) {
    image_ = arrays_.copied(call_.array, "array", axes_.letters, memory_letters(axes_, order));
    pixels_ = {view_in(image_.ref(), axes_, order).value(), order};
  }

  void place_tables() {
    const Outs outs(call_.out, arrays_);
    if (!outs.given()) {
      plan(pixels_.order, pixels_.order.layout);
      for (std::size_t i = 0; i < count_; ++i) {
        Output& output = outputs_[i];
        output.made = arrays_.empty(output.seen_as, extents_of(output.shape, letters_of(output), order_));
        output.view = View(output.made.data(), output.type, output.shape).in(arrays_.place().memory);
      }
      return;
    }
    // If `out` has another memory order than the image: try other layouts of channels, then copy the image transposed.
    for (const bool transposed : {pixels_.order.transposed, !pixels_.order.transposed}) {
      Order order = pixels_.order;
      order.transposed = transposed;
      if (transposed && !may_transpose_) break;
      for (const bool other : {false, true}) {
        if (other && (axes_.c < 0 || order.folded)) break;
        plan(order, !other ? order.layout : order.layout == Layout::planar ? Layout::interleaved : Layout::planar);
        if (!take(outs)) continue;
        if (order != pixels_.order) copy_image(order);
        return;
      }
    }
    throw InvalidArgument(
        "out: it cannot be written in place; rows need a positive pitch, and elements may not lie apart");
  }

  /// The plan for the image in that order, and its tables, in the order of TableKind.
  void plan(const Order& order, Layout tables) {
    const Framework& on = arrays_.framework();
    const ArrayRef& image = image_.ref();
    planned_ = planned_table(plans_, options_,
                             {image_shape(image.extents, axes_, order), image.type, tables, &axes_, image.memory}, on);
    order_ = order, order_.layout = tables;
    const SatPlan& plan = planned_->planned.plan;
    const Type table = plan.types().table;
    const bool with_sign = !on.is_numpy() && (is_signed_integer(planned_->table) || is_float(planned_->table));
    const auto seen = [&](Type type) { return with_sign ? signed_type(type) : type; };
    count_ = 0;
    outputs_[count_++] = {sums, plan.table_shape(), table, planned_->table, {}, {}, {}};
    if (const auto type = plan.squares_type())
      outputs_[count_++] = {squares_of_pixels, plan.table_shape(), *type, seen(*type), {}, {}, {}};
    if (plan.options().tilted)
      outputs_[count_++] = {tilted_sums_of, plan.tilted_shape(), table, planned_->table, {}, {}, {}};
    if (counts_) outputs_[count_++] = {counts_of, plan.count_shape(), Type::u32, seen(Type::u32), {}, {}, {}};
  }
  const Axes& axes_of(const Output& output) const {
    return output.kind == counts_of ? axes_.without_channels() : axes_;
  }
  Order order_of(const Output& output) const {
    Order order = order_;
    if (output.kind == counts_of) order.layout = Layout::planar;
    return order;
  }
  std::string letters_of(const Output& output) const { return memory_letters(axes_of(output), order_of(output)); }

  /// Makes views of the arrays of `out`. False if their memory order differs from the image's.
  bool take(const Outs& outs) {
    if (outs.count() != count_)
      throw InvalidArgument("out: " + std::to_string(outs.count()) + " arrays, but " + std::to_string(count_) +
                            " tables are requested (sum, squares, tilted, count)");
    for (std::size_t i = 0; i < count_; ++i) {
      Output& output = outputs_[i];
      const Axes& axes = axes_of(output);
      require_like(outs.array(i), array_shape(ConstView(nullptr, output.seen_as, output.shape), axes, order_),
                   output.seen_as);
      const std::optional<View> view = writable_view(outs.array(i), axes, order_of(output));
      if (!view) return false;
      output.view = *view, output.view.type = output.type;
      output.array = outs.object(i);
    }
    return true;
  }

  void read_mask() {
    if (call_.mask.is_none()) return;
    arguments_.mask = arrays_.view(call_.mask, "mask", axes_.without_channels(),
                                   {Layout::interleaved, pixels_.order.transposed, 0}, kept_.emplace_back());
  }

  void read_carry() {
    if (!call_.carries()) return;
    const bool only_sums = count_ == 1;
    nb::list shape;
    for (int i = 0; i < axes_.dimensions; ++i) shape.append(image_.ref().extents[static_cast<std::size_t>(i)]);
    const nb::object both = nb::handle(hooks().carry)(
        arrays_.framework().object(), call_.array, nb::tuple(shape), axes_.letters, numpy_name(planned_->table),
        only_sums, options_.sat.reverse, pixels_.order.transposed, call_.above, call_.left, call_.corner);
    const CallArrays ours = arrays_.with_copies();  // `copy` only concerns the caller's arrays
    carries_ = {both[0], both[1]};
    const auto view = [&](std::size_t i, const char* name) {
      ConstView made = ours.view(carries_[i], name, axes_, order_, kept_.emplace_back());
      made.type = planned_->planned.plan.types().table;
      return made;
    };
    arguments_.carry = {view(0, "above"), view(1, "left")};
  }

  nb::object finished() {
    std::array<nb::object, table_kinds> tables;
    for (std::size_t i = 0; i < count_; ++i) {
      Output& output = outputs_[i];
      tables[output.kind] =
          output.array.is_valid()
              ? std::move(output.array)
              : arrays_.framework().reordered(output.made.take(), letters_of(output), axes_of(output).letters);
    }
    return sat_object(arrays_.framework(), tables, planned_->says);
  }

  SatPlans& plans_;
  const Options& options_;
  const Axes& axes_;
  const CallArrays& arrays_;
  const Call& call_;
  PythonArray image_;
  const bool may_transpose_, counts_;
  Pixels pixels_;
  std::shared_ptr<PlannedTable> planned_;
  Order order_;  ///< of the tables
  std::size_t count_ = 0;
  std::array<Output, table_kinds> outputs_;
  std::vector<PythonArray> kept_;  ///< the mask and the carries
  std::array<nb::object, 2> carries_;
  SatArguments arguments_;
};

}  // namespace

nb::object sat_of(SatPlans& plans, const Options& options, const Axes& axes, const CallArrays& arrays,
                  PythonArray image, const Call& call) {
  return SatCall(plans, options, axes, arrays, std::move(image), call).result();
}

}  // namespace areal::python
