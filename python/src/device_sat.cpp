// Summed-area tables of arrays of other frameworks, made by the framework's allocator, on its current stream.
#include <nanobind/stl/shared_ptr.h>
#include <algorithm>
#include <areal/sat.hpp>
#include <atomic>
#include <limits>
#include <memory>
#include <utility>
#include "bindings.hpp"
#include "device_arrays.hpp"
#include "device_workspaces.hpp"

namespace areal::python {
namespace {

struct TensorOptions {
  SatOptions sat;
  std::optional<Type> table;  ///< none: default_types
  Execution execution;
  bool as_signed = false;    ///< integer tables are signed, and a step wider where a corner may exceed that
  std::uint64_t number = 0;  ///< its own
};

TensorOptions tensor_options(const std::string& dtype, const std::string& border, const std::string& squares,
                             bool tilted, bool mask, bool ignore_nan, const std::string& algorithm,
                             const std::string& backend, int threads, bool as_signed) {
  static std::atomic<std::uint64_t> made_before{0};
  TensorOptions made;
  made.number = ++made_before;
  if (!dtype.empty()) {
    made.table = type_named(dtype);
    if (!made.table) throw InvalidArgument("dtype " + dtype + ": it is no type of tables");
  }
  const auto known = border_named(border);
  if (!known) throw InvalidArgument("border " + border + ": may be zero, none or exclusive");
  made.sat.border = *known;
  const std::pair<const char*, Squares> kinds[] = {{"no", Squares::no},
                                                   {"auto", Squares::automatic},
                                                   {"uint32", Squares::u32},
                                                   {"uint64", Squares::u64},
                                                   {"float64", Squares::f64}};
  const auto* const kind =
      std::find_if(std::begin(kinds), std::end(kinds), [&](const auto& k) { return squares == k.first; });
  if (kind == std::end(kinds))
    throw InvalidArgument("squares " + squares + ": may be True, False, uint32, uint64 or float64");
  made.sat.squares = kind->second;
  made.sat.tilted = tilted, made.sat.mask = mask, made.sat.ignore_nan = ignore_nan;
  made.sat.algorithm = algorithm;
  const auto on = backend_named(backend);
  if (!on) throw InvalidArgument("backend " + backend + ": may be auto, cpu, cuda or simt");
  made.execution.backend = *on, made.execution.threads = threads;
  made.as_signed = as_signed;
  return made;
}

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

Types types_of(const Shape& shape, Type input, const TensorOptions& options, bool volume) {
  if (options.table) {
    const Type asked = *options.table;
    if (is_pair({input, asked})) return {{input, asked}, asked};
    // The same bits: a table that wraps modulo 2^k does so in either.
    for (const Type same : {Type::u32, Type::u64, Type::s32, Type::s64})
      if (size_of(same) == size_of(asked) && !is_float(asked) && is_pair({input, same})) return {{input, same}, asked};
    return {{input, asked}, asked};  // the plan says what is wrong
  }
  TypePair types = default_types(shape, input, volume);
  if (!options.as_signed || is_float(types.table)) return {types, types.table};
  if (size_of(types.table) == 4 && !fits_signed_32(shape, input, volume)) {
    const TypePair wider{input, is_signed_integer(input) ? Type::s64 : Type::u64};
    if (is_pair(wider)) types = wider;
  }
  return {types, signed_type(types.table)};
}

struct TensorPlan {
  TensorPlan(SatPlan of, Type table_) : plan(std::move(of)), table(table_) {}
  const SatPlan plan;
  const Type table;  ///< as the framework has it
  Workspaces workspaces;
};

struct PlanKey {
  Shape shape;
  Type type;
  std::uint64_t options;
  bool volume;
  MemoryPlace place;
  bool forked;
  friend bool operator==(const PlanKey&, const PlanKey&) = default;
};

std::shared_ptr<TensorPlan> plan_of(const ConstView& image, const TensorOptions& options, const Axes& axes) {
  static auto& recent = *new RecentPlans<PlanKey, TensorPlan>;    // what a framework owns is not destroyed after it
  static auto& in_child = *new RecentPlans<PlanKey, TensorPlan>;  // the parent's lock may have been held at the fork
  const bool forked = is_forked();
  const PlanKey key{image.shape, image.type, options.number, axes.volume, image.memory, forked};
  return (forked ? in_child : recent).get(key, [&] {
    SatOptions sat = options.sat;
    sat.volume = axes.volume;
    sat.tables = image.shape.layout;
    const Types types = types_of(image.shape, image.type, options, axes.volume);
    sat.types = types.pair;
    Execution execution = options.execution;
    if (forked) execution.threads = 1;
    if (!image.memory.is_host()) {
      if (execution.backend == Backend::automatic) execution.backend = Backend::cuda;
      execution.device = image.memory.device;
    } else if (execution.backend == Backend::automatic) {
      execution.backend = Backend::cpu;
    }
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

/// The letters of the dimensions as they lie in memory.
std::string letters_in_memory(const Axes& axes, const Lie& lie) {
  std::string letters;
  if (axes.n >= 0) letters += axes.volume ? 'D' : 'N';
  const bool planar = lie.layout == Layout::planar;
  if (axes.c >= 0 && planar) letters += 'C';
  letters += lie.flipped ? "WH" : "HW";
  if (axes.c >= 0 && !planar) letters += 'C';
  return letters;
}

std::vector<std::int64_t> extents_of(const Shape& shape, const std::string& letters, bool flipped) {
  std::vector<std::int64_t> extents;
  for (const char letter : letters) {
    if (letter == 'C')
      extents.push_back(shape.channels);
    else if (letter == 'H')
      extents.push_back(flipped ? shape.width : shape.height);
    else if (letter == 'W')
      extents.push_back(flipped ? shape.height : shape.width);
    else
      extents.push_back(shape.batch);
  }
  return extents;
}

/// How dimensions in memory's order are put into the asked order; none where they are.
nb::object order_of(const std::string& in_memory, const std::string& asked) {
  if (in_memory == asked) return nb::none();
  nb::list order;
  for (const char letter : asked) order.append(static_cast<int>(in_memory.find(letter)));
  return nb::tuple(order);
}

class Execute {
 public:
  Execute(nb::handle x, const TensorOptions& options, const std::string& letters, nb::handle mask, nb::handle out,
          nb::object empty, nb::handle stream)
      : image_(x, given(stream), "array"),
        allocator_(image_, std::move(empty)),
        axes_(Axes::of(letters, static_cast<std::size_t>(image_.tensor().ndim))) {
    pixels_ = image_.pixels(axes_);
    if (!pixels_) return;
    if (!mask.is_none() && !read_mask(mask)) return;
    planned_ = plan_of(pixels_->view, options, axes_);
    can_run_ = true;
    prepare(out);
  }

  /// Sum, squares, tilted, count, then each order (None: as asked), then the plan. None where the caller must copy.
  nb::object run() {
    if (!can_run_) return nb::none();
    Workspaces::Ready ready = planned_->workspaces.get(planned_->plan, allocator_, image_.work_stream());
    {
      const nb::gil_scoped_release released;
      SatArguments arguments;
      arguments.image = pixels_->view;
      if (mask_view_) arguments.mask = *mask_view_;
      arguments.sum = outputs_[0].view, arguments.squares = outputs_[1].view;
      arguments.tilted = outputs_[2].view, arguments.count = outputs_[3].view;
      planned_->plan.execute(arguments, ready.workspace);
    }
    planned_->workspaces.put(std::move(ready));
    nb::object made[4];
    for (std::size_t i = 0; i < 4; ++i) made[i] = finished(outputs_[i]);
    const std::string letters = letters_in_memory(axes_, pixels_->lie);
    std::string plain = letters, asked = axes_.letters;
    std::erase(plain, 'C'), std::erase(asked, 'C');
    const nb::object order = outputs_[0].given ? nb::none() : order_of(letters, axes_.letters);
    return nb::make_tuple(made[0], made[1], made[2], made[3], order, order_of(plain, asked), planned_,
                          number_of(image_.work_stream()));
  }

 private:
  static std::optional<Stream> given(nb::handle stream) {
    if (stream.is_none()) return std::nullopt;
    return stream_of(nb::cast<std::uintptr_t>(stream));
  }

  bool read_mask(nb::handle mask) {
    mask_.emplace(mask, image_.memory().is_host() ? std::nullopt : std::optional(image_.work_stream()), "mask");
    if (!(mask_->memory() == image_.memory())) throw InvalidArgument("mask: it must lie where the array does");
    Axes of_mask = axes_;
    if (axes_.c >= 0) of_mask = Axes::of(axes_.n >= 0 ? "NHW" : "HW", static_cast<std::size_t>(mask_->tensor().ndim));
    const std::optional<Pixels> valid = mask_->pixels(of_mask);
    if (!valid || valid->lie.flipped != pixels_->lie.flipped) return false;
    mask_view_ = valid->view;
    return true;
  }

  void prepare(nb::handle out) {
    const SatPlan& plan = planned_->plan;
    const std::string letters = letters_in_memory(axes_, pixels_->lie);
    std::string plain = letters;
    std::erase(plain, 'C');
    const bool flipped = pixels_->lie.flipped;
    if (out.is_none())
      make(outputs_[0], plan.table_shape(), plan.types().table, planned_->table, letters, flipped);
    else
      take(outputs_[0], out);
    const bool as_signed = is_signed_integer(planned_->table) || is_float(planned_->table);
    if (const auto squares = plan.squares_type())
      make(outputs_[1], plan.table_shape(), *squares, as_signed ? signed_type(*squares) : *squares, letters, flipped);
    if (plan.options().tilted)
      make(outputs_[2], plan.tilted_shape(), plan.types().table, planned_->table, letters, flipped);
    if (plan.options().mask || plan.options().ignore_nan)
      make(outputs_[3], plan.count_shape(), Type::u32, as_signed ? Type::s32 : Type::u32, plain, flipped);
  }

  void make(Output& output, const Shape& shape, Type type, Type as, const std::string& letters, bool flipped) {
    output.made = allocator_.make(as, extents_of(shape, letters, flipped));
    output.view = View(output.made.data(), type, shape).in(image_.memory());
  }

  void take(Output& output, nb::handle out) {
    output.given.emplace(out, image_.memory().is_host() ? std::nullopt : std::optional(image_.work_stream()), "out");
    const Axes axes = Axes::of(axes_.letters, static_cast<std::size_t>(output.given->tensor().ndim));
    if (output.given->type() != planned_->table)
      throw InvalidArgument(std::string("out: elements of ") + dtype_name(output.given->type()) + ", they must be " +
                            dtype_name(planned_->table));
    if (!(output.given->memory() == image_.memory())) throw InvalidArgument("out: it must lie where the array does");
    const std::optional<Pixels> found = output.given->pixels(axes);
    const Shape shape = planned_->plan.table_shape();
    const auto same = [&](const Pixels& p) { return p.lie == pixels_->lie && p.view.shape == shape; };
    const std::vector<std::int64_t> expected = extents_of(shape, axes_.letters, pixels_->lie.flipped);
    for (std::size_t i = 0; i < expected.size(); ++i)
      if (output.given->tensor().shape[i] != expected[i]) {
        std::string words;
        for (const std::int64_t extent : expected) words += (words.empty() ? "" : "x") + std::to_string(extent);
        throw InvalidArgument("out: another shape; it must be " + words);
      }
    if (!found || (!same(*found) && !shape.empty()))
      throw InvalidArgument("out: its dimensions must lie in memory in the order of the array's");
    output.view = output.given->view(*found);
    output.view.type = planned_->plan.types().table;
    output.object = nb::borrow(out);
  }

  static nb::object finished(Output& output) {
    if (output.given) return output.object;
    nb::object made = output.made.take();
    return made.is_valid() ? made : nb::none();
  }

  ForeignArray image_;
  Allocator allocator_;
  Axes axes_;
  std::optional<Pixels> pixels_;
  std::optional<ForeignArray> mask_;
  std::optional<ConstView> mask_view_;
  std::shared_ptr<TensorPlan> planned_;
  Output outputs_[4];
  bool can_run_ = false;
};

}  // namespace

void bind_device_sat(nb::module_& m) {
  nb::class_<TensorOptions>(m, "TensorOptions");
  nb::class_<TensorPlan>(m, "TensorPlan")
      .def_prop_ro("algorithm", [](const TensorPlan& p) { return p.plan.algorithm(); })
      .def_prop_ro("reason", [](const TensorPlan& p) { return p.plan.reason(); })
      .def_prop_ro("backend", [](const TensorPlan& p) { return std::string(name_of(p.plan.backend())); });
  m.def("tensor_options", &tensor_options);
  m.def(
      "tensor_sat",
      [](nb::handle x, const TensorOptions& options, const std::string& axes, nb::handle mask, nb::handle out,
         nb::object empty,
         nb::handle stream) { return Execute(x, options, axes, mask, out, std::move(empty), stream).run(); },
      nb::arg("array"), nb::arg("options"), nb::arg("axes"), nb::arg("mask").none() = nb::none(),
      nb::arg("out").none() = nb::none(), nb::arg("empty").none() = nb::none(), nb::arg("stream").none() = nb::none());
  /// The dtype that a table has, for frameworks that must know it before there is an array.
  m.def("tensor_types", [](const std::vector<std::int64_t>& extents, const std::string& type,
                           const TensorOptions& options, const std::string& letters) {
    const Axes axes = Axes::of(letters, extents.size());
    const auto at = [&](int dimension) { return dimension < 0 ? 1 : extents[static_cast<std::size_t>(dimension)]; };
    const Shape shape{at(axes.w), at(axes.h), at(axes.c), at(axes.n)};
    const auto input = type_named(type);
    if (!input) throw InvalidArgument("type " + type + ": areal has none of this name");
    return std::string(dtype_name(types_of(shape, *input, options, axes.volume).table));
  });
}

}  // namespace areal::python
