#include "sat_parts.hpp"

#include <areal/chunked_table.hpp>
#include <areal/info.hpp>
#include <areal/strips.hpp>
#include <areal/tiled.hpp>
#include <chrono>
#include <nlohmann/json.hpp>
#include "io/interrupt.hpp"
#include "io/json_line.hpp"
#include "io/memory_limit.hpp"
#include "io/numbers.hpp"
#include "io/progress.hpp"
#include "io/table_files.hpp"
#include "io/types.hpp"

namespace areal::command {
namespace {

using Json = nlohmann::ordered_json;

std::string names_of(const std::vector<Worker>& workers) {
  std::string names;
  for (const Worker& worker : workers) names += (names.empty() ? "" : ", ") + name_of(worker);
  return names;
}

/// The algorithm for a part of that size. Parts hand carries on, and `auto` chooses among the algorithms that take
/// carries only for tables with squares.
std::string algorithm_of(const Shape& part, Type input, SatOptions options, const Execution& execution) {
  if (options.squares == Squares::no && options.algorithm == "auto") options.squares = Squares::automatic;
  return SatPlan(part, input, options, execution).algorithm();
}

/// StripSat or TiledSat, by the route.
class Parts {
 public:
  Parts(Way way, const SatRequest& request, const Shape& shape, const SatOptions& options, std::uint64_t memory,
        const Limits& limits, const Progress& progress, const Settings& settings) {
    const Type input = options.types->input;
    PieceOptions how{.progress = progress};
    Shape part = shape;
    if (way == Way::strips) {
      how.workers = {settings.worker()}, how.memory = memory;
      strips_.emplace(shape, input, options, how);
      part.height = std::min(part.height, strips_->strip_height());
      algorithm_ = algorithm_of(part, input, options, {.backend = strips_->backend(), .device = settings.device});
      words_ = fmt::format("in strips of {} rows", strips_->strip_height());
      json_ = {{"height", strips_->strip_height()}};
    } else {
      how.workers = tile_workers(request, settings), how.memory = limits.device_memory;
      how.note = [&](const std::string& why) { settings.note("{}: {}", request.input.path, why); };
      tiles_.emplace(shape, input, options, how);
      const TiledGrid& grid = tiles_->grid();
      part.width = grid.tile_width, part.height = grid.tile_height;
      const Worker& first = how.workers[0];
      algorithm_ = algorithm_of(part, input, options, {.backend = first.backend, .device = first.device});
      words_ = fmt::format("by tiles: {} x {} of {}x{}, on {}", grid.columns, grid.rows, grid.tile_width,
                           grid.tile_height, names_of(how.workers));
      json_ = {
          {"columns", grid.columns}, {"rows", grid.rows}, {"width", grid.tile_width}, {"height", grid.tile_height}};
    }
  }

  std::string algorithm() const { return algorithm_ + (strips_ ? " by strips" : " by tiles"); }
  const std::string& words() const noexcept { return words_; }
  const char* key() const noexcept { return strips_ ? "strips" : "tiles"; }
  const Json& json() const noexcept { return json_; }
  std::optional<Type> squares_type() const { return strips_ ? strips_->squares_type() : tiles_->squares_type(); }
  Shape table_shape() const { return strips_ ? strips_->table_shape() : tiles_->table_shape(); }
  Shape count_shape() const { return strips_ ? strips_->count_shape() : tiles_->count_shape(); }

  void run(const InputImage& image, Type input, const ImageReader& mask, TableFiles& files) {
    const PieceSink sink = [&](const Piece& piece) {
      files.put(piece.x, piece.y, piece.values, piece.squares, piece.count);
      return true;
    };
    if (strips_) return strips_->run(image.reader(input), sink, mask);
    tiles_->pieces(image.reader(input), sink, mask);
  }

 private:
  std::optional<StripSat> strips_;
  std::optional<TiledSat> tiles_;
  std::string algorithm_, words_;
  Json json_;
};

}  // namespace

std::vector<Worker> tile_workers(const SatRequest& request, const Settings& settings) {
  if (!request.devices.empty()) return workers_named(request.devices);
  Worker worker = settings.worker();
  if (worker.backend == Backend::automatic) worker.backend = devices().empty() ? Backend::cpu : Backend::cuda;
  return {worker};
}

void table_by_parts(Way way, const SatRequest& request, const TableRequest& table, const InputImage& image,
                    const Limits& limits, const Settings& settings) {
  const Shape shape = image.shape();
  const std::string& name = request.input.path;
  SatOptions options = table.options;
  options.types = types_for(table.types, shape, image.type(), false, "pixels of " + name);
  options.squares = squares_named(table.squares);
  const TypePair types = *options.types;
  std::optional<InputImage> mask;
  if (!request.mask.empty()) mask.emplace(plane_options(request.mask), limits.memory / 4, settings);

  if (mask && (mask->shape().width != shape.width || mask->shape().height != shape.height))
    refuse(fmt::format("--mask {}: is {}x{}, and {} is {}x{}", request.mask, mask->shape().width, mask->shape().height,
                       name, shape.width, shape.height));

  WorkBar bar(way == Way::strips ? "rows" : "tiles", settings.quiet);
  const std::uint64_t memory =
      memory_left(limits, image.memory() + (mask ? mask->memory() : 0), "the image and its mask");
  Parts parts(way, request, shape, options, memory, limits, bar.progress(), settings);
  settings.detail("{}: {}x{} {}, types {}, border {}, {}", name, shape.width, shape.height, name_of(image.type()),
                  name_of(types), name_of(options.border), parts.words());

  SumTypes exact{types, parts.squares_type(), range_of(types.input)};
  if (!exact.fits(shape.width * shape.height)) {
    exact.pixels = {};
    image.each_band(settings, [&](const ConstView& band) { exact.pixels = union_of(exact.pixels, range_of(band)); });
  }
  TableFiles files(request.output, request.input, shape, exact, options.border, parts.algorithm());
  const bool counts = options.mask || options.ignore_nan;
  files.open(parts.table_shape(), exact.squares.has_value(),
             counts ? std::optional(parts.count_shape()) : std::nullopt);
  parts.run(image, types.input, mask ? mask_reader(*mask) : ImageReader(), files);
  bar.wipe();
  files.finish();
  for (const std::string& path : files.names()) settings.detail("wrote {}", path);
  if (settings.json)
    write_json(Json{{"input", name},
                    {"width", shape.width},
                    {"height", shape.height},
                    {"lane", name_of(types)},
                    {"border", name_of(options.border)},
                    {"algorithm", parts.algorithm()},
                    {parts.key(), parts.json()},
                    {"tables", files.names()}});
}

void chunked_table(const SatRequest& request, const InputImage& image, const Limits& limits, const Settings& settings) {
  if ((request.resume || request.repair) && request.overwrite)
    refuse(request.resume ? "--resume" : "--repair", " and --overwrite: only one of the two");
  const std::int64_t tile = request.tile.empty() ? 0 : whole_number("--tile", request.tile, 1);
  ChunkedWriteOptions options{.tile = tile,
                              .memory = memory_left(limits, image.memory(), "reading the image"),
                              .threads = settings.threads,
                              .resume = request.resume || request.repair,
                              .repair = request.repair,
                              .overwrite = request.overwrite,
                              .sync = media::outputs_are_synced()};
  if (options.memory > 0)
    if (const std::uint64_t least = least_chunked_memory(image.shape(), image.type(), tile); options.memory < least)
      throw OutOfMemory(fmt::format("{}: at least {}M are needed, of which {}M to read the image", limits.memory_option,
                                    ((process_bytes + least + image.memory()) >> 20) + 1, (image.memory() >> 20) + 1),
                        process_bytes + least + image.memory());
  const auto start = std::chrono::steady_clock::now();
  const InterruptScope interrupt;
  WorkBar bar("blocks", settings.quiet, true);
  options.note = [&](const std::string& sentence) {
    bar.wipe();
    settings.note("{}", sentence);
  };
  options.progress = [&](std::int64_t done, std::int64_t total) {
    bar.update(done, total);
    return !interrupt.interrupted();
  };
  try {
    write_chunked_table(request.output, image.shape(), image.type(), image.reader(), options);
  } catch (const Cancelled&) {
    bar.wipe();
    settings.note("{}: interrupted, and not complete; the same call with --resume goes on", request.output);
    interrupt.end_if_interrupted();
  }
  bar.wipe();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (!settings.json) return settings.detail("wrote {} in {:.1f} s", request.output, seconds);
  const ChunkedTable table(request.output);
  write_json(Json{{"input", request.input.path},
                  {"width", table.shape().width},
                  {"height", table.shape().height},
                  {"dtype", table.dtype()},
                  {"tile", table.tile()},
                  {"time_ms", seconds * 1e3},
                  {"tables", {request.output}}});
}

}  // namespace areal::command
