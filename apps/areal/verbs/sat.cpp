// areal sat: summed-area tables, saved or asked.

#include <CLI/CLI.hpp>
#include <areal/catalog.hpp>
#include <areal/info.hpp>
#include <cstring>
#include <nlohmann/json.hpp>
#include "io/answers.hpp"
#include "io/launch_table.hpp"
#include "io/numbers.hpp"
#include "io/out.hpp"
#include "io/pixels.hpp"
#include "io/progress.hpp"
#include "io/table_maker.hpp"
#include "io/takers.hpp"
#include "verbs.hpp"

namespace areal::command {
namespace {

struct Request {
  InputOptions input;
  RegionOptions regions;
  std::string output, types, border = "zero", squares, mask, algorithm = "auto", scan = "kogge-stone", share = "0.25";
  std::vector<std::string> stat_texts;
  bool tilted = false, ignore_nan = false, interleaved = false, csv = false;
  std::vector<Stat> stats;  // of stat_texts
  LaunchTable launches;
  bool best_r() const { return share == "best"; }
};

SatOptions sat_options(Request& request, const Settings& settings) {
  SatOptions options;
  const auto border = border_named(request.border);
  if (!border) refuse("--border ", request.border, ": may be zero, none or exclusive");
  options.border = *border;
  options.algorithm = request.algorithm;
  const auto scan = warp_scan_named(request.scan);
  if (!scan) refuse("--scan ", request.scan, ": may be kogge-stone or ladner-fischer");
  options.scan = *scan;
  if (request.best_r()) {
    const Algorithm* const row = find_algorithm("sat", request.algorithm);
    if (row == nullptr || !row->takes.r) refuse("--r best: only ", takers(&AlgorithmOptions::r), " has it");
  } else {
    options.r = number("--r", request.share);
    if (!(options.r > 0 && options.r < 1)) refuse("--r ", request.share, ": may lie between 0 and 1, or be best");
  }
  options.backend = settings.backend;
  options.device = settings.device;
  options.threads = settings.threads;
  options.tilted = request.tilted;
  options.mask = !request.mask.empty();
  options.ignore_nan = request.ignore_nan;
  options.volume = request.input.volume;
  options.tables = request.interleaved ? Layout::interleaved : Layout::planar;
  options.launched = request.launches.report(settings);
  return options;
}

void resolve(Request& request, const Settings& settings) {
  request.regions.resolve();
  request.stats = parse_stats(request.stat_texts);
  if (needs_squares(request.stats) && request.squares.empty()) request.squares = "auto";
  if (has(request.stats, Stat::tilted)) request.tilted = true;
  const bool masked = !request.mask.empty() || request.ignore_nan;
  if (has(request.stats, Stat::count) && !masked) refuse("--stat count: needs --mask or --ignore-nan");
  if (request.interleaved && !request.input.all_channels) refuse("--interleaved: needs --all-channels");
  if (request.interleaved && (request.regions.named() || request.output.empty()))
    refuse("--interleaved: is for -o alone; regions are answered from separate tables");
  if (request.csv && settings.json) refuse("--csv and --json: only one of the two");
  if (request.input.volume && !(request.stats.size() == 1 && request.stats[0] == Stat::sum))
    refuse("--volume: answers sums alone");
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

// Throws unless the frame has the size, channels and type of the first one. The sentence names only what differs.
void require_alike(const Array& first, const Item& item, const std::string& name) {
  const Shape &a = first.shape(), &b = item.pixels.shape();
  const auto differs = [&](const std::string& what, const std::string& of_first) {
    throw IoError(fmt::format("{}: frame {} {}, the first {}: a volume needs one size and type", name, item.number,
                              what, of_first));
  };
  if (a.width != b.width || a.height != b.height)
    differs(fmt::format("is {}x{}", b.width, b.height), fmt::format("is {}x{}", a.width, a.height));
  if (a != b) differs(fmt::format("has channels: {}", b.channels), fmt::format("has {}", a.channels));
  if (first.type() != item.pixels.type())
    differs(fmt::format("is of {}", name_of(item.pixels.type())), fmt::format("is of {}", name_of(first.type())));
}

// The frames of a sequence, one after another, as the slices of a volume.
Array gathered(Source& source, const std::string& name, const Settings& settings) {
  Item item;
  std::vector<Array> slices;
  const std::uint64_t most = free_memory() / 2;  // the slices are copied together once
  std::uint64_t bytes = 0;
  ProgressBar bar("frames", source.count(), settings.quiet);
  while (source.next(item)) {
    if (!slices.empty()) require_alike(slices[0], item, name);
    bytes += item.pixels.bytes();
    if (bytes > most)
      throw OutOfMemory(fmt::format("{}: its first {} frames take {} bytes, more than half of what is free", name,
                                    slices.size() + 1, bytes),
                        bytes);
    slices.push_back(std::move(item.pixels));
    bar.update(static_cast<std::int64_t>(slices.size()));
  }
  if (slices.size() == 1) return std::move(slices[0]);
  if (slices.empty()) throw IoError(name + ": holds no frames");
  Shape shape = slices[0].shape();
  shape.batch = static_cast<std::int64_t>(slices.size());
  Array volume(shape, slices[0].type());
  char* to = static_cast<char*>(volume.data());
  for (Array& slice : slices) {
    std::memcpy(to, slice.data(), slice.bytes());
    to += slice.bytes();
    slice = Array();
  }
  return volume;
}

// T.npy and "squares": T.squares.npy.
std::filesystem::path beside(const std::filesystem::path& path, const std::string& part) {
  return path.parent_path() / (path.stem().string() + "." + part + path.extension().string());
}

std::vector<std::string> write_tables(const Request& request, const TableMaker& maker, const ConstView& image) {
  std::vector<std::string> written;
  media::TableFile description;
  description.border = maker.plan().options().border;
  description.algorithm = maker.plan().algorithm();
  description.source = request.input.path == "-" ? "-" : std::filesystem::path(request.input.path).filename().string();
  description.image_width = image.shape.width;
  description.image_height = image.shape.height;
  auto write = [&](const std::filesystem::path& path, const Array& table, const char* kind, const std::string& types) {
    description.kind = kind;
    description.types = types;
    ConstView view = table.view();
    if (view.shape.channels == 1) view.shape.layout = Layout::interleaved;  // numpy's (h, w), not (1, h, w)
    media::write_table(path, view, description);
    written.push_back(path.string());
  };
  const TypePair types = maker.plan().types();
  const SatOptions& options = maker.plan().options();
  const std::filesystem::path path = request.output;
  write(path, maker.sum(), "sum", name_of(types));
  if (options.squares)
    write(beside(path, "squares"), maker.squares(), "squares", name_of(TypePair{types.input, *options.squares}));
  if (options.mask || options.ignore_nan)
    write(beside(path, "count"), maker.count(), "count", name_of(TypePair{Type::u8, Type::u32}));
  if (options.tilted) {
    description.border = Border::zero;
    write(beside(path, "tilted"), maker.tilted(), "tilted", name_of(types));
  }
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

// The sum of all pixels of each channel: the table's last entry. An exclusive table does not know it.
nlohmann::json totals(const TableMaker& maker) {
  const ConstView table = maker.sum().view();
  if (maker.plan().options().border == Border::exclusive) return nullptr;
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
  const nlohmann::json sum = totals(maker);
  if (!settings.json) {
    std::string line = fmt::format("{}: {}x{}", request.input.path, image.shape.width, image.shape.height);
    if (image.shape.channels > 1) line += fmt::format(", {} channels", image.shape.channels);
    if (plan.options().volume) line += fmt::format(", depth {}", image.shape.batch);
    line += fmt::format(", types {}, border {}, algorithm {} ({})", name_of(plan.types()), border, plan.algorithm(),
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
                              {"algorithm", plan.algorithm()},
                              {"reason", plan.reason()},
                              {"sum", sum},
                              {"time_ms", maker.seconds() * 1e3},
                              {"tables", written}};
  if (!plan.options().volume) json.erase("depth");
  if (request.launches.asked()) json["launches"] = request.launches.take_json();
  write_out(json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

void answer(const Request& request, const TableMaker& maker, const Item& item, bool is_sequence, RowWriter& rows,
            const Settings& settings) {
  const Shape& shape = item.pixels.shape();
  const auto regions = request.regions.named() ? request.regions.regions : whole(shape.width, shape.height);
  for (std::int64_t c = 0; c < shape.channels; ++c) {
    auto prefix = [&](RowWriter& row) {
      put_frame(row, item, is_sequence);
      if (request.input.all_channels) row.put("channel", c);
    };
    write_answers(rows, prefix, maker.of_channel(c), regions, request.stats, request.regions.outside, settings.threads);
  }
}

void run(Request& request, const Settings& settings) {
  resolve(request, settings);
  TableMaker maker(sat_options(request, settings), request.types, request.squares, request.best_r());
  const Array mask = request.mask.empty() ? Array() : mask_of(request.mask, settings);
  const auto source = open_source(request.input, settings);
  const std::string& name = request.input.path;
  const bool is_sequence = source->is_sequence() && !request.input.volume;
  if (is_sequence && !request.output.empty())
    refuse("-o ", request.output, ": ", name,
           " has a table per frame; ask for regions, or for one table over all frames with --volume");

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
      if (frames == 0 && !request.regions.draw.empty())
        draw_to(request.regions.draw, request.input, settings, image, request.regions.regions);
      std::vector<std::string> written;
      if (!request.output.empty()) written = write_tables(request, maker, image);
      for (const std::string& path : written) settings.detail("wrote {}", path);
      if (request.input.volume && request.regions.named())
        write_volume_answers(rows, maker.sum().view(), maker.plan().options().border, request.regions.regions,
                             request.regions.outside);
      else if (is_sequence || request.regions.named() || (!request.stat_texts.empty() && !request.input.volume))
        answer(request, maker, item, is_sequence, rows, settings);
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
  CLI::App* verb = app.add_subcommand("sat", "Summed-area tables: save them, or ask them about regions");
  auto request = std::make_shared<Request>();
  request->input.add_to(*verb);
  verb->add_option("-o,--output", request->output, "Write the table: .npy or .tif, and a sidecar .json")
      ->type_name("FILE");
  verb->add_option("--types", request->types, "Input and table type, e.g. 8u32u, 32f64f")->type_name("TYPES");
  verb->add_option("--border", request->border, "zero, none or exclusive")->type_name("NAME");
  verb->add_flag("--squares{auto}", request->squares, "Also the table of squares; --squares=64u names its type");
  verb->add_flag("--tilted", request->tilted, "Also the table tilted by 45 degrees");
  verb->add_option("--mask", request->mask, "Leave out pixels where this picture is 0; also the table of counts")
      ->type_name("IMG");
  verb->add_flag("--ignore-nan", request->ignore_nan, "Leave out NaN; also the table of counts");
  verb->add_flag("--volume", request->input.volume, "One table over all frames (or the first axis of an .npy)");
  verb->add_flag("--interleaved", request->interleaved, "With --all-channels: one interleaved table");
  verb->add_option("--algorithm", request->algorithm, "An id of areal algorithms, family sat")->type_name("ID");
  verb->add_option("--r", request->share,
                   "For " + takers(&AlgorithmOptions::r) +
                       ": the share of the image that its triangles have (0.25); best tries some")
      ->type_name("R");
  verb->add_option("--scan,--warp-scan", request->scan,
                   "kogge-stone or ladner-fischer, for " + takers(&AlgorithmOptions::scan, " and "))
      ->type_name("NAME");
  request->launches.add_to(*verb);
  request->regions.add_to(*verb, true);
  verb->add_option("--stat", request->stat_texts, "sum, mean, variance, std, count or tilted; many with commas")
      ->type_name("NAME")
      ->allow_extra_args(false);
  verb->add_flag("--csv", request->csv, "CSV on standard output (the default)");
  verb->footer(
      "With no -o and no region: one line on the image's table. A video, a folder or a stream gives rows per\n"
      "frame and region.\n\nExample:\n  areal sat data/home.jpg --region 100,100,200,150 --stat sum,mean,std");
  verb->callback([request, &settings] {
    settings.resolve();
    run(*request, settings);
  });
}

}  // namespace areal::command
