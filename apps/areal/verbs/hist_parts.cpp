#include "hist_parts.hpp"

#include <algorithm>
#include <areal/error.hpp>
#include <areal/info.hpp>
#include <areal/strips.hpp>
#include <areal/tiled.hpp>
#include <chrono>
#include "hist_answer.hpp"
#include "hist_maker.hpp"
#include "hist_sequence.hpp"
#include "io/input_image.hpp"
#include "io/interrupt.hpp"
#include "io/numbers.hpp"
#include "io/pixels.hpp"
#include "io/progress.hpp"
#include "io/rows.hpp"

namespace areal::command {
namespace {

using Counts = std::vector<std::uint64_t>;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// The binning for an image that is not in memory. An extra pass finds the largest label if the number of bins needs
/// it.
Binning binning_of(const HistRequest& request, const InputImage& image, const Settings& settings) {
  BinningOptions options = request.binning;
  if (options.counts_labels() && !is_float(image.type()) && !image.shape().empty()) {
    std::int64_t labels = 1;
    image.each_band(settings,
                    [&](const ConstView& band) { labels = std::max(labels, request.binning.labels_in(band)); });
    options.bins = std::to_string(labels);
  }
  const Array none(Shape{image.shape().width, 0, image.shape().channels}, image.type());
  return options.for_image(none.view(), request.input.path, false);
}

/// Calls `take` with the image; with --all-channels once per channel.
template <class Take>
void each_plane(const HistRequest& request, const Limits& limits, const Settings& settings, const Take& take) {
  const InputImage image(request.input, limits.memory / 4, settings);
  if (!request.input.all_channels || request.binning.joint) return take(image, std::nullopt);
  InputOptions one = request.input;
  one.all_channels = false;
  Settings silent = settings;  // `image` has printed the notes
  silent.quiet = true;
  for (std::int64_t channel = 0; channel < image.shape().channels; ++channel) {
    one.channel_text = image.shape().channels > 1 ? std::to_string(channel) : "";
    take(InputImage(one, limits.memory / 4, silent), std::optional(channel));
  }
}

PieceOptions strips_of(std::uint64_t memory, WorkBar& bar, const Settings& settings) {
  return {.workers = {settings.worker()}, .memory = memory, .progress = bar.progress()};
}

/// Writes the rows of all regions and channels; `count` computes the histograms of a channel.
template <class Count>
void answer(HistRequest& request, const Limits& limits, const Settings& settings, const Count& count) {
  RowWriter rows(settings.json);
  HistAnswer answer(request, rows, false);
  each_plane(request, limits, settings, [&](const InputImage& image, std::optional<std::int64_t> channel) {
    const Binning binning = binning_of(request, image, settings);
    std::vector<media::NamedRegion> buffer;
    const auto& regions = request.regions.for_image(image.shape(), buffer);
    const auto counted = [&](const std::vector<Region>& those) { return count(image, binning, those); };
    if (request.search.given()) request.search.find_target(binning, request.reducers, counted);
    const Counts counts = counted(plain(regions));
    answer.write(Item{}, binning, regions, std::span<const std::uint64_t>(counts), std::nullopt, channel);
    if (!request.regions.draw.empty() && !channel)
      draw_to(request.regions.draw, request.input, settings, image.whole().view(), regions, answer.histograms());
  });
  answer.report(settings);
}

/// How many pixels are in a bin: the sum of each plane's last entry.
std::uint64_t last_entries(const ConstView& tensor) {
  std::uint64_t sum = 0;
  if (tensor.shape.empty()) return 0;
  std::vector<double> row(static_cast<std::size_t>(tensor.shape.width));
  for (std::int64_t bin = 0; bin < tensor.shape.channels; ++bin) {
    load_row(tensor, tensor.shape.height - 1, bin, 0, row);
    sum += static_cast<std::uint64_t>(row.back());
  }
  return sum;
}

/// The algorithm for a strip and a group of bins.
std::string algorithm_of(const StripHistogram& strips, Shape image, Type type, const Binning& binning,
                         const HistogramOptions& options, const Settings& settings) {
  image.height = std::min(image.height, strips.strip_height());
  const Binning group = strips.groups() > 1 ? binning.slice(0, strips.group_bins()) : binning;
  return HistogramPlan(image, type, group, options, {.backend = strips.backend(), .device = settings.device})
      .algorithm();
}

void write_tensor(const HistRequest& request, const HistogramOptions& options, const Limits& limits,
                  const Settings& settings) {
  const auto start = std::chrono::steady_clock::now();
  const InputImage image(request.input, limits.memory / 4, settings);
  const Binning binning = binning_of(request, image, settings);
  std::optional<InputImage> weights;
  if (!request.weights.empty()) weights.emplace(plane_options(request.weights), limits.memory / 4, settings);
  const Shape shape = image.shape();
  if (weights && (weights->shape().width != shape.width || weights->shape().height != shape.height))
    refuse(fmt::format("--weights {}: is {}x{}, and {} is {}x{}", request.weights, weights->shape().width,
                       weights->shape().height, request.input.path, shape.width, shape.height));
  WorkBar bar("rows", settings.quiet);
  const std::uint64_t memory =
      memory_left(limits, image.memory() + (weights ? weights->memory() : 0), "the image and its weights");
  const StripHistogram strips(shape, image.type(), binning, options, strips_of(memory, bar, settings),
                              weights ? weights->type() : Type::f32);
  settings.detail("{}: {}x{} {}, in strips of {} rows, {} bins at a time: the image is read {} times",
                  request.input.path, shape.width, shape.height, name_of(image.type()), strips.strip_height(),
                  strips.group_bins(), strips.groups());
  const media::TableFile description =
      tensor_file(request, options.border, image.type(), options.counter, shape, binning,
                  algorithm_of(strips, shape, image.type(), binning, options, settings) + " by strips");
  media::TableWriter writer(request.output, strips.tensor_shape(), options.counter, description);
  std::uint64_t counted = 0;
  const auto sink = [&](const Piece& strip) {
    writer.write(0, strip.y, strip.values, strip.first_bin);
    if (strip.y + strip.values.shape.height == strips.tensor_shape().height) counted += last_entries(strip.values);
    return true;
  };
  strips.run(image.reader(), sink, weights ? weights->reader() : ImageReader());
  writer.finish();
  bar.wipe();
  if (!request.regions.named() && !weights && options.border != Border::exclusive && options.counter != Type::u16) {
    RowWriter rows(settings.json);
    HistAnswer all(request, rows, false);
    all.add(static_cast<std::uint64_t>(shape.width * shape.height), counted, binning.bin_edges());
    all.report(settings);
  }
  settings.detail("wrote {} in {:.1f} s", request.output, seconds_since(start));
}

std::string words(const TiledGrid& grid, const std::vector<Worker>& workers) {
  std::string text = fmt::format("{} x {} tiles of {}x{}, {} bins each, on ", grid.columns, grid.rows, grid.tile_width,
                                 grid.tile_height, grid.bins);
  for (std::size_t i = 0; i < workers.size(); ++i) text += (i > 0 ? ", " : "") + name_of(workers[i]);
  return text;
}

}  // namespace

media::TableFile tensor_file(const HistRequest& request, Border border, Type image, Type counter, const Shape& shape,
                             const Binning& binning, const std::string& algorithm) {
  media::TableFile file;
  file.kind = "histogram";
  file.border = border;
  file.types = fmt::format("{}-{}", name_of(image), name_of(counter));
  file.algorithm = algorithm;
  file.source = request.input.file_name();
  file.image_width = shape.width;
  file.image_height = shape.height;
  file.bin_edges = binning.bin_edges();
  return file;
}

void hist_by_strips(HistRequest& request, const HistogramOptions& options, const Limits& limits,
                    const Settings& settings) {
  if (request.regions.named() || request.output.empty())
    answer(request, limits, settings,
           [&](const InputImage& image, const Binning& binning, const std::vector<Region>& regions) {
             // Bytes of a region as read, as kept by strips, and its counts for a group of bins and for all bins.
             const std::uint64_t one = 2 * sizeof(media::NamedRegion) + 2 * sizeof(Region) + 80 +
                                       16 * static_cast<std::uint64_t>(binning.bins());
             const std::uint64_t memory = memory_left(limits, image.memory() + regions.size() * one,
                                                      "the image, the regions and their histograms");
             WorkBar bar("rows", settings.quiet);
             return strip_counts(image.reader(), image.shape(), image.type(), binning, regions,
                                 strips_of(memory, bar, settings));
           });
  if (!request.output.empty()) write_tensor(request, options, limits, settings);
}

void hist_by_tiles(HistRequest& request, const Limits& limits, const Settings& settings) {
  const InterruptScope interrupt;
  answer(request, limits, settings,
         [&](const InputImage& image, const Binning& binning, const std::vector<Region>& regions) {
           std::optional<ProgressBar> bar;
           PieceOptions options;
           options.workers = workers_of(request.sequence, settings);
           options.memory = limits.device_memory;
           options.note = [&](const std::string& sentence) { settings.note("{}", sentence); };
           options.progress = [&](std::int64_t done, std::int64_t) {
             if (bar) bar->update(done);
             return !interrupt.interrupted();
           };
           const TiledHistogram tiled(image.shape(), image.type(), binning, {}, options);
           settings.detail("{}", words(tiled.grid(), options.workers));
           Counts counts(elements_of_histograms(regions.size(), binning.bins()));
           const auto start = std::chrono::steady_clock::now();
           bar.emplace("parts", tiled.grid().parts(), settings.quiet);
           try {
             tiled.answers(image.reader(image.type()), regions, Span<std::uint64_t>(counts));
           } catch (const Cancelled&) {
             bar.reset();
             interrupt.end_if_interrupted();
             throw;
           }
           bar.reset();
           settings.detail("{} regions in {:.2f} s", regions.size(), seconds_since(start));
           return counts;
         });
}

}  // namespace areal::command
