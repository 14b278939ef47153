// Plans of summed-area tables: checks, and the choice of the algorithm.
#include "api/sat/sat_plan.hpp"
#include <algorithm>
#include <areal/catalog.hpp>
#include <areal/error.hpp>
#include <limits>
#include <vector>
#include "api/core/automatic.hpp"
#include "api/core/require.hpp"
#include "api/core/view_check.hpp"
#include "catalog/with_types.hpp"
#include "cpu/sat/raster_2r2w.hpp"
#include "cpu/sat/raster_4r1w.hpp"
#include "cpu/sat/serial.hpp"
#include "cpu/sat/tilted.hpp"
#include "formulas/triangles.hpp"
#include "kernels/primitives/table_geometry.hpp"
#include "policy/sat_choice.hpp"
#include "policy/squares_type.hpp"

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

/// The checked types of a plan.
TypePair types_of(const Shape& image, Type input, const SatOptions& options) {
  if (!options.types) return default_types(image, input, options.volume);
  const TypePair types = *options.types;
  require(std::find(type_pairs().begin(), type_pairs().end(), types) != type_pairs().end(), "types ", name_of(types),
          " do not exist: a table of ", name_of(types.table), " cannot be made of ", name_of(types.input), " pixels");
  require(types.input == input, "types ", name_of(types), " take ", name_of(types.input), " pixels, the image has ",
          name_of(input));
  return types;
}

/// Every output table must be addressable.
void check_tables(const SatPlan::State& s) {
  const Shape& image = s.image;
  const std::int64_t most = std::max({image.width, image.height, image.batch});
  require(most < std::numeric_limits<std::int64_t>::max(), "table of an image of ", image.width, "x", image.height,
          ", batch ", image.batch, ": its extents do not fit 63 bits");
  check_shape("table", s.table_shape(), s.types.table);
  if (s.squares) check_shape("table of squares", s.table_shape(), *s.squares);
  if (s.options.tilted) check_shape("tilted table", s.tilted_shape(), s.types.table);
  if (s.counts()) check_shape("table of counts", s.count_shape(), Type::u32);
}

std::string reason_of(const Algorithm& row, const SatPlan::State& s, const research::SatParameters& parameters) {
  if (s.options.algorithm != "auto") {
    if (row.takes.scan) return sentence("requested, with the warp scan ", name_of(parameters.scan));
    if (!row.takes.r) return "requested";
    const kernels::TableGeometry p = kernels::table_geometry(s.image, s.options.border);
    return sentence("requested, with r ", formulas::effective_r(parameters.r, p.height, p.width));
  }
  if (s.execution.backend == Backend::cpu)
    return "of the CPU's algorithms the fastest measured on the types and sizes in bench/results";
  if (s.squares) return "the only one that gives squares with the sum";
  if (!s.device->passed_over().empty()) return "of our kernels the fastest that takes this; " + s.device->passed_over();
  return "of our kernels the fastest measured on images of this size and types";
}

kernels::SatRequest device_request(const Shape& image, TypePair types, std::optional<Type> squares,
                                   const SatOptions& options, const research::SatParameters& parameters) {
  return {image,           types,        options.border,     squares,
          options.tilted,  options.mask, options.ignore_nan, options.volume,
          options.reverse, parameters.r, parameters.scan,    {},
          options.carries};
}

/// A device's candidates, best first.
std::vector<std::string_view> device_ids(const Shape& image, TypePair types, std::optional<Type> squares,
                                         const SatOptions& options) {
  if (options.algorithm != "auto") return {options.algorithm};
  return policy::ranked_sats({image, types, options.border, squares});
}

/// The algorithm for contiguous images and tables from `allocate`.
std::string algorithm_of(const SatPlan::State& s) {
  SatArguments own{ConstView(allocated(), s.types.input, s.image), View(allocated(), s.types.table, s.table_shape())};
  if (s.squares) own.squares = View(allocated(), *s.squares, s.table_shape());
  return s.device->algorithm(own);
}

/// Throws InvalidArgument unless an algorithm of that id runs there and supports these types and options.
const Algorithm& require_algorithm(const SatPlan::State& s) {
  const SatOptions& options = s.options;
  const Backend backend = s.execution.backend;
  const bool on_cpu = backend == Backend::cpu;
  const Algorithm* const row = find_algorithm("sat", s.algorithm);
  require(row != nullptr && runs_on(*row, backend), "algorithm ", options.algorithm, " is not one of ",
          known_algorithms(backend));
  const auto pairs = type_pairs_of(*row);
  require(std::find(pairs.begin(), pairs.end(), s.types) != pairs.end(), "algorithm ", s.algorithm,
          " does not take types ", name_of(s.types), "; for them choose auto");
  if (row->plain_only) {
    const bool plain = s.image.channels <= 1 && s.image.batch <= 1 && !s.squares && !options.tilted && !options.mask &&
                       !options.ignore_nan && !options.volume && !options.reverse && !options.carries;
    require(plain, "algorithm ", s.algorithm,
            " computes the plain sum of one single-channel image; for more choose auto", on_cpu ? " or tiles" : "");
  }
  return *row;
}

/// The state on a named backend.
std::shared_ptr<SatPlan::State> plan_on(const Shape& image, TypePair types, std::optional<Type> squares,
                                        const SatOptions& options, const Execution& execution,
                                        const research::SatParameters& parameters) {
  auto state = std::make_shared<SatPlan::State>();
  state->execution = execution;
  state->image = image;
  state->types = types;
  state->squares = squares;
  state->options = options;
  state->options.types = types;
  state->on_launch = parameters.on_launch;
  const bool on_cpu = execution.backend == Backend::cpu, is_auto = options.algorithm == "auto";
  require_stream_of(execution);
  require_launches(parameters.on_launch, execution.backend);
  check_tables(*state);
  if (!on_cpu) {
    require_backend(execution.backend, execution.device);
    if (!is_auto) state->algorithm = options.algorithm, require_algorithm(*state);
    state->device.emplace(execution, device_request(image, types, squares, options, parameters),
                          device_ids(image, types, squares, options));
    state->algorithm = algorithm_of(*state);
    state->workspace_bytes = state->device->workspace_bytes();
    state->reason = reason_of(*find_algorithm("sat", state->algorithm), *state, parameters);
    return state;
  }
  state->algorithm = is_auto ? "tiles" : options.algorithm;
  const Algorithm& row = require_algorithm(*state);
  state->reason = reason_of(row, *state, parameters);
  if (row.plain_only) {
    state->plain = plain_algorithm(state->algorithm, types);
    require(state->plain != nullptr, "algorithm ", state->algorithm, " has no implementation");
  } else {
    state->tiles.emplace(cpu::TilesRequest{image, types, options.border, squares, options.mask, options.ignore_nan,
                                           options.volume, options.reverse, options.tables, execution.threads});
    state->workspace_bytes = state->tiles->workspace_bytes();
    if (options.tilted)
      state->workspace_bytes = std::max(state->workspace_bytes, cpu::tilted_workspace_bytes(image, types));
  }
  return state;
}

}  // namespace

std::shared_ptr<SatPlan::State> plan_sat(const Shape& image, Type input, const SatOptions& options,
                                         const Execution& execution, const research::SatParameters& parameters) {
  check_shape("image", image, input);
  const TypePair types = types_of(image, input, options);
  require(image.channels <= 4, "image has ", image.channels, " channels: a table takes 1 to 4");
  require(execution.threads >= 0, "threads ", execution.threads, ": it may be 0 (all) or more");
  const std::optional<Type> squares = policy::squares_type(options.squares, types.input);
  if (squares)
    require(cpu::scan_rows(types.input, *squares, true) != nullptr, "squares of ", name_of(types.input), " pixels in ",
            name_of(*squares), ": this type cannot hold them");
  require(!options.ignore_nan || is_float(types.input), "ignore_nan: ", name_of(types.input), " pixels are never NaN");
  require(!(options.volume && options.tilted), "a volume has no tilted table");
  require(!(options.reverse && options.tilted), "reverse: there is no reversed tilted table");
  require(!(options.carries && options.tilted), "carries: a tilted table takes none, so a plan with one does not");
  require(!(options.carries && options.volume), "carries: a volume takes none");
  require(parameters.r > 0 && parameters.r < 1, "r ", parameters.r, ": it may lie between 0 and 1");
  const auto make = [&](const Execution& named) { return plan_on(image, types, squares, options, named, parameters); };
  if (execution.backend != Backend::automatic) return make(execution);

  SatPlan::State shapes;  // of no backend yet
  shapes.image = image, shapes.types = types, shapes.squares = squares, shapes.options = options;
  check_tables(shapes);
  policy::BackendQuestion question;
  question.read = bytes_of(image, types.input);
  if (options.mask) question.read += bytes_of(Shape{image.width, image.height, 1, image.batch}, Type::u8);
  question.written = bytes_of(shapes.table_shape(), types.table);
  if (squares) question.written += bytes_of(shapes.table_shape(), *squares);
  if (options.tilted) question.written += bytes_of(shapes.tilted_shape(), types.table);
  if (shapes.counts()) question.written += bytes_of(shapes.count_shape(), Type::u32);
  question.must_launch = static_cast<bool>(parameters.on_launch);
  question.has_progress = static_cast<bool>(options.progress);
  const auto lacks = [&](const Execution& named) {
    return Choice<kernels::Sat>::lacks(named, device_request(image, types, squares, options, parameters),
                                       device_ids(image, types, squares, options));
  };
  return automatic_plan("sat", options.algorithm, execution, question, lacks, make);
}

Shape SatPlan::State::table_shape() const {
  const std::int64_t more = options.border == Border::zero ? 1 : 0;
  return {image.width + more, image.height + more, image.channels, image.batch + (options.volume ? more : 0),
          options.tables};
}
Shape SatPlan::State::tilted_shape() const {
  return {image.width + 1, image.height + 1, image.channels, image.batch, options.tables};
}
Shape SatPlan::State::count_shape() const {
  Shape shape = table_shape();
  shape.channels = 1;
  return shape;
}

SatPlan::SatPlan(const Shape& image, Type input, const SatOptions& options, const Execution& execution)
    : SatPlan(plan_sat(image, input, options, execution)) {}
SatPlan::SatPlan(std::shared_ptr<const State> state) noexcept : Plan(std::move(state)) {}

const SatPlan::State& SatPlan::state() const noexcept { return static_cast<const State&>(*state_); }
const Shape& SatPlan::image_shape() const noexcept { return state().image; }
Shape SatPlan::table_shape() const noexcept { return state().table_shape(); }
Shape SatPlan::count_shape() const noexcept { return state().count_shape(); }
Shape SatPlan::tilted_shape() const noexcept { return state().tilted_shape(); }
TypePair SatPlan::types() const noexcept { return state().types; }
std::optional<Type> SatPlan::squares_type() const noexcept { return state().squares; }
const SatOptions& SatPlan::options() const noexcept { return state().options; }
std::uint64_t SatPlan::table_bytes() const {
  const State& s = state();
  std::uint64_t bytes = bytes_of(s.table_shape(), s.types.table);
  if (s.squares) bytes += bytes_of(s.table_shape(), *s.squares);
  if (s.options.tilted) bytes += bytes_of(s.tilted_shape(), s.types.table);
  if (s.counts()) bytes += bytes_of(s.count_shape(), Type::u32);
  return bytes;
}

}  // namespace areal
