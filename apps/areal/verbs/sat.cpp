// areal sat: saves summed-area tables, or answers from them.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <areal/catalog.hpp>
#include <areal/info.hpp>
#include <nlohmann/json.hpp>
#include "io/algorithms_taking.hpp"
#include "io/help.hpp"
#include "io/input_image.hpp"
#include "io/json_line.hpp"
#include "io/json_number.hpp"
#include "io/numbers.hpp"
#include "io/out.hpp"
#include "io/progress.hpp"
#include "io/routing.hpp"
#include "io/table_files.hpp"
#include "io/types.hpp"
#include "io/volume.hpp"
#include "region_answers.hpp"
#include "sat_parts.hpp"
#include "verbs.hpp"
#include "window_finite.hpp"

namespace areal::command {
namespace {

TableRequest table_request(SatRequest& request, const Settings& settings) {
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
    if (row == nullptr || !row->takes.r) refuse("--r best: only ", algorithms_taking(&AlgorithmOptions::r), " has it");
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

void resolve(SatRequest& request, const Settings& settings) {
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

Array mask_of(const SatRequest& request, const Settings& settings) {
  const InputImage image(plane_options(request.mask), 0, settings);
  Array mask(Shape{image.shape().width, image.shape().height}, Type::u8);
  mask_reader(image)(0, 0, mask.view());
  return mask;
}

std::vector<std::string> write_tables(const SatRequest& request, const TableMaker& maker) {
  const SatTable& tables = maker.table();
  TableFiles files(request.output, request.input, tables.image_shape(), maker.sum_types(), tables.border(),
                   maker.algorithm());
  files.write(tables, maker.plan().options());
  return files.names();
}

// The sum of all pixels of each channel: the table's last entry. Null if it may have wrapped, and for an exclusive
// table, which has no such entry.
nlohmann::json totals(const SatTable& tables, const SumTypes& types) {
  const ConstView table = tables.sum();
  const Shape& image = tables.image_shape();
  if (tables.border() == Border::exclusive || !types.fits(image.width * image.height * image.batch)) return nullptr;
  nlohmann::json sums = nlohmann::json::array();
  for (std::int64_t c = 0; c < table.shape.channels; ++c) {
    const auto last = [&] {
      return static_cast<const char*>(table.row(table.shape.height - 1, c, table.shape.batch - 1)) +
             (table.shape.width - 1) * table.column_pitch();
    };
    sums.push_back(table.shape.empty() ? nlohmann::json(0) : json_number(table.type, last()));
  }
  return sums.size() == 1 ? sums[0] : sums;
}

void summarise(SatRequest& request, const TableMaker& maker, const ConstView& image,
               const std::vector<std::string>& written, const Settings& settings) {
  const SatPlan& plan = maker.plan();
  const std::string border(name_of(plan.options().border));
  const nlohmann::json sum = totals(maker.table(), maker.sum_types());
  if (!settings.json) {
    std::string line = fmt::format("{}: {}x{}", printable(request.input.path), image.shape.width, image.shape.height);
    if (image.shape.channels > 1) line += fmt::format(", {} channels", image.shape.channels);
    if (plan.options().volume) line += fmt::format(", depth {}", image.shape.batch);
    line += fmt::format(", types {}, border {}, algorithm {} ({})", name_of(plan.types()), border, maker.algorithm(),
                        plan.reason());
    if (!sum.is_null()) line += ", sum " + json_text(sum);
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
  if (request.launches.enabled()) json["launches"] = request.launches.take_json();
  write_json(json);
}

void answer(const SatRequest& request, const TableMaker& maker, const std::vector<media::NamedRegion>& regions,
            const Item& item, bool is_sequence, RowWriter& rows, const Settings& settings) {
  const Shape& shape = item.pixels.shape();
  if (!is_finite(maker.table())) {
    const char* const option = request.input.volume    ? "--volume"
                               : request.tilted        ? "--stat tilted"
                               : !request.mask.empty() ? "--mask"
                               : request.ignore_nan    ? "--ignore-nan"
                                                       : nullptr;
    if (option != nullptr)
      refuse(option, ": ", request.input.path,
             ": its sums are not finite, as NaN and infinity spread to the regions right and below in a table");
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

// Processes whole images, one by one. Sets `written` before the first row or file.
void run_whole(SatRequest& request, const TableRequest& table, Source& images, bool& written,
               const Settings& settings) {
  TableMaker maker(table);
  const Array mask = request.mask.empty() ? Array() : mask_of(request, settings);
  const std::string& name = request.input.path;
  const bool is_sequence = images.is_sequence() && !request.input.volume;
  if (is_sequence && !request.output.empty()) require_answered(Product::table, Way::frames, {}, name);

  RowWriter rows(settings.json);
  Item item;
  std::int64_t frames = 0;
  {
    ProgressBar bar("frames", images.count(), settings.quiet || !is_sequence);
    for (;; ++frames) {
      if (request.input.volume && frames == 0)
        item.pixels = gather_volume(images, name, table.memory, settings);
      else if (!images.next(item))
        break;
      const ConstView image = item.pixels.view();
      maker.make(image, request.mask.empty() ? ConstView() : ConstView(mask.view()), name, settings);
      const bool answers =
          is_sequence || request.regions.named() || (!request.stat_texts.empty() && !request.input.volume);
      std::vector<media::NamedRegion> buffer;
      const auto& regions = request.regions.for_image(image.shape, buffer);
      // query takes the table of a single frame for that of an image.
      if (request.input.volume && (answers || image.shape.batch == 1))
        require_last_frame("--volume", maker.table().border());
      if (answers)
        require_exact(maker.sum_types(), plain(regions), request.stats, image.shape,
                      request.input.volume ? image.shape.batch : 1);
      // Before anything is written. Tilted regions have other bounds.
      if (request.regions.named() && !has(request.stats, Stat::tilted))
        for (std::size_t i = 0; i < regions.size(); ++i)
          checked_region(regions[i].region, static_cast<std::int64_t>(i), image.shape.width, image.shape.height,
                         Outside::error, maker.table().border());
      written = true;
      std::vector<std::string> files;
      if (!request.output.empty()) files = write_tables(request, maker);
      for (const std::string& path : files) settings.detail("wrote {}", path);
      if (answers)
        answer(request, maker, regions, item, is_sequence, rows, settings);
      else if (request.output.empty() || settings.json)
        summarise(request, maker, image, files, settings);
      if (frames == 0 && !request.regions.draw.empty())
        draw_to(request.regions.draw, request.input, settings, image, request.regions.regions);
      request.launches.write(item, is_sequence, settings);
      if (is_sequence) flush_out();
      bar.update(frames + 1);
    }
  }
  if (!images.damage().empty()) {
    flush_out();
    throw IoError(images.damage());
  }
}

/// Memory of the image and its tables; 0 if the image's size is unknown before it is read.
std::uint64_t whole_bytes(const SatRequest& request, const TableRequest& table, const InputFacts& facts,
                          const std::optional<InputImage>& image, const Settings& settings) {
  constexpr std::uint64_t small_bytes = 64 << 20;  // the tables of a smaller .npy fit any machine
  Shape shape;
  Type type = Type::u8;
  if (image) {
    shape = image->shape(), type = image->type();
  } else if (std::error_code error; facts.is_array && !request.output.empty() &&
                                    std::filesystem::file_size(request.input.path, error) >= small_bytes) {
    const auto stored = media::map_npy(request.input.path);
    shape = stored->view().shape, type = stored->view().type;
    if (!request.input.all_channels) shape.channels = 1;
  } else {
    return 0;
  }
  if (shape.batch != 1) return 0;
  SatOptions options = table.options;
  options.types = types_for(table.types, shape, type, options.volume, "pixels of " + request.input.path);
  options.squares = squares_named(table.squares);
  const SatPlan plan = research::sat_plan(shape, options.types->input, options, table.parameters, settings.execution());
  return bytes_of(shape, type) + (type == options.types->input ? 0 : bytes_of(shape, options.types->input)) +
         plan.table_bytes() + plan.workspace_bytes();
}

void run(SatRequest& request, std::vector<GivenOption> options, const Settings& settings) {
  resolve(request, settings);
  std::vector<std::filesystem::path> outputs = media::files_of_table(request.output);
  outputs.emplace_back(request.regions.draw);
  media::require_other_files(outputs, {request.input.path, request.mask, request.regions.file});
  if (request.output.empty() && !request.regions.named() && request.stat_texts.empty())
    options.push_back({"a line about the table"});
  if (const Algorithm* const row = find_algorithm("sat", request.algorithm); row != nullptr && row->plain_only)
    options.push_back(papers_algorithm(request.algorithm));
  Limits limits = limits_of(request.memory, request.devices, request.device_memory, settings);
  TableRequest table = table_request(request, settings);
  table.memory = limits.memory, table.memory_option = limits.memory_option;
  const InputFacts facts = facts_of(request.input);
  RouteRequest route_request{request.output.empty() ? Product::sums : Product::table, request.output,
                             std::move(options)};
  std::optional<InputImage> image;
  const auto opened = [&]() -> const InputImage& {
    if (!image) image.emplace(request.input, limits.memory / 4, settings);
    return *image;
  };
  const bool is_one = !facts.only_way && !request.input.volume;
  if (is_one && ((limits.memory > 0 && !facts.is_stream) || !limits.tiles_option.empty())) opened();
  route_request.whole_bytes = whole_bytes(request, table, facts, image, settings);
  // With backend auto the tables may be on a device: they must fit its memory, too.
  if (route_request.whole_bytes > 0 && settings.backend == Backend::automatic)
    for (const DeviceInfo& device : devices())
      if (device.number == settings.device) limits.free = std::min(limits.free, device.free_memory);
  bool written = false;
  run_by_route(facts, route_request, limits, written, settings, [&](Way way) {
    if (way == Way::chunked) return chunked_table(request, opened(), limits, settings);
    if (way == Way::strips && request.output.empty())
      return answer_by_strips(request.input, opened(), limits, request.regions, request.stats, settings);
    if (way == Way::strips || way == Way::tiles) return table_by_parts(way, request, table, opened(), limits, settings);
    const auto images = image ? source_of(image->whole()) : open_source(request.input, settings);
    run_whole(request, table, *images, written, settings);
  });
}

}  // namespace

void add_sat(CLI::App& app, Settings& settings) {
  CLI::App* verb = app.add_subcommand("sat", "Summed-area tables: save them, or query regions");
  auto request = std::make_shared<SatRequest>();
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
                   "For " + algorithms_taking(&AlgorithmOptions::r) +
                       ": the share of the image in its two triangles (0.25); best tries several and uses the best")
      ->type_name("R");
  verb->add_option("--scan,--warp-scan", request->scan,
                   "kogge-stone or ladner-fischer, for " + algorithms_taking(&AlgorithmOptions::scan, " and "))
      ->type_name("NAME");
  verb->add_option("--device-memory", request->device_memory,
                   "Use at most this much memory of a device, for example 2G: larger tables are made in tiles")
      ->type_name("BYTES");
  verb->add_option(
          "--devices", request->devices,
          "Make the table in tiles on these workers: all, or a list of cpu:THREADS, CUDA device numbers and simt")
      ->type_name("LIST");
  verb->add_option("--memory", request->memory,
                   "Use at most this much memory, for example 4G: larger images are processed in strips")
      ->type_name("BYTES");
  begin_group(*verb, group::output);
  verb->add_option("-o,--output", request->output,
                   "Write the table: .npy or .tif, and a sidecar .json; or .zarr, a chunked table")
      ->type_name("FILE");
  verb->add_option("--tile", request->tile,
                   "With -o T.zarr: pixels along a side of a tile, a power of two (1024; 256 for 16u)")
      ->type_name("N");
  verb->add_flag("--resume", request->resume, "With -o T.zarr: continue an interrupted call");
  verb->add_flag("--repair", request->repair,
                 "With -o T.zarr: as --resume; check a complete table, too, and make its damaged parts again");
  verb->add_flag("--overwrite", request->overwrite, "With -o T.zarr: replace an existing chunked table");
  verb->add_flag("--interleaved", request->interleaved, "With --all-channels: one interleaved table");
  request->launches.add_to(*verb);
  verb->add_flag("--csv", request->csv, "CSV on standard output (the default)");
  verb->footer(
      "Without -o and regions: one line about the image's table. For a video, a folder or a stream: a row for each\n"
      "frame and region. With --memory the image, also synthetic:WxH:SEED, is read by strips; neither it nor its "
      "table\n"
      "is ever in memory as a whole. Requests that strips do not support use the whole image if it fits the limit.\n"
      "Without --memory, -o makes a table in parts if it does not fit. -o T.zarr writes a chunked table for areal\n"
      "query and areal info. -v prints how the input was processed, and why.\n\n"
      "Example:\n  areal sat data/home.jpg --region 100,100,200,150 --stat sum,mean,std\n"
      "  areal sat data/home.jpg -o home.zarr --memory 1G");
  verb->callback([request, verb, &settings] {
    settings.resolve();
    run(*request, given_options(*verb, settings), settings);
  });
}

}  // namespace areal::command
