// Summed-area tables of arrays of other frameworks, made by the framework's allocator, on its current stream.
#include <algorithm>
#include <areal/sat.hpp>
#include <atomic>
#include <chrono>
#include <limits>
#include <memory>
#include <utility>
#include "bindings.hpp"
#include "device_arrays.hpp"
#include "device_workspaces.hpp"
#include "options.hpp"
#include "plans.hpp"
#include "sat_call.hpp"

namespace areal::python {
namespace {

/// The largest magnitude of a corner's sum, as far as it fits 64 bits.
bool fits_signed_32(const Shape& shape, Type input, bool volume) {
  const std::uint64_t most = input == Type::u8    ? 255
                             : input == Type::s8  ? 128
                             : input == Type::u16 ? 65535
                                                  : 1ULL << 32;
  std::uint64_t sum = most;
  for (const std::int64_t extent : {shape.width, shape.height, volume ? shape.batch : 1})
    if (__builtin_mul_overflow(sum, static_cast<std::uint64_t>(extent), &sum)) return false;
  return sum <= std::numeric_limits<std::int32_t>::max();
}

/// The pair that is computed, and the type that the framework's table has, which may be the same bits with a sign.
struct Types {
  TypePair pair;
  Type table;
};

bool is_pair(TypePair types) {
  const auto all = type_pairs();
  return std::find(all.begin(), all.end(), types) != all.end();
}

Types types_of(const Shape& shape, Type input, const Options& options, bool as_signed, bool volume) {
  if (options.table) {
    const Type asked = *options.table;
    if (is_pair({input, asked})) return {{input, asked}, asked};
    // The same bits: a table that wraps modulo 2^k does so in either.
    for (const Type same : {Type::u32, Type::u64, Type::s32, Type::s64})
      if (size_of(same) == size_of(asked) && !is_float(asked) && is_pair({input, same})) return {{input, same}, asked};
    return {{input, asked}, asked};  // the plan says what is wrong
  }
  TypePair types = default_types(shape, input, volume);
  if (!as_signed || is_float(types.table)) return {types, types.table};
  if (size_of(types.table) == 4 && !fits_signed_32(shape, input, volume)) {
    const TypePair wider{input, is_signed_integer(input) ? Type::s64 : Type::u64};
    if (is_pair(wider)) types = wider;
  }
  return {types, signed_type(types.table)};
}

/// On the CPU `planned` has the workspaces, on CUDA `workspaces`.
struct TensorPlan {
  TensorPlan(const SatPlan& plan, Type table_) : planned(plan), table(table_) {
    origin = nb::make_tuple(planned.origin->algorithm, planned.origin->reason, planned.origin->backend);
  }
  PlannedSat planned;
  nb::object origin;  ///< algorithm, reason and backend
  const Type table;   ///< as the framework has it
  Workspaces workspaces;
};

struct PlanKey {
  Shape shape;
  Type type;
  std::uint64_t options;
  bool as_signed, reverse, volume, forked;
  MemoryPlace place;
  friend bool operator==(const PlanKey&, const PlanKey&) = default;
};

std::shared_ptr<TensorPlan> plan_of(const ConstView& image, const Options& options, bool as_signed, bool reverse,
                                    const Axes& axes) {
  static auto& recent =
      *new RecentlyUsed<PlanKey, TensorPlan>;  // not destroyed after the framework whose memory it has
  const bool forked = is_forked_child();
  const PlanKey key{image.shape, image.type, options.number, as_signed, reverse, axes.volume, forked, image.memory};
  return recent.get(key, [&] {
    SatOptions sat = options.of(image.type, image.shape.layout, axes.volume);
    const Types types = types_of(image.shape, image.type, options, as_signed, axes.volume);
    sat.types = types.pair, sat.reverse = reverse;
    Execution execution = options.execution;
    if (forked) execution.threads = 1;
    if (execution.backend == Backend::automatic)
      execution.backend = image.memory.is_host() ? Backend::cpu : Backend::cuda;
    if (!image.memory.is_host()) execution.device = image.memory.device;
    return std::make_shared<TensorPlan>(SatPlan(image.shape, image.type, sat, execution), types.table);
  });
}

/// A table on its way: memory of the framework, and the view that the plan writes.
struct Output {
  NewArray made;
  std::optional<ForeignArray> given;
  View view;
  nb::object object;
};

class Execute {
 public:
  Execute(nb::handle x, const Options& options, bool as_signed, bool reverse, std::string_view letters, nb::handle mask,
          nb::handle out, nb::object empty, nb::handle stream, nb::handle above, nb::handle left)
      : image_(x, stream_given(stream), "array"),
        allocator_(image_, std::move(empty)),
        axes_(Axes::of(letters, static_cast<std::size_t>(image_.tensor().ndim))) {
    begin(options, as_signed, reverse, mask, out, above, left);
  }
  Execute(nb::handle x, const PlanSays& plan, bool as_signed, nb::handle mask, nb::handle out, nb::object empty,
          nb::handle stream)
      : image_(x, stream_given(stream), "array"), allocator_(image_, std::move(empty)), axes_(plan.axes) {
    require_planned(plan, image_.ref());
    begin(plan.options, as_signed, plan.options.sat.reverse, mask, out, nb::none(), nb::none());
  }

 private:
  void begin(const Options& options, bool as_signed, bool reverse, nb::handle mask, nb::handle out, nb::handle above,
             nb::handle left) {
    const bool counts = options.sat.mask || options.sat.ignore_nan;
    pixels_ = pixels_of(image_.ref(), axes_, !options.sat.tilted, !counts);
    if (!pixels_) return;
    if (!mask.is_none() && !read_mask(mask)) return;
    planned_ = plan_of(pixels_->view, options, as_signed, reverse, axes_);
    if (!above.is_none() &&
        !(read_carry(above_, above, "above", carry_.above) && read_carry(left_, left, "left", carry_.left)))
      return;
    can_run_ = true;
    prepare(out);
  }

 public:
  /// Sum, squares, tilted, count; how the dimensions of the first three and of the count are put into the asked order,
  /// None where they are; algorithm, reason and backend. None where the caller must copy.
  nb::object run() {
    if (!can_run_) return nb::none();
    execute(arguments());
    nb::object made[4];
    for (std::size_t i = 0; i < 4; ++i) made[i] = finished(outputs_[i]);
    const nb::object order = outputs_[0].given ? nb::none() : order_of(letters_, axes_.letters);
    const nb::object count_order =
        outputs_[3].made.data() == nullptr ? nb::none() : order_of(count_letters_, axes_.without_channels().letters);
    return nb::make_tuple(made[0], made[1], made[2], made[3], order, count_order, planned_->origin);
  }

  /// Seconds of the host for so many executes, in a loop of C++ on views and a workspace that are made once.
  double seconds(int calls) {
    if (!can_run_ || image_.memory().is_host()) throw InvalidArgument("array: it is not on a device as it is");
    const SatPlan& plan = planned_->planned.plan;
    Workspaces::Ready ready = planned_->workspaces.get(plan, allocator_, image_.work_stream());
    const SatArguments views = arguments();
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < calls; ++i) plan.execute(views, ready.workspace);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    planned_->workspaces.put(std::move(ready));
    return taken.count();
  }

 private:
  SatArguments arguments() const {
    SatArguments views;
    views.image = pixels_->view;
    if (mask_view_) views.mask = *mask_view_;
    views.carry = carry_;
    views.sum = outputs_[0].view, views.squares = outputs_[1].view;
    views.tilted = outputs_[2].view, views.count = outputs_[3].view;
    return views;
  }

  std::optional<Stream> same_stream() const {
    if (image_.memory().is_host()) return std::nullopt;
    return image_.work_stream();
  }

  void execute(const SatArguments& arguments) {
    if (image_.memory().is_host()) {
      PlannedSat::Taken(planned_->planned).execute(arguments);
      return;
    }
    const SatPlan& plan = planned_->planned.plan;
    Workspaces::Ready ready = planned_->workspaces.get(plan, allocator_, image_.work_stream());
    {
      const nb::gil_scoped_release released;
      plan.execute(arguments, ready.workspace);
    }
    planned_->workspaces.put(std::move(ready));
  }

  bool read_mask(nb::handle mask) {
    mask_.emplace(mask, same_stream(), "mask");
    if (!(mask_->memory() == image_.memory())) throw InvalidArgument("mask: it must lie where the array does");
    const Axes& of_mask = Axes::of(axes_.without_channels().letters, static_cast<std::size_t>(mask_->tensor().ndim));
    const Order order{Layout::interleaved, pixels_->order.transposed, 0};
    const std::optional<ConstView> valid = view_in(mask_->ref(), of_mask, order);
    if (valid) mask_view_ = *valid;
    return valid.has_value();
  }

  /// A row or a column beside the piece, with all its axes. False where it does not lie as the table does, nor can of a
  /// transposed image.
  bool read_carry(std::optional<ForeignArray>& array, nb::handle given, const char* name, ConstView& into) {
    if (pixels_->order.transposed) return false;
    array.emplace(given, same_stream(), name);
    if (!(array->memory() == image_.memory()))
      throw InvalidArgument(std::string(name) + ": it must lie where the array does");
    if (array->type() != planned_->table)
      throw InvalidArgument(std::string(name) + ": elements of " + numpy_name(array->type()) + ", the table's are " +
                            numpy_name(planned_->table));
    const std::optional<ConstView> view = view_in(array->ref(), axes_, pixels_->order);
    if (!view) return false;
    into = *view;
    into.type = planned_->planned.plan.types().table;
    return true;
  }

  void prepare(nb::handle out) {
    const SatPlan& plan = planned_->planned.plan;
    letters_ = memory_letters(axes_, pixels_->order);
    if (out.is_none())
      make(outputs_[0], plan.table_shape(), plan.types().table, planned_->table, letters_);
    else
      take(outputs_[0], out);
    const bool as_signed = is_signed_integer(planned_->table) || is_float(planned_->table);
    if (const auto squares = plan.squares_type())
      make(outputs_[1], plan.table_shape(), *squares, as_signed ? signed_type(*squares) : *squares, letters_);
    if (plan.options().tilted) make(outputs_[2], plan.tilted_shape(), plan.types().table, planned_->table, letters_);
    if (!plan.options().mask && !plan.options().ignore_nan) return;
    count_letters_ = memory_letters(axes_.without_channels(), pixels_->order);
    make(outputs_[3], plan.count_shape(), Type::u32, as_signed ? Type::s32 : Type::u32, count_letters_);
  }

  void make(Output& output, const Shape& shape, Type type, Type as, const std::string& letters) {
    output.made = allocator_.make(as, extents_of(shape, letters, pixels_->order));
    output.view = View(output.made.data(), type, shape).in(image_.memory());
  }

  void take(Output& output, nb::handle out) {
    output.given.emplace(out, same_stream(), "out");
    if (output.given->is_read_only()) throw InvalidArgument("out: it is read-only");
    if (!(output.given->memory() == image_.memory())) throw InvalidArgument("out: it must lie where the array does");
    const ArrayRef array = output.given->ref();
    const Shape shape = planned_->planned.plan.table_shape();
    require_like(array, array_shape(ConstView(nullptr, planned_->table, shape), axes_, pixels_->order),
                 planned_->table);
    const std::optional<View> view = room_in(array, axes_, pixels_->order);
    if (!view) throw InvalidArgument("out: its dimensions must lie in memory in the order of the array's");
    output.view = *view;
    output.view.type = planned_->planned.plan.types().table;
    output.object = nb::borrow(out);
  }

  static nb::object finished(Output& output) {
    if (output.given) return output.object;
    nb::object made = output.made.take();
    return made.is_valid() ? made : nb::none();
  }

  ForeignArray image_;
  Allocator allocator_;
  const Axes& axes_;
  std::optional<Pixels> pixels_;
  std::optional<ForeignArray> mask_;
  std::optional<ConstView> mask_view_;
  std::optional<ForeignArray> above_, left_;
  Carry carry_;
  std::shared_ptr<TensorPlan> planned_;
  std::string letters_, count_letters_;
  Output outputs_[4];
  bool can_run_ = false;
};

}  // namespace

void bind_device_sat(nb::module_& m) {
  m.def(
      "tensor_sat",
      [](nb::handle x, const Options& options, bool as_signed, std::string_view axes, nb::handle mask, nb::handle out,
         nb::object empty, nb::handle stream, bool reverse, nb::handle above, nb::handle left) {
        return Execute(x, options, as_signed, reverse, axes, mask, out, std::move(empty), stream, above, left).run();
      },
      nb::arg("array"), nb::arg("options"), nb::arg("as_signed"), nb::arg("axes"), nb::arg("mask").none() = nb::none(),
      nb::arg("out").none() = nb::none(), nb::arg("empty").none() = nb::none(), nb::arg("stream").none() = nb::none(),
      nb::arg("reverse") = false, nb::arg("above").none() = nb::none(), nb::arg("left").none() = nb::none());
  m.def(
      "tensor_execute",
      [](nb::handle plan, nb::handle x, bool as_signed, nb::handle mask, nb::handle out, nb::object empty,
         nb::handle stream) {
        return Execute(x, plan_says(plan), as_signed, mask, out, std::move(empty), stream).run();
      },
      nb::arg("plan"), nb::arg("array"), nb::arg("as_signed"), nb::arg("mask").none() = nb::none(),
      nb::arg("out").none() = nb::none(), nb::arg("empty").none() = nb::none(), nb::arg("stream").none() = nb::none());
  m.def(
      "time_tensor_execute",
      [](nb::handle plan, nb::handle x, bool as_signed, nb::handle out, nb::object empty, nb::handle stream,
         int calls) {
        return Execute(x, plan_says(plan), as_signed, nb::none(), out, std::move(empty), stream).seconds(calls);
      },
      nb::arg("plan"), nb::arg("array"), nb::arg("as_signed"), nb::arg("out"), nb::arg("empty").none(),
      nb::arg("stream").none(), nb::arg("calls"));
  // How an array is read: what tests look at where there is no device.
  m.def(
      "describe_array",
      [](nb::handle x, nb::handle stream) {
        const ForeignArray array(x, stream_given(stream), "array");
        const ArrayRef ref = array.ref();
        const auto size = static_cast<std::size_t>(array.tensor().ndim);
        const std::vector<std::int64_t> extents(ref.extents.begin(),
                                                ref.extents.begin() + std::min<std::size_t>(size, 4));
        const std::vector<std::int64_t> strides(ref.strides.begin(),
                                                ref.strides.begin() + std::min<std::size_t>(size, 4));
        nb::dict made;
        made["data"] = reinterpret_cast<std::uintptr_t>(ref.data);
        made["shape"] = extents, made["strides"] = strides, made["dtype"] = numpy_name(ref.type);
        made["device"] = ref.memory.is_host() ? nb::object(nb::none()) : nb::object(nb::int_(ref.memory.device));
        made["stream"] = array.work_stream().is_host() ? 0 : number_of(array.work_stream());
        made["read_only"] = array.is_read_only();
        return made;
      },
      nb::arg("array"), nb::arg("stream").none() = nb::none());
  // The dtype that a table gets, for frameworks that must know it before there is an array.
  m.def("table_dtype", [](const std::vector<std::int64_t>& extents, const std::string& dtype, const Options& options,
                          bool as_signed, std::string_view letters) {
    const Axes& axes = Axes::of(letters, extents.size());
    const auto at = [&](int dimension) { return dimension < 0 ? 1 : extents[static_cast<std::size_t>(dimension)]; };
    const Shape shape{at(axes.w), at(axes.h), at(axes.c), at(axes.n)};
    const Type input = type_of_numpy_name(dtype, "dtype");
    return std::string(numpy_name(types_of(shape, input, options, as_signed, axes.volume).table));
  });
}

}  // namespace areal::python
