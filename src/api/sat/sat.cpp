// Summed-area tables: checks, choice of the algorithm, the call.
#include <algorithm>
#include <areal/catalog.hpp>
#include <areal/error.hpp>
#include <areal/sat.hpp>
#include <limits>
#include <vector>
#include "api/core/require.hpp"
#include "api/core/view_check.hpp"
#include "api/sat/sat_device.hpp"
#include "catalog/with_types.hpp"
#include "cpu/sat/raster_2r2w.hpp"
#include "cpu/sat/raster_4r1w.hpp"
#include "cpu/sat/serial.hpp"
#include "cpu/sat/tiles.hpp"
#include "cpu/sat/tilted.hpp"

namespace areal {
namespace {

bool runs_on(const Algorithm& row, Backend backend) {
  return backend == Backend::cuda ? row.cuda : backend == Backend::simt ? row.simt : row.cpu;
}

std::string known_algorithms(Backend backend) {
  std::string list = "auto";
  for (const Algorithm& row : algorithms())
    if (row.family == "sat" && runs_on(row, backend)) list += ", " + std::string(row.id);
  return list;
}

Shape table_shape_of(const Shape& image, const SatOptions& options) {
  const std::int64_t more = options.border == Border::zero ? 1 : 0;
  return {image.width + more, image.height + more, image.channels, image.batch + (options.volume ? more : 0),
          options.tables};
}

/// The inclusive table of one plane by one of the papers' algorithms.
using Plain = void (*)(const ConstView& in, const View& out);
Plain plain_algorithm(std::string_view id, TypePair types) {
  return with_types(types, [&](auto cpp) -> Plain {
    using In = typename decltype(cpp)::Input;
    using T = typename cpu::Arithmetic<typename decltype(cpp)::Table>::type;
    if (id == "serial") return &cpu::serial<In, T>;
    if (id == "2r2w-cpu") return &cpu::raster_2r2w<In, T>;
    if (id == "4r1w-cpu") return &cpu::raster_4r1w<In, T>;
    return nullptr;
  });
}

}  // namespace

struct SatPlan::State {
  Shape image;
  TypePair types;
  SatOptions options;
  std::string algorithm, reason;
  Plain plain = nullptr;            // one of the papers', or
  std::optional<cpu::Tiles> tiles;  // ours, or
  std::optional<DeviceSat> device;  // on cuda or simt
  std::size_t workspace_bytes = 0;

  Shape tilted_shape() const {
    return {image.width + 1, image.height + 1, image.channels, image.batch, options.tables};
  }
  Shape count_shape() const {
    Shape shape = table_shape_of(image, options);
    shape.channels = 1;
    return shape;
  }
  bool counts() const { return options.mask || options.ignore_nan; }
  void check_tables() const;
  void check_workspace(const void* workspace) const;
  void check(const SatArguments& arguments) const;
  void check_overlaps(const SatArguments& arguments) const;
};

/// Every table that comes out must be addressable.
void SatPlan::State::check_tables() const {
  const std::int64_t most = std::max({image.width, image.height, image.batch});
  require(most < std::numeric_limits<std::int64_t>::max(), "table of an image of ", image.width, "x", image.height,
          ", batch ", image.batch, ": its extents do not fit 63 bits");
  const Shape table = table_shape_of(image, options);
  check_shape("table", table, types.table);
  if (options.squares) check_shape("table of squares", table, *options.squares);
  if (options.tilted) check_shape("tilted table", tilted_shape(), types.table);
  if (counts()) check_shape("table of counts", count_shape(), Type::u32);
}

SatPlan::SatPlan(const Shape& image, TypePair types, const SatOptions& options) {
  check_shape("image", image, types.input);
  require(std::find(type_pairs().begin(), type_pairs().end(), types) != type_pairs().end(), "types ", name_of(types),
          " do not exist: a table of ", name_of(types.table), " cannot be made of ", name_of(types.input), " pixels");
  require(image.channels <= 4, "image has ", image.channels, " channels: a table takes 1 to 4");
  require(options.threads >= 0, "threads ", options.threads, ": it may be 0 (all) or more");
  if (options.squares) {
    const Type type = *options.squares;
    require(type == Type::u32 || type == Type::u64 || type == Type::f64, "squares in ", name_of(type),
            ": they may be in 32u, 64u or 64f");
    require(cpu::scan_rows(types.input, type, true) != nullptr, "squares of ", name_of(types.input), " pixels in ",
            name_of(type), ": this type cannot hold them");
  }
  require(!options.ignore_nan || is_float(types.input), "ignore_nan: ", name_of(types.input), " pixels are never NaN");
  require(!(options.volume && options.tilted), "a volume has no tilted table");
  require(options.r > 0 && options.r < 1, "r ", options.r, ": it may lie between 0 and 1");
  auto state = std::make_shared<State>();
  state->image = image;
  state->types = types;
  state->options = options;
  if (options.backend == Backend::automatic) state->options.backend = Backend::cpu;
  const Backend backend = state->options.backend;
  const bool on_cpu = backend == Backend::cpu;
  require_launches(options.launched, backend);
  if (!on_cpu) require_backend(backend, options.device);
  state->algorithm = options.algorithm != "auto" ? options.algorithm : on_cpu ? "tiles" : "auto";
  if (!on_cpu && options.algorithm == "auto") {
    state->device.emplace(image, types, state->options, "auto");
    state->algorithm = state->device->algorithm();
  }
  const Algorithm* const row = find_algorithm("sat", state->algorithm);
  require(row != nullptr && runs_on(*row, backend), "algorithm ", options.algorithm, " is not one of ",
          known_algorithms(backend));
  if (options.algorithm != "auto")
    state->reason = row->takes.r      ? sentence("asked for, with r ", hybrid_share(image, options.r, options.border))
                    : row->takes.scan ? sentence("asked for, with the warp scan ", name_of(options.scan))
                                      : "asked for";
  else if (!on_cpu && options.squares)
    state->reason = "the only one that gives squares with the sum";
  else if (on_cpu)
    state->reason = "of the CPU's algorithms the fastest measured on the types and sizes in bench/results";
  else if (state->device->is_smaller())
    state->reason = "of our kernels the first whose blocks fit the device's shared memory";
  else
    state->reason = "of our kernels the fastest measured on images of this size and types";
  state->check_tables();
  if (row->plain_only) {
    const bool plain = image.channels <= 1 && image.batch <= 1 && !options.squares && !options.tilted &&
                       !options.mask && !options.ignore_nan && !options.volume;
    require(plain, "algorithm ", state->algorithm,
            " computes the plain sum of one single-channel image; for more choose auto", on_cpu ? " or tiles" : "");
  }
  if (!on_cpu) {
    if (!state->device) state->device.emplace(image, types, state->options, state->algorithm);
    if (state->algorithm != state->device->algorithm())
      state->reason = "the only one that gives squares with the sum, though " + state->algorithm + " was asked for";
    state->algorithm = state->device->algorithm();
    state->workspace_bytes = state->device->workspace_bytes();
  } else if (row->plain_only) {
    state->plain = plain_algorithm(state->algorithm, types);
    require(state->plain != nullptr, "algorithm ", state->algorithm, " has no implementation");
  } else {
    state->tiles.emplace(cpu::TilesRequest{image, types, options.border, options.squares, options.mask,
                                           options.ignore_nan, options.volume, options.tables, options.threads});
    state->workspace_bytes = state->tiles->workspace_bytes();
    if (options.tilted)
      state->workspace_bytes = std::max(state->workspace_bytes, cpu::tilted_workspace_bytes(image, types));
  }
  state_ = std::move(state);
}

std::size_t SatPlan::workspace_bytes() const noexcept { return state_->workspace_bytes; }
const Shape& SatPlan::image_shape() const noexcept { return state_->image; }
Shape SatPlan::table_shape() const noexcept { return table_shape_of(state_->image, state_->options); }
Shape SatPlan::count_shape() const noexcept { return state_->count_shape(); }
Shape SatPlan::tilted_shape() const noexcept { return state_->tilted_shape(); }
TypePair SatPlan::types() const noexcept { return state_->types; }
const SatOptions& SatPlan::options() const noexcept { return state_->options; }
Backend SatPlan::backend() const noexcept { return state_->options.backend; }
const std::string& SatPlan::algorithm() const noexcept { return state_->algorithm; }
const std::string& SatPlan::reason() const noexcept { return state_->reason; }

std::uint64_t SatPlan::table_bytes() const {
  const SatOptions& options = state_->options;
  std::uint64_t bytes = bytes_of(table_shape(), state_->types.table);
  if (options.squares) bytes += bytes_of(table_shape(), *options.squares);
  if (options.tilted) bytes += bytes_of(tilted_shape(), state_->types.table);
  if (state_->counts()) bytes += bytes_of(count_shape(), Type::u32);
  return bytes;
}

void SatPlan::State::check(const SatArguments& arguments) const {
  const auto wanted = [](std::string_view name, bool asked, const ConstView& view, const Shape& shape, Type type) {
    if (asked)
      check_view(name, view, shape, type);
    else
      require(view.data == nullptr, name, " was given, but the plan was not made for it");
  };
  const Shape table = table_shape_of(image, options);
  check_view("image", arguments.image, image, types.input);
  check_view("sum", arguments.sum, table, types.table);
  wanted("mask", options.mask, arguments.mask, {image.width, image.height, 1, image.batch}, Type::u8);
  wanted("squares", options.squares.has_value(), arguments.squares, table, options.squares.value_or(Type::u64));
  wanted("tilted", options.tilted, arguments.tilted, tilted_shape(), types.table);
  wanted("count", counts(), arguments.count, count_shape(), Type::u32);
}

void SatPlan::State::check_overlaps(const SatArguments& arguments) const {
  const View* const outputs[] = {&arguments.sum, &arguments.squares, &arguments.tilted, &arguments.count};
  for (const View* output : outputs) {
    for (const View* other : outputs)
      require(output == other || !may_overlap(*output, *other), "two of the output tables share memory");
    require(!may_overlap(*output, arguments.mask), "an output table and the mask share memory");
    if (!may_overlap(*output, arguments.image)) continue;
    const ConstView& in = arguments.image;
    const bool in_place = output == &arguments.sum && output->data == in.data && options.border == Border::none &&
                          size_of(types.input) == size_of(types.table) && output->row_pitch == in.row_pitch &&
                          output->plane_pitch == in.plane_pitch && output->batch_pitch == in.batch_pitch &&
                          (image.channels == 1 || options.tables == image.layout) && !options.tilted;
    require(in_place,
            "the image and an output table share memory: in place needs border none, the same pitches and "
            "layout, and input and table types of the same size (not tilted)");
  }
}

void SatPlan::State::check_workspace(const void* workspace) const {
  require(workspace != nullptr || workspace_bytes == 0, "workspace is a null pointer: this plan needs ",
          workspace_bytes, " bytes");
}

void SatPlan::prepare(void* workspace, Stream stream) const {
  state_->check_workspace(workspace);
  if (state_->device) state_->device->prepare(workspace, stream);
}

void SatPlan::check(const SatArguments& arguments) const {
  state_->check(arguments);
  state_->check_overlaps(arguments);
}

void SatPlan::execute(const SatArguments& arguments, void* workspace, Stream stream) const {
  const State& s = *state_;
  s.check_workspace(workspace);
  check(arguments);
  if (s.device) {
    s.device->execute(arguments, workspace, stream);
    return;
  }
  if (s.plain) {
    const cpu::Placement place = cpu::placement(s.image, s.options.border, false);
    cpu::fill_edges(arguments.sum, place);
    if (place.width == 0 || place.height == 0 || place.depth == 0 || s.image.channels == 0) return;
    const Shape inner{place.width, place.height};
    const View& sum = arguments.sum;
    void* const start =
        static_cast<char*>(sum.row(place.offset)) + place.offset * static_cast<std::int64_t>(size_of(sum.type));
    s.plain(ConstView(arguments.image.data, s.types.input, inner, arguments.image.row_pitch),
            View(start, s.types.table, inner, sum.row_pitch));
    if (s.options.progress && !s.options.progress(1, 1)) throw Cancelled("the summed-area table was cancelled");
    return;
  }
  if (s.options.tilted)  // before the sum, which may overwrite the image
    cpu::tilted({arguments.image, arguments.mask, arguments.tilted, s.options.ignore_nan}, s.types, workspace,
                s.options.threads);
  s.tiles->execute({arguments.image, arguments.mask, arguments.sum, arguments.squares, arguments.count}, workspace,
                   s.options.progress);
}

SatTables sat(const ConstView& image, const SatOptions& options, std::optional<TypePair> types, const ConstView& mask) {
  SatOptions asked = options;
  if (mask.data != nullptr) asked.mask = true;
  const TypePair chosen = types ? *types : default_types(image.shape, image.type, asked.volume);
  asked.backend = best_backend(image.shape, chosen, asked);
  SatRunner runner(SatPlan(image.shape, chosen, asked));
  const SatPlan& plan = runner.plan();
  SatTables tables;
  tables.border = asked.border;
  tables.sum = Array(plan.table_shape(), plan.types().table);
  if (asked.squares) tables.squares = Array(plan.table_shape(), *asked.squares);
  if (asked.tilted) tables.tilted = Array(plan.tilted_shape(), plan.types().table);
  if (asked.mask || asked.ignore_nan) tables.count = Array(plan.count_shape(), Type::u32);
  runner.execute({image, tables.sum.view(), mask, tables.squares.view(), tables.tilted.view(), tables.count.view()});
  return tables;
}

}  // namespace areal
