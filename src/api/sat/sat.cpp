// Summed-area tables: the checks and steps of an execute; the one-line form.
#include <areal/catalog.hpp>
#include <areal/error.hpp>
#include <areal/sat.hpp>
#include <string_view>
#include "api/core/execute.hpp"
#include "api/core/require.hpp"
#include "api/core/view_check.hpp"
#include "api/sat/sat_plan.hpp"
#include "cpu/sat/carried.hpp"
#include "cpu/sat/tilted.hpp"

namespace areal {
namespace {

constexpr ArgumentViews<SatArguments, 2, 4, 3> sat_views{
    {{{"image", &SatArguments::image}, {"mask", &SatArguments::mask}}},
    {{{"sum", &SatArguments::sum},
      {"squares", &SatArguments::squares},
      {"tilted", &SatArguments::tilted},
      {"count", &SatArguments::count}}},
    {{{"carry.above", "carry.left", &SatArguments::carry},
      {"squares_carry.above", "squares_carry.left", &SatArguments::squares_carry},
      {"count_carry.above", "count_carry.left", &SatArguments::count_carry}}}};

void check_views(const SatPlan::State& s, const SatArguments& arguments) {
  const auto check_optional = [](const char* name, bool expected, const ConstView& view, const Shape& shape,
                                 Type type) {
    if (expected)
      check_view(name, view, shape, type);
    else
      require(view.data == nullptr, name, " was given, but the plan was not made for it");
  };
  const Shape& image = s.image;
  check_view("image", arguments.image, image, s.types.input);
  check_view("sum", arguments.sum, s.table_shape(), s.types.table);
  check_optional("mask", s.options.mask, arguments.mask, {image.width, image.height, 1, image.batch}, Type::u8);
  check_optional("squares", s.squares.has_value(), arguments.squares, s.table_shape(), s.squares.value_or(Type::u64));
  check_optional("tilted", s.options.tilted, arguments.tilted, s.tilted_shape(), s.types.table);
  check_optional("count", s.counts(), arguments.count, s.count_shape(), Type::u32);
}

void check_carries(const SatPlan::State& s, const SatArguments& arguments) {
  const auto check = [&](std::string_view name, const Carry& carry, bool expected, const Shape& table, Type type) {
    if (carry.empty()) return;
    require(expected, name, " was given, but the plan was not made for its table");
    require(!find_algorithm("sat", s.algorithm)->plain_only, name, ": algorithm ", s.algorithm,
            " takes none; for pieces of a larger table choose auto");
    require(!s.options.tilted, name, ": a tilted table takes none, so a plan with one does not");
    require(!s.options.volume, name, ": a volume takes none");
    Shape above = table, left = table;
    above.width = s.image.width + 1, above.height = 1;
    left.width = 1, left.height = s.image.height;
    if (carry.above.data != nullptr) check_view(sentence(name, ".above"), carry.above, above, type);
    if (carry.left.data != nullptr) check_view(sentence(name, ".left"), carry.left, left, type);
  };
  check("carry", arguments.carry, true, s.table_shape(), s.types.table);
  check("squares_carry", arguments.squares_carry, s.squares.has_value(), s.table_shape(),
        s.squares.value_or(Type::u64));
  check("count_carry", arguments.count_carry, s.counts(), s.count_shape(), Type::u32);
}

void check_overlaps(const SatPlan::State& s, const SatArguments& arguments) {
  const View* const outputs[] = {&arguments.sum, &arguments.squares, &arguments.tilted, &arguments.count};
  for (const View* output : outputs) {
    for (const View* other : outputs)
      require(output == other || !may_overlap(*output, *other), "two of the output tables share memory");
    require(!may_overlap(*output, arguments.mask), "an output table and the mask share memory");
    for (const Carry* carry : {&arguments.carry, &arguments.squares_carry, &arguments.count_carry})
      require(!may_overlap(*output, carry->above) && !may_overlap(*output, carry->left),
              "an output table and a carry share memory");
    if (!may_overlap(*output, arguments.image)) continue;
    const ConstView& in = arguments.image;
    const bool in_place = output == &arguments.sum && output->data == in.data && s.options.border == Border::none &&
                          size_of(s.types.input) == size_of(s.types.table) && output->row_pitch == in.row_pitch &&
                          output->plane_pitch == in.plane_pitch && output->batch_pitch == in.batch_pitch &&
                          (s.image.channels == 1 || s.options.tables == s.image.layout) && !s.options.tilted;
    require(in_place,
            "the image and an output table share memory: in place needs border none, the same pitches and "
            "layout, and input and table types of the same size (not tilted)");
  }
}

}  // namespace

void SatPlan::State::prepare(void* memory, Stream stream) const {
  if (device) device->prepare(memory, stream);
}

std::string_view SatPlan::State::run(const SatArguments& arguments, void* memory, Stream stream) const {
  if (device) return device->execute(arguments, memory, stream, on_launch);
  if (plain) {
    const cpu::Placement place = cpu::placement(image, options.border, false);
    cpu::fill_edges(arguments.sum, place);
    if (place.width == 0 || place.height == 0 || place.depth == 0 || image.channels == 0) return algorithm;
    const Shape inner{place.width, place.height};
    const View& sum = arguments.sum;
    void* const start =
        static_cast<char*>(sum.row(place.offset)) + place.offset * static_cast<std::int64_t>(size_of(sum.type));
    plain(ConstView(arguments.image.data, types.input, inner, arguments.image.row_pitch),
          View(start, types.table, inner, sum.row_pitch));
    if (options.progress && !options.progress(1, 1)) throw Cancelled("the summed-area table was cancelled");
    return algorithm;
  }
  if (options.tilted)  // before the sum, which may overwrite the image
    cpu::tilted({arguments.image, arguments.mask, arguments.tilted, options.ignore_nan}, types, memory,
                execution.threads, options.progress, tiles->tiles());
  tiles->execute({arguments.image, arguments.mask, arguments.sum, arguments.squares, arguments.count, arguments.carry,
                  arguments.squares_carry, arguments.count_carry},
                 memory, options.progress, options.tilted ? cpu::tilted_bands(image) : 0);
  return algorithm;
}

void SatPlan::check(const SatArguments& arguments) const {
  check_views(state(), arguments);
  check_carries(state(), arguments);
  require_memories(*this, sat_views, arguments, true);
  check_overlaps(state(), arguments);
  if (const auto& device = state().device) device->check([&] { return placed(execution(), sat_views, arguments); });
}

void SatPlan::execute(const SatArguments& arguments, Workspace& workspace) const {
  const State& s = state();
  Workspace::State& w = require_workspace(s, workspace);
  check(arguments);
  if (w.borrowed) require_memories(*this, sat_views, arguments, false);
  execute_in(w, sat_views, arguments,
             [&](const SatArguments& there, void* memory, Stream stream) { w.ran = s.run(there, memory, stream); });
}

void SatPlan::execute(const ConstView& image, SatTable& into, Workspace& workspace, const ConstView& mask) const {
  const State& s = state();
  require(into.border() == s.options.border, "into: tables of border `", name_of(into.border()),
          "`, this plan computes border `", name_of(s.options.border), "`");
  require(into.image_shape() == s.image && into.is_volume() == s.options.volume,
          "into: tables of another shape of images than this plan's; SatPlan::allocate makes tables for it");
  require(into.is_reversed() == s.options.reverse, "into: tables that are ", into.is_reversed() ? "" : "not ",
          "reversed, this plan's are", s.options.reverse ? "" : " not", "; SatPlan::allocate makes tables for it");
  execute({image, into.sum(), mask, into.squares(), into.tilted(), into.count()}, workspace);
}

SatTable SatPlan::allocate(std::optional<MemoryPlace> memory) const {
  const State& s = state();
  auto table = std::make_unique<SatTable::State>();
  table->image = s.image;
  table->types = s.types;
  table->border = s.options.border;
  table->volume = s.options.volume;
  table->reverse = s.options.reverse;
  table->memory = memory.value_or(s.memory());
  const auto owned = [&](const Shape& shape, Type type) { return OwnedView(shape, type, table->memory); };
  table->sum = owned(s.table_shape(), s.types.table);
  if (s.squares) table->squares = owned(s.table_shape(), *s.squares);
  if (s.options.tilted) table->tilted = owned(s.tilted_shape(), s.types.table);
  if (s.counts()) table->count = owned(s.count_shape(), Type::u32);
  return SatTable(std::move(table));
}

SatTable sat(const ConstView& image, const SatOptions& options, const Execution& execution, const ConstView& mask) {
  SatOptions requested = options;
  if (mask.data != nullptr) requested.mask = true;
  const SatPlan plan(image.shape, image.type, requested, execution_of(image, execution));
  require_memory("image", image.memory, plan, true);
  SatTable table = plan.allocate(image.memory);
  Workspace workspace(plan);
  plan.execute(image, table, workspace, mask);
  workspace.wait();
  return table;
}

}  // namespace areal
