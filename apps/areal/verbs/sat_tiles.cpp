#include "sat_tiles.hpp"

#include <CLI/CLI.hpp>
#include <areal/catalog.hpp>
#include <areal/info.hpp>
#include <areal/tiled.hpp>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>
#include "io/exact_sums.hpp"
#include "io/help.hpp"
#include "io/numbers.hpp"
#include "io/out.hpp"
#include "io/pixels.hpp"
#include "io/progress.hpp"
#include "io/types.hpp"
#include "media/media.hpp"

namespace areal::command {
namespace {
constexpr std::uint64_t small_bytes = 64 << 20;  // of an .npy: no device is asked whether its table fits
}

void TilesRequest::add_to(CLI::App& verb) {
  begin_group(verb, group::where);
  verb.add_option("--device-memory", device_memory,
                  "Of a device's memory take that much, for example 2G: a table that does not fit is made by tiles")
      ->type_name("BYTES");
  verb.add_option("--devices", devices,
                  "Make the table by tiles on all, or on several of cpu:THREADS, a CUDA device's number and simt")
      ->type_name("LIST");
}

namespace {

/// One image, mapped or in memory.
struct Pixels {
  std::unique_ptr<media::MappedArray> mapped;
  Array array;
  Shape shape;
  Type type = Type::u8;

  ConstView rows(std::int64_t first, std::int64_t count) const {
    const ConstView all = mapped ? mapped->view() : array.view();
    return ConstView(all.row(first), all.type, {all.shape.width, count}, all.row_pitch);
  }
};

/// Maps a single channel of an .npy. False for what must be read whole.
bool map(const InputOptions& input, Pixels& pixels) {
  if (input.path == "-" || !input.raw.empty() || !input.channel_text.empty() || input.volume || input.all_channels)
    return false;
  if (!media::is_npy(input.path)) return false;
  pixels.mapped = media::map_npy(input.path);
  pixels.shape = pixels.mapped->view().shape, pixels.type = pixels.mapped->view().type;
  if (pixels.shape.channels == 1 && pixels.shape.batch == 1) return true;
  pixels.mapped.reset();
  return false;
}

void read(const InputOptions& input, const Settings& settings, const char* option, Pixels& pixels) {
  const auto source = open_source(input, settings);
  if (source->is_sequence()) refuse(option, ": makes the tables of one image; ", input.path, " may have several");
  Item item;
  source->next(item);
  pixels.array = std::move(item.pixels);
  pixels.shape = pixels.array.shape(), pixels.type = pixels.array.type();
}

std::vector<Worker> workers_of(const TilesRequest& tiles, const Settings& settings) {
  if (!tiles.devices.empty()) return workers_named(tiles.devices);
  Worker worker{.backend = settings.backend, .device = settings.device, .threads = settings.threads};
  if (worker.backend == Backend::automatic) worker.backend = devices().empty() ? Backend::cpu : Backend::cuda;
  return {worker};
}

/// Of the device, or of the host.
std::uint64_t free_bytes(const Worker& worker) {
  std::uint64_t free = free_memory();
  if (worker.backend == Backend::cuda)
    for (const DeviceInfo& device : devices())
      if (device.number == worker.device) free = std::min(free, device.free_memory);
  return free;
}

media::TableFile description_of(const InputOptions& input, const TableRequest& table, const Pixels& pixels) {
  media::TableFile description;
  description.border = table.options.border;
  description.algorithm = table.options.algorithm + " by tiles";
  description.source = input.path == "-" ? "-" : std::filesystem::path(input.path).filename().string();
  description.image_width = pixels.shape.width, description.image_height = pixels.shape.height;
  return description;
}

}  // namespace

bool sat_by_tiles(const TilesRequest& tiles, const std::string& without, const InputOptions& input,
                  const std::string& output, const TableRequest& table, const Settings& settings) {
  const char* const option = !tiles.devices.empty() ? "--devices" : "--device-memory";
  const std::uint64_t limit = tiles.device_memory.empty() ? 0 : byte_size("--device-memory", tiles.device_memory);
  const Algorithm* const row = find_algorithm("sat", table.options.algorithm);
  const bool possible =
      without.empty() && std::filesystem::path(output).extension() == ".npy" && !(row != nullptr && row->plain_only);
  if (!tiles.asked() && !possible) return false;

  Pixels pixels;
  const bool mapped = map(input, pixels);
  if (!tiles.asked() && (!mapped || bytes_of(pixels.shape, pixels.type) < small_bytes)) return false;
  const std::vector<Worker> workers = workers_of(tiles, settings);
  const auto types_of_pixels = [&] {
    return types_for(table.types, pixels.shape, pixels.type, false, "pixels of " + input.path);
  };
  SatOptions options = table.options;
  if (mapped) {
    options.types = types_of_pixels();
    options.squares = squares_named(table.squares);
    const SatPlan whole(pixels.shape, options.types->input, options,
                        {.backend = workers[0].backend, .device = workers[0].device, .threads = workers[0].threads});
    const std::uint64_t needed =
        bytes_of(pixels.shape, options.types->input) + whole.table_bytes() + whole.workspace_bytes();
    if (tiles.devices.empty() && needed <= (limit == 0 ? free_bytes(workers[0]) : limit)) return false;
  }
  if (!without.empty()) refuse(option, ": ", without, " needs whole tables; by tiles there are sums and squares alone");
  if (!output.ends_with(".npy")) refuse(option, ": needs -o FILE.npy, where the tables by tiles go");
  if (!mapped) {
    read(input, settings, option, pixels);
    options.types = types_of_pixels();
    options.squares = squares_named(table.squares);
  }

  std::optional<ProgressBar> bar;
  options.progress = [&](std::int64_t done, std::int64_t total) {
    if (!bar) bar.emplace("tiles", total, settings.quiet);
    bar->update(done);
    return true;
  };
  const TypePair types = *options.types;
  const TiledSat tiled(pixels.shape, types.input, options,
                       {.workers = workers, .device_bytes = limit, .note = [&](const std::string& why) {
                          settings.note("{}: {}", input.path, why);
                        }});
  const TiledGrid& grid = tiled.grid();
  std::string names;
  for (const Worker& worker : workers) names += (names.empty() ? "" : ", ") + name_of(worker);
  settings.detail("{}: {}x{} {}, types {}, border {}, by tiles: {} x {} of {}x{}, on {}", input.path,
                  pixels.shape.width, pixels.shape.height, name_of(pixels.type), name_of(types),
                  name_of(options.border), grid.columns, grid.rows, grid.tile_width, grid.tile_height, names);

  media::TableFile description = description_of(input, table, pixels);
  description.run = media::new_run();
  SumTypes exact{types, tiled.squares_type(), range_of(types.input)};
  if (!exact.fits(pixels.shape.width * pixels.shape.height))
    exact.pixels = range_of(pixels.rows(0, pixels.shape.height));
  if (!is_float(types.input)) description.pixels = exact.pixels;
  std::vector<std::string> written;
  const auto writer = [&](const std::filesystem::path& path, const char* kind, Type type) {
    description.kind = kind;
    description.types = name_of(TypePair{types.input, type});
    description.companions.clear();
    if (path == output && tiled.squares_type()) description.companions.emplace_back("squares");
    written.push_back(path.string());
    Shape shape = tiled.table_shape();
    shape.layout = Layout::interleaved;  // numpy's (h, w)
    return media::TableWriter(path, shape, type, description);
  };
  media::TableWriter sum = writer(output, "sum", types.table);
  std::optional<media::TableWriter> squares;
  if (tiled.squares_type()) squares.emplace(writer(media::beside(output, "squares"), "squares", *tiled.squares_type()));
  Array wide;
  const ImageRows rows = [&](std::int64_t first, std::int64_t count) {
    const ConstView view = pixels.rows(first, count);
    if (types.input == view.type) return view;
    wide = converted(view, types.input);
    return std::as_const(wide).view();
  };
  tiled.pieces(rows, [&](const SatPiece& piece) {
    sum.write(piece.x, piece.y, piece.sum);
    if (squares) squares->write(piece.x, piece.y, piece.squares);
    return true;
  });
  bar.reset();
  sum.finish();
  if (squares) squares->finish();
  for (const std::string& path : written) settings.detail("wrote {}", path);
  if (!settings.json) return true;
  const nlohmann::ordered_json json{
      {"input", input.path},
      {"width", pixels.shape.width},
      {"height", pixels.shape.height},
      {"lane", name_of(types)},
      {"border", name_of(options.border)},
      {"algorithm", description.algorithm},
      {"tiles",
       {{"columns", grid.columns}, {"rows", grid.rows}, {"width", grid.tile_width}, {"height", grid.tile_height}}},
      {"tables", written}};
  write_out(json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  return true;
}

}  // namespace areal::command
