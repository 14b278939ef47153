// areal sat: saves summed-area tables, or answers from them.

#include <CLI/CLI.hpp>
#include <areal/catalog.hpp>
#include <cstring>
#include <nlohmann/json.hpp>
#include "io/answers.hpp"
#include "io/help.hpp"
#include "io/launch_table.hpp"
#include "io/numbers.hpp"
#include "io/out.hpp"
#include "io/pixels.hpp"
#include "io/progress.hpp"
#include "io/table_maker.hpp"
#include "io/takers.hpp"
#include "io/types.hpp"
#include "io/volume.hpp"
#include "region_strips.hpp"
#include "sat_chunked.hpp"
#include "sat_tiles.hpp"
#include "verbs.hpp"
#include "window_finite.hpp"

namespace areal::command {
namespace {

struct Request {
  InputOptions input;
  RegionOptions regions;
  std::string output, types, border = "zero", squares, mask, algorithm = "auto", scan = "kogge-stone", share = "0.25";
  std::vector<std::string> stat_texts;
  bool tilted = false, ignore_nan = false, interleaved = false, csv = false;
  std::vector<Stat> stats;  // of stat_texts
  TilesRequest tiles;
  ChunkedRequest chunked;
  LaunchTable launches;
};

TableRequest table_request(Request& request, const Settings& settings) {
  TableRequest table;
  table.types = parse_types(request.types);
  table.squares = request.squares;
  table.best_r = request.share == "best";
  SatOptions& options = table.options;
  const auto border = border_named(request.border);
  if (!border) refuse("--border ", request.border, ": may be zero, none or exclusive");
  options.border = *border;
  options.algorithm = request.algorithm;
  const auto scan = warp_scan_named(request.scan);
  if (!scan) refuse("--scan ", request.scan, ": may be kogge-stone or ladner-fischer");
  table.parameters.scan = *scan;
  if (table.best_r) {
    const Algorithm* const row = find_algorithm("sat", request.algorithm);
    if (row == nullptr || !row->takes.r) refuse("--r best: only ", takers(&AlgorithmOptions::r), " has it");
  } else {
    const double r = table.parameters.r = number("--r", request.share);
    if (!(r > 0 && r < 1)) refuse("--r ", request.share, ": may lie between 0 and 1, or be best");
  }
  options.tilted = request.tilted;
  options.mask = !request.mask.empty();
  options.ignore_nan = request.ignore_nan;
  options.volume = request.input.volume;
  options.tables = request.interleaved ? Layout::interleaved : Layout::planar;
  table.parameters.on_launch = request.launches.report(settings);
  return table;
}

void resolve(Request& request, const Settings& settings) {
  request.regions.resolve();
  request.stats = parse_stats(request.stat_texts);
  if (needs_squares(request.stats) && request.squares.empty()) request.squares = "auto";
  if (has(request.stats, Stat::tilted)) request.tilted = true;
  if (has(request.stats, Stat::tilted) && request.regions.clips())
    refuse("--outside clip and --stat tilted: rotated regions are not clipped");
  const bool masked = !request.mask.empty() || request.ignore_nan;
  if (has(request.stats, Stat::count) && !masked) refuse("--stat count: needs --mask or --ignore-nan");
  if (request.interleaved && !request.input.all_channels) refuse("--interleaved: needs --all-channels");
  if (request.interleaved && (request.regions.named() || request.output.empty()))
    refuse("--interleaved: only for -o; regions are answered from separate tables");
  if (request.csv && settings.json) refuse("--csv and --json: only one of the two");
  if (request.input.volume && !(request.stats.size() == 1 && request.stats[0] == Stat::sum))
    refuse("--volume: answers only sums");
}

Array mask_of(const std::string& path, const Settings& settings) {
  const Array image = load_plane(path, settings);
  Array mask(image.shape(), Type::u8);
  std::vector<double> row(static_cast<std::size_t>(image.shape().width));
  for (std::int64_t y = 0; y < image.shape().height; ++y) {
    load_row(image.view(), y, 0, 0, row);
    for (double& value : row) value = value != 0 ? 255 : 0;
    store_row(mask.view(), y, 0, 0, row);
  }
  return mask;
}

std::vector<std::string> write_tables(const Request& request, const TableMaker& maker) {
  std::vector<std::string> written;
  media::TableFile description;
  const SatTable& tables = maker.table();
  description.border = tables.border();
  description.algorithm = maker.algorithm();
  description.source = request.input.path == "-" ? "-" : std::filesystem::path(request.input.path).filename().string();
  description.image_width = tables.image_shape().width;
  description.image_height = tables.image_shape().height;
  auto write = [&](const std::filesystem::path& path, ConstView view, const char* kind, Type input) {
    description.kind = kind;
    description.types = name_of(TypePair{input, view.type});
    if (view.shape.channels == 1) view.shape.layout = Layout::interleaved;  // numpy's (h, w), not (1, h, w)
    media::write_table(path, view, description);
    written.push_back(path.string());
  };
  const Type input = tables.types().input;
  const std::filesystem::path path = request.output;
  const SatOptions& options = maker.plan().options();
  description.run = media::new_run();
  if (!is_float(input)) description.pixels = maker.sum_types().pixels;
  if (options.squares != Squares::no) description.companions.emplace_back("squares");
  if (options.mask || options.ignore_nan) description.companions.emplace_back("count");
  if (options.tilted) description.companions.emplace_back("tilted");
  write(path, tables.sum(), "sum", input);
  description.companions.clear();
  if (options.squares != Squares::no) write(media::beside(path, "squares"), tables.squares(), "squares", input);
  if (options.mask || options.ignore_nan) write(media::beside(path, "count"), tables.count(), "count", Type::u8);
  description.border = Border::zero;
  if (options.tilted) write(media::beside(path, "tilted"), tables.tilted(), "tilted", input);
  return written;
}

// One entry of an array, as the number that it is.
nlohmann::json entry(const ConstView& from, std::int64_t x, std::int64_t y, std::int64_t channel, std::int64_t n) {
  const char* at = static_cast<const char*>(from.row(y, channel, n)) + x * from.column_pitch();
  auto read = [&]<class T>(T value) {
    std::memcpy(&value, at, sizeof(T));
    return nlohmann::json(value);
  };
  switch (from.type) {
    case Type::u32:
      return read(std::uint32_t{});
    case Type::s32:
      return read(std::int32_t{});
    case Type::u64:
      return read(std::uint64_t{});
    case Type::s64:
      return read(std::int64_t{});
    case Type::f32:
      return read(float{});
    default:
      return read(double{});
  }
}

// The sum of all pixels of each channel: the table's last entry. Null where it may have wrapped, and for an exclusive
// table, which lacks it.
nlohmann::json totals(const SatTable& tables, const SumTypes& types) {
  const ConstView table = tables.sum();
  const Shape& image = tables.image_shape();
  if (tables.border() == Border::exclusive || !types.fits(image.width * image.height * image.batch)) return nullptr;
  nlohmann::json sums = nlohmann::json::array();
  for (std::int64_t c = 0; c < table.shape.channels; ++c)
    sums.push_back(table.shape.empty()
                       ? nlohmann::json(0)
                       : entry(table, table.shape.width - 1, table.shape.height - 1, c, table.shape.batch - 1));
  return sums.size() == 1 ? sums[0] : sums;
}

void summarise(Request& request, const TableMaker& maker, const ConstView& image,
               const std::vector<std::string>& written, const Settings& settings) {
  const SatPlan& plan = maker.plan();
  const std::string border(name_of(plan.options().border));
  const nlohmann::json sum = totals(maker.table(), maker.sum_types());
  if (!settings.json) {
    std::string line = fmt::format("{}: {}x{}", request.input.path, image.shape.width, image.shape.height);
    if (image.shape.channels > 1) line += fmt::format(", {} channels", image.shape.channels);
    if (plan.options().volume) line += fmt::format(", depth {}", image.shape.batch);
    line += fmt::format(", types {}, border {}, algorithm {} ({})", name_of(plan.types()), border, maker.algorithm(),
                        plan.reason());
    if (!sum.is_null()) line += ", sum " + sum.dump();
    write_out(line + fmt::format(", {:.3f} ms\n", maker.seconds() * 1e3));
    return;
  }
  nlohmann::ordered_json json{{"input", request.input.path},
                              {"width", image.shape.width},
                              {"height", image.shape.height},
                              {"channels", image.shape.channels},
                              {"depth", image.shape.batch},
                              {"lane", name_of(plan.types())},
                              {"border", border},
                              {"algorithm", maker.algorithm()},
                              {"reason", plan.reason()},
                              {"sum", nlohmann::ordered_json(sum)},
                              {"time_ms", maker.seconds() * 1e3},
                              {"tables", written}};
  if (!plan.options().volume) json.erase("depth");
  if (request.launches.asked()) json["launches"] = request.launches.take_json();
  write_out(json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

void answer(const Request& request, const TableMaker& maker, const std::vector<media::NamedRegion>& regions,
            const Item& item, bool is_sequence, RowWriter& rows, const Settings& settings) {
  const Shape& shape = item.pixels.shape();
  if (is_finite(maker.table())) {
    // As in every image of integers.
  } else if (request.input.volume || request.tilted || !request.mask.empty() || request.ignore_nan) {
    const char* const option = request.input.volume    ? "--volume"
                               : request.tilted        ? "--stat tilted"
                               : !request.mask.empty() ? "--mask"
                                                       : "--ignore-nan";
    refuse(option, ": ", request.input.path, " holds ", request.ignore_nan ? "infinity" : "NaN or infinity",
           ", which spreads to the regions right and below in a table");
  } else {
    auto prefix = [&](RowWriter& row, std::int64_t c) {
      put_frame(row, item, is_sequence);
      if (request.input.all_channels) row.put("channel", c);
    };
    return answer_from_pixels(rows, prefix, item.pixels.view(), regions, request.stats);
  }
  if (request.input.volume)
    return write_volume_answers(rows, {maker.table().sum(), maker.table().border()}, regions,
                                request.regions.query(settings));
  for (std::int64_t c = 0; c < shape.channels; ++c) {
    auto prefix = [&](RowWriter& row) {
      put_frame(row, item, is_sequence);
      if (request.input.all_channels) row.put("channel", c);
    };
    write_answers(rows, prefix, maker.table().view(c), regions, request.stats, request.regions.query(settings));
  }
}

// The first option that needs whole tables, or an empty text.
std::string needs_whole_tables(const Request& request, bool answers = false) {
  if (request.tilted) return "--tilted";
  if (!request.mask.empty()) return "--mask";
  if (request.ignore_nan) return "--ignore-nan";
  if (request.input.volume) return "--volume";
  if (request.input.all_channels && !answers) return "--all-channels";
  if (request.regions.named() && !answers) return "--region";
  if (!request.regions.draw.empty()) return "--draw";
  if (!request.stat_texts.empty() && !answers) return "--stat";
  if (request.launches.asked()) return "--count";
  return {};
}

/// The first option that a chunked table or, without a table, strips do not go with, or an empty text.
std::string not_chunked(const Request& request, bool by_strips) {
  if (!request.types.empty()) return "--types " + request.types;
  if (request.border != "zero" && request.border != "none") return "--border " + request.border;
  if (!request.squares.empty() && !by_strips) return "--squares";
  if (request.algorithm != "auto") return "--algorithm " + request.algorithm;
  if (request.tiles.asked()) return request.tiles.devices.empty() ? "--device-memory" : "--devices";
  return needs_whole_tables(request, by_strips);
}

void run(Request& request, const Settings& settings) {
  resolve(request, settings);
  std::vector<std::filesystem::path> outputs = media::files_of_table(request.output);
  outputs.emplace_back(request.regions.draw);
  media::require_other_files(outputs, {request.input.path, request.mask, request.regions.file});
  if (request.output.empty() && request.regions.named() && !request.chunked.memory.empty()) {
    if (const std::string without = not_chunked(request, true); !without.empty())
      refuse(without, ": not with --memory; strips answer sums, means, variances and std alone");
    return answer_by_strips(request.chunked.memory, request.input, request.regions, request.stats, settings);
  }
  if (sat_chunked(request.chunked, not_chunked(request, false), request.input, request.output, settings)) return;
  if (sat_by_tiles(request.tiles, needs_whole_tables(request), request.input, request.output,
                   table_request(request, settings), settings))
    return;
  TableMaker maker(table_request(request, settings));
  const Array mask = request.mask.empty() ? Array() : mask_of(request.mask, settings);
  const auto source = open_source(request.input, settings);
  const std::string& name = request.input.path;
  const bool is_sequence = source->is_sequence() && !request.input.volume;
  if (is_sequence && !request.output.empty())
    refuse("-o ", request.output, ": ", name,
           " has a table per frame; ask for regions, or for one table of all frames with --volume");

  RowWriter rows(settings.json);
  Item item;
  std::int64_t frames = 0;
  {
    ProgressBar bar("frames", source->count(), settings.quiet || !is_sequence);
    for (;; ++frames) {
      if (request.input.volume && frames == 0)
        item.pixels = gathered(*source, name, settings);
      else if (!source->next(item))
        break;
      const ConstView image = item.pixels.view();
      maker.make(image, request.mask.empty() ? ConstView() : ConstView(mask.view()), name, settings);
      const bool answers =
          is_sequence || request.regions.named() || (!request.stat_texts.empty() && !request.input.volume);
      std::vector<media::NamedRegion> room;
      const auto& regions = request.regions.for_image(image.shape, room);
      if (answers)
        require_exact(maker.sum_types(), plain(regions), request.stats, image.shape,
                      request.input.volume ? image.shape.batch : 1);
      if (frames == 0 && !request.regions.draw.empty())
        draw_to(request.regions.draw, request.input, settings, image, request.regions.regions);
      std::vector<std::string> written;
      if (!request.output.empty()) written = write_tables(request, maker);
      for (const std::string& path : written) settings.detail("wrote {}", path);
      if (answers)
        answer(request, maker, regions, item, is_sequence, rows, settings);
      else if (request.output.empty() || settings.json)
        summarise(request, maker, image, written, settings);
      request.launches.write(item, is_sequence, settings);
      if (is_sequence) flush_out();
      bar.update(frames + 1);
    }
  }
  if (!source->damage().empty()) {
    flush_out();
    throw IoError(source->damage());
  }
}

}  // namespace

void add_sat(CLI::App& app, Settings& settings) {
  CLI::App* verb = app.add_subcommand("sat", "Summed-area tables: save them, or query regions");
  auto request = std::make_shared<Request>();
  request->input.add_to(*verb);
  verb->add_flag("--volume", request->input.volume, "One table of all frames (or along the first axis of an .npy)");
  verb->add_option("--mask", request->mask, "Leave out pixels where this picture is 0; also the table of counts")
      ->type_name("IMG");
  verb->add_flag("--ignore-nan", request->ignore_nan, "Leave out NaN; also the table of counts");
  request->regions.add_to(*verb, true);
  begin_group(*verb, group::what);
  verb->add_option("--stat", request->stat_texts,
                   "sum, mean, variance, std, count or tilted; several separated by commas")
      ->type_name("NAME")
      ->allow_extra_args(false);
  add_types_to(*verb, request->types, "Types of pixels and sums, e.g. 8u32u, 32f64f");
  verb->add_option("--border", request->border, "Border of the table: zero (default), none or exclusive")
      ->type_name("NAME");
  verb->add_flag("--squares{auto}", request->squares, "Also make the table of squares; --squares=64u chooses its type");
  verb->add_flag("--tilted", request->tilted, "Also the table tilted by 45 degrees");
  begin_group(*verb, group::where);
  verb->add_option("--algorithm", request->algorithm, "auto (default) or an id of family sat in areal algorithms")
      ->type_name("ID");
  verb->add_option("--r", request->share,
                   "For " + takers(&AlgorithmOptions::r) +
                       ": the share of the image in its two triangles (0.25); best tries some and takes the best")
      ->type_name("R");
  verb->add_option("--scan,--warp-scan", request->scan,
                   "kogge-stone or ladner-fischer, for " + takers(&AlgorithmOptions::scan, " and "))
      ->type_name("NAME");
  request->tiles.add_to(*verb);
  begin_group(*verb, group::output);
  verb->add_option("-o,--output", request->output,
                   "Write the table: .npy or .tif, and a sidecar .json; or .zarr, a chunked table")
      ->type_name("FILE");
  request->chunked.add_to(*verb);
  verb->add_flag("--interleaved", request->interleaved, "With --all-channels: one interleaved table");
  request->launches.add_to(*verb);
  verb->add_flag("--csv", request->csv, "CSV on standard output (the default)");
  verb->footer(
      "Without -o and regions: one line about the image's table. For a video, a folder or a stream: a row for each\n"
      "frame and region. With -o a table of an .npy that does not fit a device is made by tiles, from the mapped "
      "file.\nWith -o T.zarr the image, also synthetic:WxH:SEED, is read by blocks and the table written in one pass, "
      "in "
      "bounded memory;\nareal query and areal info read it. With regions and --memory and without -o no table is made: "
      "the image passes\nonce, strip by strip.\n\n"
      "Example:\n  areal sat data/home.jpg --region 100,100,200,150 --stat sum,mean,std\n"
      "  areal sat data/home.jpg -o home.zarr --memory 1G");
  verb->callback([request, &settings] {
    settings.resolve();
    run(*request, settings);
  });
}

}  // namespace areal::command
