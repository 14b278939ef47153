// areal hist: histograms of regions, and the integral histogram's tensor.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <areal/error.hpp>
#include <chrono>
#include <limits>
#include <numeric>
#include "hist_answer.hpp"
#include "hist_maker.hpp"
#include "hist_parts.hpp"
#include "hist_request.hpp"
#include "hist_sequence.hpp"
#include "io/algorithms_taking.hpp"
#include "io/answers.hpp"
#include "io/help.hpp"
#include "io/input_image.hpp"
#include "io/numbers.hpp"
#include "io/out.hpp"
#include "io/pixels.hpp"
#include "io/progress.hpp"
#include "io/routing.hpp"
#include "io/tile_options.hpp"
#include "verbs.hpp"

namespace areal::command {
namespace {

research::HistogramParameters histogram_parameters(HistRequest& request, const Settings& settings) {
  research::HistogramParameters parameters;
  parameters.tile = tile_side(request.tile);
  if (!request.tile_threads.empty()) parameters.tile_threads = threads_on_tile(request.tile_threads, parameters.tile);
  parameters.on_launch = request.launches.report(settings);
  return parameters;
}

HistogramOptions histogram_options(const HistRequest& request) {
  HistogramOptions options;
  const auto border = border_named(request.border);
  if (!border) refuse("--border ", request.border, ": may be zero, none or exclusive");
  options.border = *border;
  options.algorithm = request.algorithm;
  options.weighted = !request.weights.empty();
  const std::string counter = !request.counter.empty() ? request.counter : options.weighted ? "64f" : "32u";
  const auto type = type_named(counter);
  const bool fits = type && (options.weighted ? *type == Type::f32 || *type == Type::f64
                                              : *type == Type::u16 || *type == Type::u32 || *type == Type::u64);
  if (!fits)
    refuse("--counter ", counter, ": may be ", options.weighted ? "32f or 64f, with weights" : "16u, 32u or 64u");
  options.counter = *type;
  return options;
}

/// Quantiles, or the store that answers them.
bool answers_values(const HistRequest& request) { return request.quantiles.given() || request.store == Store::rank; }

void resolve(HistRequest& request, const Settings& settings) {
  request.input.path = request.sequence.inputs.front();
  request.binning.check();
  request.reducers.resolve();
  request.quantiles.resolve();
  request.regions.resolve();
  request.search.resolve();
  if (request.csv + request.chart + settings.json > 1) refuse("--csv, --chart and --json: only one of the three");
  if (request.binning.joint && !request.input.channel_text.empty())
    refuse("--joint and --channel: only one of the two");
  const auto store = store_named(request.store_text);
  if (!store) refuse("--store ", request.store_text, ": may be auto, none, compact or tensor; rank with --quantile");
  const bool writes = !request.output.empty();
  if (*store == Store::rank && !request.quantiles.given() && !writes)
    refuse("--store rank: it orders pixels and has no bins; it answers --quantile, and -o writes it");
  request.store = *store;
  if (writes && request.store == Store::none)
    refuse("--store none: it is the image and leaves nothing for -o; choose compact, tensor or rank");
  const bool maps = request.search.maps();
  if (request.store != Store::automatic && request.store != Store::tensor) {
    if (request.algorithm != "auto" || (maps && !request.weights.empty()))
      refuse("--store ", request.store_text, ": --algorithm and a --map of weights need the tensor; leave out --store");
    if (maps && request.store != Store::none)
      refuse("--store ", request.store_text, ": a --map comes from the pixels or from the tensor; leave out --store");
  }
  const bool channels = request.input.all_channels && !request.binning.joint && !answers_values(request);
  if (channels && !request.output.empty())
    refuse("-o ", request.output, ": a run writes one tensor or store; choose a --channel or --joint");
  if (channels && request.search.given()) refuse("--template: needs one channel or --joint, not --all-channels");
  if (request.binning.joint) request.input.all_channels = true;
}

/// The tensor, or the compact store.
void write_made(const HistRequest& request, const HistogramMaker& maker, const Settings& settings) {
  if (request.store == Store::compact) return write_store_file(request, maker.store_plan(), maker.store(), settings);
  const HistogramTensor& tensor = maker.tensor();
  media::write_table(request.output, tensor.tensor(),
                     tensor_file(request, tensor.border(), maker.plan().image_type(), tensor.counter(),
                                 tensor.image_shape(), tensor.binning(), maker.algorithm()));
  settings.detail("wrote {}, {} bytes, computed in {:.3f} ms", request.output, maker.plan().tensor_bytes(),
                  maker.seconds() * 1e3);
}

std::uint64_t sum_of(const std::vector<std::uint64_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

std::uint64_t pixels_in(const std::vector<media::NamedRegion>& regions) {
  std::uint64_t pixels = 0;
  for (const media::NamedRegion& one : regions)
    pixels += static_cast<std::uint64_t>(one.region.width * one.region.height);
  return pixels;
}

/// Does the counter hold the counts of each of these regions?
bool counts_fit(const HistogramOptions& options, const std::vector<Region>& regions) {
  return options.counter != Type::u16 || std::all_of(regions.begin(), regions.end(), [](const Region& r) {
           return r.width * r.height <= std::numeric_limits<std::uint16_t>::max();
         });
}

/// Processes whole images, one by one. Sets `written` once rows are out.
void run_whole(HistRequest& request, const HistogramOptions& options, const Limits& limits, bool& written,
               const Settings& settings) {
  const research::HistogramParameters parameters = histogram_parameters(request, settings);
  const Array weights = request.weights.empty() ? Array() : load_plane(request.weights, settings);
  const auto source = open_source(request.input, settings);
  const std::string& name = request.input.path;
  const bool is_sequence = source->is_sequence();
  if (is_sequence && (!request.output.empty() || request.search.maps()))
    require_answered(Product::tensor, Way::frames, {}, name);

  const bool per_channel = request.input.all_channels && !request.binning.joint;
  // The CPU counts without a tensor whatever counter was named, as it always did.
  const bool on_device = settings.backend == Backend::cuda || settings.backend == Backend::simt;
  const bool maps = request.search.maps();
  const bool needs_tensor = !request.output.empty() || request.algorithm != "auto" ||
                            (maps && (on_device || !request.weights.empty())) ||
                            (on_device && (!request.counter.empty() || request.launches.enabled()));
  const Store store = needs_tensor && request.store == Store::automatic ? Store::tensor : request.store;
  std::vector<HistogramMaker> makers;  // one per channel
  RowWriter rows(settings.json);
  HistAnswer answer(request, rows, is_sequence);
  std::optional<Binning> binning;
  Item item;
  std::int64_t frames = 0;
  const auto start = std::chrono::steady_clock::now();
  {
    ProgressBar bar("frames", source->count(), settings.quiet || !is_sequence);
    for (; source->next(item); bar.update(++frames)) {
      const ConstView image = item.pixels.view();
      memory_left(limits, 2 * item.pixels.bytes(), "pixels");
      binning = request.binning.for_image(image, name, is_sequence);
      const bool shows_rows = request.regions.named() || (request.output.empty() && !request.search.maps());
      std::vector<media::NamedRegion> buffer;
      const auto& regions = shows_rows ? request.regions.for_image(image.shape, buffer) : buffer;
      const Region whole_image{0, 0, image.shape.width, image.shape.height};
      if (const std::vector<Region> all = plain(regions); !counts_fit(options, all))
        refuse("--counter 16u: holds counts of up to 65535 pixels, and a region has more; use --counter 32u");
      if (frames == 0) request.search.find_target(image, *binning, request.reducers, settings);
      const std::int64_t planes = per_channel ? image.shape.channels : 1;
      while (static_cast<std::int64_t>(makers.size()) < planes) makers.emplace_back(options, parameters, store);
      for (std::int64_t c = 0; c < planes; ++c) {
        HistogramMaker& maker = makers[static_cast<std::size_t>(c)];
        const Array single = per_channel ? one_channel(image, c) : Array();
        const ConstView pixels = per_channel ? ConstView(single.view()) : image;
        const ConstView weight = request.weights.empty() ? ConstView() : ConstView(weights.view());
        maker.make(pixels, weight, *binning, plain(regions), settings);
        if (!regions.empty()) {
          written = true;
          const auto channel = per_channel ? std::optional(c) : std::nullopt;
          const QueryOptions query = request.regions.query(settings);
          if (request.weights.empty()) {
            const std::vector<std::uint64_t> counts = maker.histograms<std::uint64_t>(plain(regions), query);
            answer.write(item, *binning, regions, std::span<const std::uint64_t>(counts), std::nullopt, channel);
          } else {
            const std::vector<double> sums = maker.histograms<double>(plain(regions), query);
            answer.write(item, *binning, regions, std::span<const double>(sums), std::nullopt, channel);
            // Sums of weights do not tell how many pixels are in a bin.
            const std::uint64_t counted = sum_of(region_histograms(pixels, *binning, plain(regions)));
            answer.add(pixels_in(regions), counted, binning->bin_edges());
          }
        }
        if (!request.output.empty()) write_made(request, maker, settings);
        if (!shows_rows && request.weights.empty() && counts_fit(options, {whole_image}) &&
            options.border != Border::exclusive) {
          const auto counts = maker.histograms<std::uint64_t>({&whole_image, 1}, request.regions.query(settings));
          answer.add(static_cast<std::uint64_t>(whole_image.width * whole_image.height), sum_of(counts),
                     binning->bin_edges());
        }
        if (maps) {
          const Reducers& wanted = request.reducers;
          const bool from_tensor = store == Store::tensor;
          const auto make = [&](std::int64_t width, std::int64_t height, const View& out) {
            if (from_tensor)
              distance_map(maker.tensor(), width, height, wanted.target, *wanted.measure, out, settings.on_host());
            else
              distance_map(pixels, *binning, width, height, wanted.target, *wanted.measure, out, settings.on_host());
          };
          settings.detail("map: from {}", from_tensor ? "the tensor" : "the pixels");
          request.search.write_map(image.shape, make, rows, !shows_rows, settings);
        }
      }
      if (frames == 0 && !request.regions.draw.empty())
        draw_to(request.regions.draw, request.input, settings, image, regions,
                per_channel ? std::vector<std::vector<double>>() : answer.histograms());
      request.launches.write(item, is_sequence, settings);
      if (is_sequence) flush_out();
    }
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (is_sequence)
    settings.detail("{} frames in {:.2f} s, {:.0f} frames per second", frames, seconds,
                    static_cast<double>(frames) / seconds);
  answer.report(settings);
  if (!source->damage().empty()) {
    flush_out();
    throw IoError(source->damage());
  }
  if (frames == 0) throw IoError(name + ": holds no frames");
}

void run(HistRequest& request, std::vector<GivenOption> options, const Settings& settings) {
  resolve(request, settings);
  std::vector<std::filesystem::path> outputs = media::files_of_table(request.output), inputs;
  for (const std::string& output : {request.regions.draw, request.search.map, request.sequence.timeline})
    outputs.emplace_back(output);
  inputs = {request.weights, request.binning.lookup, request.regions.file, request.search.template_text};
  inputs.insert(inputs.end(), request.sequence.inputs.begin(), request.sequence.inputs.end());
  inputs.insert(inputs.end(), request.sequence.boxes.begin(), request.sequence.boxes.end());
  media::require_other_files(outputs, inputs);
  const Limits limits = limits_of(request.memory, request.sequence.devices, request.sequence.device_memory, settings);
  if (answers_values(request)) return run_quantiles(request, options, settings);
  if (run_sequence(request, options, limits, settings)) return;
  InputFacts facts = facts_of(request.input);
  if (facts.only_way == Way::frames) facts.only_way.reset();  // frames are whole images
  HistogramOptions histogram = histogram_options(request);
  if (const Algorithm* const row = find_algorithm("histogram", request.algorithm); row != nullptr && row->plain_only)
    options.push_back(papers_algorithm(request.algorithm));
  const bool writes = !request.output.empty() || request.search.maps();
  RouteRequest route_request{writes ? Product::tensor : Product::histograms, request.output, std::move(options)};
  if (writes && request.regions.named()) route_request.also = Product::histograms;
  histogram.memory_limit = limits.memory / 2;
  if (limits.memory > 0 && !facts.is_stream) {  // the remainder is for the tensor or for streaming
    Settings silent = settings;                 // the later reader prints the notes
    silent.quiet = true;
    const InputImage image(request.input, limits.memory / 4, silent);
    route_request.whole_bytes = image.memory() + 2 * bytes_of(image.shape(), image.type());
    histogram.memory_limit = limits.memory - std::min(limits.memory - 1, route_request.whole_bytes);
  }
  bool written = false;
  run_by_route(facts, route_request, limits, written, settings, [&](Way way) {
    if (way == Way::strips) return hist_by_strips(request, histogram, limits, settings);
    if (way == Way::tiles) return hist_by_tiles(request, limits, settings);
    run_whole(request, histogram, limits, written, settings);
  });
}

}  // namespace

void add_hist(CLI::App& app, Settings& settings) {
  CLI::App* verb = app.add_subcommand("hist", "Histograms of regions, and the integral histogram");
  auto request = std::make_shared<HistRequest>();
  begin_group(*verb, group::input);
  verb->add_option(
          "INPUT", request->sequence.inputs,
          "A picture, a video, a folder of pictures, an .npy, or - (.npy arrays on standard input); or several videos "
          "and folders")
      ->required();
  request->input.add_format_to(*verb);
  request->binning.add_to(*verb);
  request->regions.add_to(*verb, true);
  request->sequence.add_to(*verb);
  begin_group(*verb, group::what);
  verb->add_option("--weights", request->weights, "Weight each pixel by its value in this picture")->type_name("IMG");
  verb->add_option("--counter", request->counter,
                   "Type of the counts: 32u, 64u, or 16u (modulo 2^16, cuda and simt); with weights 32f or 64f")
      ->type_name("TYPE");
  verb->add_option("--border", request->border, "Border of the tensor: zero, none (default) or exclusive")
      ->type_name("NAME");
  request->reducers.add_to(*verb);
  request->quantiles.add_to(*verb);
  request->search.add_to(*verb);
  begin_group(*verb, group::where);
  verb->add_option("--store", request->store_text,
                   "What answers the regions: none (the image), compact (5 to 10 bytes a pixel), tensor, with "
                   "--quantile rank (about 16 bytes a pixel of 16 bits), or auto (default); -v prints which and why")
      ->type_name("NAME");
  verb->add_option("--algorithm", request->algorithm, "auto (default) or an id of family histogram in areal algorithms")
      ->type_name("ID");
  verb->add_option(
          "--tile", request->tile,
          "For " + algorithms_taking(&AlgorithmOptions::tile, " and ") + ": side of the tiles, 16, 32 (default) or 64")
      ->type_name("N");
  verb->add_option("--tile-threads", request->tile_threads,
                   "Threads of a block on a tile: 128, 256, 512 (default) or 1024; for tiles of 16, 64, 128 or "
                   "256 (default)")
      ->type_name("N");
  verb->add_option("--memory", request->memory,
                   "Use at most this much memory, for example 1G: pictures of any size are processed in strips")
      ->type_name("BYTES");
  begin_group(*verb, group::output);
  verb->add_option("-o,--output", request->output,
                   "Write the tensor, or the store of --store compact or rank: .npy, and a sidecar .json")
      ->type_name("FILE");
  request->launches.add_to(*verb);
  verb->add_flag("--csv", request->csv, "CSV on standard output (the default)");
  verb->add_flag("--chart", request->chart, "Bars on standard output");
  verb->footer(
      "Without regions, the whole image is the region. For a video, a folder or a stream: a row for each frame and\n"
      "region, written as soon as the frame is done. With --memory a picture, an .npy or synthetic:WxH:SEED of any\n"
      "size is read by strips; neither the input nor its tensor is ever in memory as a whole. --quantile 0.5,0.99\n"
      "writes exact quantiles of each region instead of a histogram. areal query answers from what -o writes.\n\n"
      "Example:\n  areal hist data/home.jpg --bins 16 --region 100,100,200,150 --chart\n"
      "  areal hist data/home.jpg --store rank -o home.npy && areal query home.npy --region 100,100,200,150 --quantile "
      "0.5,0.9");
  verb->callback([request, verb, &settings] {
    settings.resolve();
    run(*request, given_options(*verb, settings), settings);
  });
}

}  // namespace areal::command
