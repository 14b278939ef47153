#include "sat_call.hpp"

#include <areal/error.hpp>
#include <areal/sat.hpp>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include "carries.hpp"
#include "copies.hpp"
#include "table.hpp"

namespace areal::python {
namespace {

/// The arrays given as `out`: one, or a tuple in the order of TableKind, or a table whose memory is used again.
class Outs {
 public:
  explicit Outs(nb::handle out) {
    if (out.is_none()) return;
    given_ = true;
    if (nb::isinstance<Table>(out)) {
      const nb::object all[] = {out.attr("array"), out.attr("squares"), out.attr("tilted"), out.attr("count")};
      for (const nb::object& one : all)
        if (!one.is_none()) objects_[count_++] = one;
    } else if (nb::isinstance<nb::tuple>(out)) {
      const auto all = nb::borrow<nb::tuple>(out);
      if (all.size() > table_kinds) throw InvalidArgument("out: a tuple of more than four arrays");
      for (const nb::handle one : all) objects_[count_++] = nb::borrow(one);
    } else {
      objects_[count_++] = nb::borrow(out);
    }
    for (std::size_t i = 0; i < count_; ++i) {
      auto array = array_ref(objects_[i], "out", true);
      if (!array) throw InvalidArgument("out: it must be a writable array, or a tuple of such");
      arrays_[i] = std::move(*array);
    }
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

struct Output {
  TableKind kind;
  Shape shape;
  Type type;
};

/// The tables that a plan gives, in the order of TableKind.
std::size_t outputs_of(const SatPlan& plan, std::array<Output, table_kinds>& outputs) {
  std::size_t count = 0;
  outputs[count++] = {sums, plan.table_shape(), plan.types().table};
  if (const auto type = plan.squares_type()) outputs[count++] = {squares_of_pixels, plan.table_shape(), *type};
  if (plan.options().tilted) outputs[count++] = {tilted_sums_of, plan.tilted_shape(), plan.types().table};
  if (plan.options().mask || plan.options().ignore_nan) outputs[count++] = {counts_of, plan.count_shape(), Type::u32};
  return count;
}

/// Puts views of the arrays of `out` into the table. False where they lie in another order than the image.
bool take_outs(const Outs& outs, const SatPlan& plan, Table& table) {
  std::array<Output, table_kinds> outputs;
  const std::size_t count = outputs_of(plan, outputs);
  if (outs.count() != count)
    throw InvalidArgument("out: " + std::to_string(outs.count()) + " arrays, but " + std::to_string(count) +
                          " tables are asked for (sum, squares, tilted, count)");
  for (std::size_t i = 0; i < count; ++i) {
    const Axes& axes = table.axes_of(outputs[i].kind);
    require_like(outs.array(i), array_shape(ConstView(nullptr, outputs[i].type, outputs[i].shape), axes, table.order),
                 outputs[i].type);
    Order order = table.order;
    if (outputs[i].kind == counts_of) order.layout = Layout::planar;
    const std::optional<View> view = room_in(outs.array(i), axes, order);
    if (!view) return false;
    table.views[outputs[i].kind] = *view;
    table.arrays[outputs[i].kind] = outs.object(i);
  }
  return true;
}

View writable(const ConstView& view) {
  View made(const_cast<void*>(view.data), view.type, view.shape, view.row_pitch, view.plane_pitch, view.batch_pitch);
  made.memory = view.memory;
  return made;
}

/// The steps of one call.
class SatCall {
 public:
  SatCall(PlanSource& source, const Axes& axes, ArrayRef array, const Call& call)
      : source_(source), axes_(axes), call_(call), copies_(call.copy), array_(std::move(array)), outs_(call.out) {
    const SatOptions& wanted = source.options().sat;
    may_transpose_ = !wanted.tilted, counts_ = wanted.mask || wanted.ignore_nan;
    table_.axes = &axes;
  }
  nb::object result() {
    read_image();
    place_tables();
    read_mask();
    read_carry();
    execute();
    return sat_object(std::move(table_));
  }

 private:
  void read_image() {
    if (auto pixels = pixels_of(array_, axes_, may_transpose_, !counts_))
      pixels_ = *pixels;
    else
      copy_image(c_order(array_.extents, axes_, !counts_));
  }
  void copy_image(const Order& order) {
    array_ = copies_.of(call_.array, "array", axes_.letters, memory_letters(axes_, order));
    pixels_ = {view_in(array_, axes_, order).value(), order};
  }

  void place_tables() {
    if (!outs_.given()) {
      plan(pixels_.order, pixels_.order.layout);
      table_.owned = planned_->plan.allocate(MemoryPlace{});
      const SatTable& owned = table_.owned;
      table_.views = {owned.sum(), owned.squares(), owned.tilted(), owned.count()};
      return;
    }
    // Where they do not lie as the image does: other layouts of the channels, then transposed, for which it is copied.
    for (const bool transposed : {pixels_.order.transposed, !pixels_.order.transposed}) {
      Order order = pixels_.order;
      order.transposed = transposed;
      if (transposed && !may_transpose_) break;
      for (const bool other : {false, true}) {
        if (other && (axes_.c < 0 || order.folded)) break;
        plan(order, !other ? order.layout : order.layout == Layout::planar ? Layout::interleaved : Layout::planar);
        if (!take_outs(outs_, planned_->plan, table_)) continue;
        if (order != pixels_.order) copy_image(order);
        return;
      }
    }
    throw InvalidArgument(
        "out: it cannot be written in place; rows need a positive pitch, and elements may not lie apart");
  }
  void plan(const Order& order, Layout tables) {
    planned_ = source_.get(image_shape(array_.extents, axes_, order), array_.type, tables, axes_.volume);
    table_.order = order, table_.order.layout = tables;
  }

  void read_mask() {
    if (call_.mask.is_none()) return;
    const Axes& axes = axes_.without_channels();
    arguments_.mask = copies_.view(call_.mask, "mask", axes, {Layout::interleaved, pixels_.order.transposed, 0}, mask_);
  }

  void read_carry() {
    if (!call_.carries()) return;
    const SatPlan& plan = planned_->plan;
    nb::list extents;
    for (int i = 0; i < axes_.dimensions; ++i) extents.append(array_.extents[static_cast<std::size_t>(i)]);
    const Type type = plan.types().table;
    const bool only_sums = !plan.squares_type() && !plan.options().tilted && !counts_;
    const nb::object both =
        nb::handle(hooks().carry)(call_.above, call_.left, call_.corner, axes_.letters, nb::tuple(extents),
                                  numpy_name(type), only_sums, plan.options().reverse);
    const nb::object row = both[0], column = both[1];
    carry_.emplace(array_ref(row, "above").value(), array_ref(column, "left").value(), axes_, pixels_.order,
                   pixels_.view.shape, type, table_.order.layout, plan.options().reverse);
    arguments_.carry = carry_->carry();
  }

  void execute() {
    const SatPlan& plan = planned_->plan;
    arguments_.image = pixels_.view;
    arguments_.sum = writable(table_.views[sums]), arguments_.squares = writable(table_.views[squares_of_pixels]);
    arguments_.tilted = writable(table_.views[tilted_sums_of]), arguments_.count = writable(table_.views[counts_of]);
    table_.has = {true, plan.squares_type().has_value(), plan.options().tilted, counts_};
    table_.reverse = plan.options().reverse;
    table_.border = plan.options().border, table_.types = plan.types();
    table_.image = pixels_.view.shape;
    table_.origin = planned_->origin;
    PlannedSat::Taken(*planned_).execute(arguments_);
  }

  PlanSource& source_;
  const Axes& axes_;
  const Call& call_;
  Copies copies_;
  ArrayRef array_;
  Outs outs_;
  bool may_transpose_ = true, counts_ = false;
  Pixels pixels_;
  std::shared_ptr<PlannedSat> planned_;
  ArrayRef mask_;
  std::optional<CarryArrays> carry_;
  SatArguments arguments_;
  Table table_;
};

}  // namespace

ArrayRef read_array(const Call& call) { return Copies(call.copy).read(call.array, "array"); }

nb::object sat_of(PlanSource& source, const Axes& axes, ArrayRef array, const Call& call) {
  return SatCall(source, axes, std::move(array), call).result();
}

}  // namespace areal::python
