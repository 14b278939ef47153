// areal query: answers from saved tables, and from pictures of any size.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <areal/error.hpp>
#include <areal/region_histogram.hpp>
#include <cmath>
#include "hist_quantile.hpp"
#include "hist_reduce.hpp"
#include "io/answers.hpp"
#include "io/chart.hpp"
#include "io/exact_sums.hpp"
#include "io/help.hpp"
#include "io/input_image.hpp"
#include "io/numbers.hpp"
#include "io/out.hpp"
#include "io/routing.hpp"
#include "io/synthetic.hpp"
#include "query_chunked.hpp"
#include "region_answers.hpp"
#include "verbs.hpp"

namespace areal::command {
namespace {

namespace fs = std::filesystem;

struct QueryRequest {
  RegionOptions regions;
  Reducers reducers;
  QuantileOptions quantiles;
  InputOptions picture;  // `path` is TABLE
  std::string squares, count;
  std::vector<std::string> stat_texts;
  bool csv = false, chart = false, is_picture = false;
  std::string memory;
  bool unchecked = false;
};

// Reads a table and checks that it belongs to the image and the run of `sum`.
media::TableFile read(const fs::path& path, const std::string& kind, const media::TableFile& sum,
                      std::uint64_t memory) {
  media::TableFile file = media::read_table(path, memory);
  if (file.kind != kind) refuse(path.string(), ": is a table of ", file.kind, "; a table of ", kind, " is needed here");
  if (file.image_width != sum.image_width || file.image_height != sum.image_height)
    refuse(path.string(), fmt::format(": belongs to an image of {}x{}, not {}x{}", file.image_width, file.image_height,
                                      sum.image_width, sum.image_height));
  const std::int64_t channels = file.table.shape().channels;
  if (channels != sum.table.shape().channels && !(kind == "count" && channels == 1))
    refuse(path.string(), ": its number of channels differs from that of the table");
  if (!file.run.empty() && !sum.run.empty() && file.run != sum.run)
    refuse(path.string(), ": was written by another run than the table; make the tables again");
  return file;
}

// The table of that kind for `sum`: the file `named`, or the one written with the sums.
std::optional<media::TableFile> companion(const std::string& named, const std::string& kind,
                                          const media::TableFile& sum, const fs::path& path, std::uint64_t memory,
                                          const Settings& settings) {
  if (!named.empty()) return read(named, kind, sum, memory);
  if (std::find(sum.companions.begin(), sum.companions.end(), kind) == sum.companions.end()) return std::nullopt;
  const fs::path file = media::companion_path(path, kind);
  if (!fs::exists(file))
    throw IoError(fmt::format("{}: {} is missing, which was written with it", path.string(), file.string()));
  media::TableFile table = read(file, kind, sum, memory);
  if (table.run != sum.run)
    refuse(file.string(), ": was written by another run than ", path.string(), "; make the tables again");
  settings.detail("{} from {}", kind, file.string());
  return table;
}

TableView channel_of(const media::TableFile& file, std::int64_t channel) {
  return {plane(file.table.view(), channel), file.border};
}

void require_separate(const std::string& path, const media::TableFile& file) {
  if (file.table.shape().channels > 1 && file.table.shape().layout == Layout::interleaved)
    refuse(path, ": its channels are interleaved; query answers from separate tables");
}

// Throws InvalidArgument if NaN or infinity spread into a region from pixels left of it or above.
void require_finite(const SatView& tables, const std::vector<Region>& regions, const std::string& path) {
  for (const TableView* const table : {&tables.sum, tables.squares ? &*tables.squares : nullptr}) {
    if (table == nullptr || !is_float(table->view.type)) continue;
    const std::vector<double> sums = region_sums<double>(*table, regions);
    const auto odd = std::find_if(sums.begin(), sums.end(), [](double sum) { return !std::isfinite(sum); });
    if (odd != sums.end())
      refuse(
          fmt::format("{}: region {}: its sums are not finite, as NaN and infinity spread to the regions right of and "
                      "below them in a table; ask the image instead, or make the table with --ignore-nan",
                      path, odd - sums.begin()));
  }
}

void answer_sums(const QueryRequest& request, const media::TableFile& sum, std::uint64_t memory, RowWriter& rows,
                 const Settings& settings) {
  const std::vector<Stat> stats = parse_stats(request.stat_texts);
  if (has(stats, Stat::tilted)) refuse("--stat tilted: ", request.picture.path, " is not a tilted table");
  const fs::path path = request.picture.path;
  std::optional<media::TableFile> squares, count;
  if (needs_squares(stats)) {
    squares = companion(request.squares, "squares", sum, path, memory, settings);
    if (!squares)
      refuse("--stat: variance and std need the table of squares, which was not written with ", path.string(),
             "; make both with areal sat --squares, or name it with --squares");
  }
  if (stats != std::vector<Stat>{Stat::sum} || !request.count.empty())
    count = companion(request.count, "count", sum, path, memory, settings);
  if (has(stats, Stat::count) && !count)
    refuse("--stat count: needs a table of counts, which areal sat --mask or --ignore-nan writes");
  const Shape image{sum.image_width, sum.image_height};
  std::vector<media::NamedRegion> buffer;
  const auto& regions = request.regions.for_image(image, buffer);
  const TypePair types = type_pair(sum.types);
  SumTypes exact{types, {}, sum.pixels.value_or(range_of(types.input))};
  if (squares) exact.squares = squares->table.type();
  require_exact(exact, plain(regions), stats, image);
  require_separate(request.picture.path, sum);
  const std::int64_t channels = sum.table.shape().channels;
  std::vector<SatView> tables;
  for (std::int64_t c = 0; c < channels; ++c) {
    SatView& table = tables.emplace_back(channel_of(sum, c));
    if (squares) table.squares = channel_of(*squares, c);
    if (count) table.count = channel_of(*count, std::min(c, count->table.shape().channels - 1));
    require_finite(table, plain(regions), request.picture.path);
  }
  for (std::int64_t c = 0; c < channels; ++c) {
    auto prefix = [&](RowWriter& row) {
      if (channels > 1) row.put("channel", c);
    };
    write_answers(rows, prefix, tables[static_cast<std::size_t>(c)], regions, stats, request.regions.query(settings));
  }
}

// require_exact for a table of squares, counts or tilted sums.
void require_exact_plain(const media::TableFile& file, const std::vector<Region>& regions) {
  const std::string_view types = file.types, table = name_of(file.table.type());
  const auto input = type_named(types.substr(0, types.size() - std::min(types.size(), table.size())));
  if (!input) throw IoError("types " + file.types + ": no types of a table of " + file.kind);
  const bool squares = file.kind == "squares";
  SumTypes sums{{*input, squares ? Type::f64 : file.table.type()}, {}, file.pixels.value_or(range_of(*input))};
  if (squares) sums.squares = file.table.type();
  const Stat stat = squares ? Stat::variance : file.kind == "count" ? Stat::count : Stat::tilted;
  require_exact(sums, regions, {stat}, Shape{file.image_width, file.image_height});
}

// Answers sums from a table of squares, counts or tilted sums alone.
void answer_plain(const QueryRequest& request, const media::TableFile& file, RowWriter& rows,
                  const Settings& settings) {
  const bool tilted = file.kind == "tilted";
  const std::vector<Stat> stats = request.stat_texts.empty() ? std::vector<Stat>{tilted ? Stat::tilted : Stat::sum}
                                                             : parse_stats(request.stat_texts);
  if (stats != std::vector<Stat>{Stat::sum} && !(tilted && stats == std::vector<Stat>{Stat::tilted}))
    refuse("--stat: ", request.picture.path, " is a table of ", file.kind, ", which answers only its sums");
  require_separate(request.picture.path, file);
  if (tilted && request.regions.clips()) refuse("--outside clip: rotated regions are not clipped");
  std::vector<media::NamedRegion> buffer;
  const auto& regions = request.regions.for_image(Shape{file.image_width, file.image_height}, buffer);
  require_exact_plain(file, plain(regions));
  for (std::int64_t c = 0; c < file.table.shape().channels; ++c) {
    SatView tables(channel_of(file, c));
    tables.tilted = tables.sum.view;
    auto prefix = [&](RowWriter& row) {
      if (file.table.shape().channels > 1) row.put("channel", c);
    };
    write_answers(rows, prefix, tables, regions, {tilted ? Stat::tilted : Stat::sum}, request.regions.query(settings));
  }
}

/// A row, or a chart, of each region's histogram.
template <class T>
void write_histograms(const QueryRequest& request, const std::vector<media::NamedRegion>& regions,
                      const std::vector<T>& counts, std::int64_t all_bins, const std::vector<double>& edges,
                      RowWriter& rows) {
  const auto bins = static_cast<std::size_t>(all_bins);
  for (std::size_t i = 0; i < regions.size(); ++i) {
    const auto histogram = std::span<const T>(counts).subspan(i * bins, bins);
    if (request.chart) {
      const Region& r = regions[i].region;
      write_out(chart(fmt::format("region {}: {},{},{},{}", label(regions[i], i), r.x, r.y, r.width, r.height),
                      std::vector<double>(histogram.begin(), histogram.end()), edges, terminal_columns()));
      continue;
    }
    put_region(rows, regions[i], i);
    request.reducers.put(rows, histogram, edges);
    if (rows.json()) rows.put_list("edges", "edge", std::span<const double>(edges));
    rows.end();
  }
}

void answer_histograms(const QueryRequest& request, const media::TableFile& file, RowWriter& rows,
                       const Settings& settings) {
  if (!request.stat_texts.empty())
    refuse("--stat: ", request.picture.path, " is a histogram; use --entropy, --median, ..");
  const TensorView tensor{file.table.view(), file.border};
  std::vector<media::NamedRegion> buffer;
  const auto& regions = request.regions.for_image(Shape{file.image_width, file.image_height}, buffer);
  const std::vector<Region> rectangles = plain(regions);
  for (std::size_t i = 0; file.table.type() == Type::u16 && i < rectangles.size(); ++i)
    if (rectangles[i].width * rectangles[i].height > 65535)
      refuse(
          fmt::format("region {}: its counts may exceed 16u, which holds up to 65535 pixels; make the tensor with "
                      "--counter 32u",
                      i));
  const QueryOptions query = request.regions.query(settings);
  if (is_float(file.table.type()))
    write_histograms(request, regions, region_histograms<double>(tensor, rectangles, query), tensor.bins(),
                     file.bin_edges, rows);
  else
    write_histograms(request, regions, region_histograms<std::uint64_t>(tensor, rectangles, query), tensor.bins(),
                     file.bin_edges, rows);
}

/// From a compact or a rank store, which hist wrote.
void answer_store(const QueryRequest& request, std::uint64_t memory, const Settings& settings) {
  const std::string& path = request.picture.path;
  const media::StoreFile file = media::read_store(path, settings.execution(), memory);
  const std::string name = fmt::format("{} is a {} store", path, name_of(file.store.store()));
  if (!request.stat_texts.empty()) refuse("--stat: ", name, ", not a table of sums");
  if (!request.squares.empty() || !request.count.empty())
    refuse(request.squares.empty() ? "--count-table" : "--squares", ": ", name, ", not a table of sums");
  const bool is_rank = file.store.store() == Store::rank;
  if (is_rank && (request.chart || request.reducers.given()))
    refuse(name, ", which has no bins; it answers --quantile");
  if (is_rank && !request.quantiles.given()) refuse(name, "; it answers --quantile, such as --quantile 0.5");
  if (!is_rank && request.quantiles.given())
    refuse("--quantile: ", name, ", which counts bins; --median and --percentile are of histograms");
  std::vector<media::NamedRegion> buffer;
  const Shape& shape = file.store.image_shape();
  const auto& regions = request.regions.for_image(Shape{shape.width, shape.height}, buffer);
  const QueryOptions query = request.regions.query(settings);
  if (shape.batch != 1) refuse(name, " of ", std::to_string(shape.batch), " images; query answers from one");
  RowWriter rows(settings.json);
  if (is_rank)
    request.quantiles.write(
        rows, [](RowWriter&) {}, file.store, regions, shape.channels, shape.channels > 1, query);
  else
    write_histograms(request, regions, region_histograms<std::uint64_t>(file.store, plain(regions), query),
                     file.store.binning().bins(), file.store.binning().bin_edges(), rows);
}

// A folder without the array `local`, which even an incomplete chunked table has, may be a picture.
Way way_of(const QueryRequest& request, const std::vector<Stat>& stats) {
  const std::string& path = request.picture.path;
  std::error_code error;
  const auto is_by_formula = [](Stat stat) { return stat == Stat::sum || stat == Stat::mean; };
  if (request.is_picture) return Way::strips;
  if (SyntheticImage::is_name(path))
    return std::all_of(stats.begin(), stats.end(), is_by_formula) ? Way::chunked : Way::strips;
  if (fs::is_directory(path, error))
    return media::is_large_format(path) && !fs::exists(fs::path(path) / "local", error) ? Way::strips : Way::chunked;
  if (media::is_table(path)) return Way::whole;
  const std::string extension = fs::path(path).extension().string();
  if (extension != ".npy" && extension != ".tif" && extension != ".tiff") return Way::strips;
  if (!fs::is_regular_file(path, error)) return Way::whole;  // for its message
  // Pixels as wide as a table's entries are probably a table that lost its sidecar.
  const auto probe = media::open_large_picture(path, {.colour = media::Colour::channel});
  if (size_of(probe->type()) < 4) return Way::strips;
  throw IoError(fmt::format(
      "{}: its sidecar {} is missing, so its border and types are unknown; --picture takes it for a picture", path,
      fs::path(path).replace_extension(".json").string()));
}

void answer_table(const QueryRequest& request, std::uint64_t memory, const Settings& settings) {
  if (media::is_store(request.picture.path)) return answer_store(request, memory, settings);
  const media::TableFile file = media::read_table(request.picture.path, memory);
  if (request.quantiles.given())
    refuse("--quantile: ", request.picture.path, " is a table of ", file.kind,
           "; it needs a rank store, which areal hist "
           "--store rank -o writes");
  const std::uint64_t left =
      memory == 0 ? 0 : (memory - std::min(memory - 1, file.table.bytes())) / 2 + 1;  // squares and counts
  if (request.chart && file.kind != "histogram") refuse("--chart: ", request.picture.path, " is not a histogram");
  RowWriter rows(settings.json);
  if (file.table.shape().batch > 1) {
    if (!request.stat_texts.empty() && parse_stats(request.stat_texts) != std::vector<Stat>{Stat::sum})
      refuse("--stat: ", request.picture.path, " is the table of a volume, which answers only its sums");
    const Shape image{file.image_width, file.image_height};
    std::vector<media::NamedRegion> buffer;
    const auto& regions = request.regions.for_image(image, buffer);
    const TypePair types = type_pair(file.types);
    const std::int64_t depth = file.table.shape().batch - (file.border == Border::zero ? 1 : 0);
    require_exact({types, {}, file.pixels.value_or(range_of(types.input))}, plain(regions), {Stat::sum}, image, depth);
    require_last_frame(request.picture.path, file.border);
    const TableView volume{file.table.view(), file.border};
    require_finite(over_depth(volume), plain(regions), request.picture.path);
    write_volume_answers(rows, volume, regions, request.regions.query(settings));
    return;
  }
  if (file.kind == "histogram")
    answer_histograms(request, file, rows, settings);
  else if (file.kind == "sum")
    answer_sums(request, file, left, rows, settings);
  else
    answer_plain(request, file, rows, settings);
}

void run(QueryRequest& request, const std::vector<GivenOption>& options, const Settings& settings) {
  request.regions.resolve();
  request.reducers.resolve();
  request.quantiles.resolve();
  if (request.csv + request.chart + settings.json > 1) refuse("--csv, --chart and --json: only one of the three");
  const std::vector<Stat> stats = parse_stats(request.stat_texts);
  const Limits limits = limits_of(request.memory, "", "", settings);
  const std::string& path = request.picture.path;
  const InputFacts facts{.name = path, .only_way = way_of(request, stats)};
  run_by_route(facts, {Product::query, "", options}, limits, false, settings, [&](Way way) {
    if (way == Way::chunked) return query_chunked(path, request.regions, stats, limits, !request.unchecked, settings);
    if (way == Way::whole) return answer_table(request, limits.memory, settings);
    const InputImage image(request.picture, limits.memory / 4, settings);
    answer_by_strips(request.picture, image, limits, request.regions, stats, settings);
  });
}

}  // namespace

void add_query(CLI::App& app, Settings& settings) {
  CLI::App* verb = app.add_subcommand("query", "Answers from a saved table, or from a picture of any size");
  auto request = std::make_shared<QueryRequest>();
  begin_group(*verb, group::input);
  verb->add_option("TABLE", request->picture.path,
                   "A table or store that sat or hist wrote, with its sidecar; a chunked table, T.zarr; or a picture "
                   "of any size, "
                   "which is read once without making a table")
      ->required();
  verb->add_flag("--picture", request->is_picture,
                 "TABLE is a picture even if it is an .npy or .tif of 32 or 64 bits, or synthetic:WxH:SEED");
  verb->add_option("--squares", request->squares, "The table of squares (default: T.squares.npy next to T.npy)")
      ->type_name("FILE");
  verb->add_option("--count-table", request->count,
                   "The table of counts: means and variances are over the valid pixels")
      ->type_name("FILE");
  request->picture.add_choice_to(*verb);
  request->regions.add_to(*verb, false);
  begin_group(*verb, group::what);
  verb->add_option("--stat", request->stat_texts,
                   "sum, mean, variance, std or count; several separated by commas. Of T.tilted.npy: tilted")
      ->type_name("NAME")
      ->allow_extra_args(false);
  request->reducers.add_to(*verb);
  request->quantiles.add_to(*verb);
  begin_group(*verb, group::where);
  verb->add_option("--memory", request->memory, "Use at most this much memory, for example 1G")->type_name("BYTES");
  verb->add_flag("--unchecked", request->unchecked,
                 "With a chunked table: read single entries instead of whole tiles, without checking their checksums");
  begin_group(*verb, group::output);
  verb->add_flag("--csv", request->csv, "CSV on standard output (the default)");
  verb->add_flag("--chart", request->chart, "Bars on standard output, for a histogram");
  verb->footer(
      "Without regions, the whole image is the region. TABLE may also be synthetic:WxH:SEED, whose sums have a "
      "formula.\nA picture is read strip by strip and answers sum, mean, variance and std.\n\nExample:\n"
      "  areal query data/home.jpg --region 100,100,200,150 --memory 1G\n"
      "  areal sat data/home.jpg --squares -o home.npy && areal query home.npy --region 100,100,200,150 --stat "
      "mean,std");
  verb->callback([request, verb, &settings] {
    settings.resolve();
    run(*request, given_options(*verb, settings), settings);
  });
}

}  // namespace areal::command
