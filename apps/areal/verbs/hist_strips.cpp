#include "hist_strips.hpp"

#include <algorithm>
#include <areal/error.hpp>
#include <areal/strips.hpp>
#include <chrono>
#include "hist_answer.hpp"
#include "io/answers.hpp"
#include "io/input_image.hpp"
#include "io/memory_limit.hpp"
#include "io/numbers.hpp"
#include "io/pixels.hpp"
#include "io/progress.hpp"
#include "io/rows.hpp"

namespace areal::command {
namespace {

/// What --memory leaves for strips, beside the reader and `more`; 0 where it was not given.
std::uint64_t memory_of_strips(const std::string& option, std::uint64_t memory, const InputImage& image,
                               std::uint64_t more) {
  if (memory == 0) return 0;
  const std::uint64_t taken = image.memory() + more;
  if (memory <= taken)
    throw OutOfMemory(fmt::format("--memory {}: the image, the regions and their histograms alone take {}M", option,
                                  ((process_bytes + taken) >> 20) + 1),
                      process_bytes + taken);
  return memory - taken;
}

/// The strips' rule. Labels whose number is not given are looked for in a pass of their own.
Binning binning_of(const HistRequest& request, const InputImage& image, const Settings& settings) {
  const Shape shape = image.shape();
  BinningOptions options = request.binning;
  if (options.counts_labels() && !is_float(image.type()) && !shape.empty()) {
    constexpr std::int64_t band_bytes = 4 << 20;
    const std::int64_t rows = std::clamp<std::int64_t>(
        band_bytes / (shape.width * static_cast<std::int64_t>(size_of(image.type()))), 1, shape.height);
    Array band({shape.width, rows}, image.type());
    const ImageReader read = image.reader();
    WorkBar bar("rows", settings.quiet);
    std::int64_t labels = 1;
    for (std::int64_t y = 0; y < shape.height; y += rows) {
      View part = band.view();
      part.shape.height = std::min(rows, shape.height - y);
      read(0, y, part);
      labels = std::max(labels, options.labels_in(part));
      bar.update(std::min(y + rows, shape.height), shape.height);
    }
    options.bins = std::to_string(labels);
  }
  const Array none(Shape{shape.width, 0, shape.channels}, image.type());
  return options.for_image(none.view(), request.input.path, false);
}

StripOptions strips_of(std::uint64_t memory, WorkBar& bar, const Settings& settings) {
  return {
      .execution = settings.execution(), .memory = memory, .progress = [&bar](std::int64_t done, std::int64_t total) {
        bar.update(done, total);
        return true;
      }};
}

void answer(const HistRequest& request, const InputImage& image, const Binning& binning, std::uint64_t memory,
            const Settings& settings) {
  const Shape shape = image.shape();
  std::vector<media::NamedRegion> room;
  const auto& regions = request.regions.for_image(shape, room);
  // Of each region: as it was read, as strips keep it, and its counts, of a group of bins and of all.
  const std::uint64_t one =
      2 * sizeof(media::NamedRegion) + 2 * sizeof(Region) + 80 + 16 * static_cast<std::uint64_t>(binning.bins());
  WorkBar bar("rows", settings.quiet);
  const StripOptions strips =
      strips_of(memory_of_strips(request.memory, memory, image, regions.size() * one), bar, settings);
  const std::vector<std::uint64_t> counts =
      strip_counts(image.reader(), shape, image.type(), binning, plain(regions), Outside::error, strips);
  bar.wipe();
  RowWriter rows(settings.json);
  HistAnswer answer(request, rows, false);
  answer.write(Item{}, binning, regions, std::span<const std::uint64_t>(counts), std::nullopt, std::nullopt);
  answer.report(settings);
}

/// The sum of each plane's last entry: how many pixels are in a bin. Zero of an empty tensor.
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

void write_tensor(const HistRequest& request, const InputImage& image, const Binning& binning,
                  const HistogramOptions& options, std::uint64_t memory, const Settings& settings) {
  const auto start = std::chrono::steady_clock::now();
  const Shape shape = image.shape();
  WorkBar bar("rows", settings.quiet);
  const StripHistogram strips(shape, image.type(), binning, options,
                              strips_of(memory_of_strips(request.memory, memory, image, 0), bar, settings));
  settings.detail("{}: {}x{} {}, in strips of {} rows, {} bins at a time: the image is read {} times",
                  request.input.path, shape.width, shape.height, name_of(image.type()), strips.strip_height(),
                  strips.group_bins(), strips.groups());
  media::TableFile description;
  description.kind = "histogram";
  description.border = options.border;
  description.types = fmt::format("{}-{}", name_of(image.type()), name_of(options.counter));
  description.algorithm = options.algorithm + " by strips";
  description.source = std::filesystem::path(request.input.path).filename().string();
  description.image_width = shape.width;
  description.image_height = shape.height;
  description.bin_edges = binning.bin_edges();
  media::TableWriter writer(request.output, strips.tensor_shape(), options.counter, description);
  std::uint64_t counted = 0;
  strips.run(image.reader(), [&](const TensorStrip& strip) {
    writer.write(0, strip.y, strip.tensor, strip.first_bin);
    if (strip.y + strip.tensor.shape.height == strips.tensor_shape().height) counted += last_entries(strip.tensor);
    return true;
  });
  writer.finish();
  bar.wipe();
  if (!request.regions.named() && options.border != Border::exclusive && options.counter != Type::u16) {
    RowWriter rows(settings.json);
    HistAnswer all(request, rows, false);
    all.add(static_cast<std::uint64_t>(shape.width * shape.height), counted, binning.bin_edges());
    all.report(settings);
  }
  settings.detail("wrote {} in {:.1f} s", request.output,
                  std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
}

}  // namespace

std::string not_by_strips(const HistRequest& request, const Settings& settings) {
  if (request.input.all_channels && !request.binning.joint) return "--all-channels";
  if (!request.weights.empty()) return "--weights";
  if (request.search.given()) return "--template";
  if (request.search.maps()) return "--map";
  if (!request.regions.draw.empty()) return "--draw";
  if (request.launches.asked()) return "--count";
  if (request.tile != "32") return "--tile";
  if (!request.tile_threads.empty()) return "--tile-threads";
  if (request.sequence.inputs.size() > 1) return "a second INPUT";
  if (const std::string asked = request.sequence.asked(); !asked.empty()) return asked;
  if (const std::string asked = request.sequence.shared_out(); !asked.empty()) return asked;
  const bool answers = request.regions.named() || request.output.empty();
  if (answers && request.algorithm != "auto") return "--algorithm " + request.algorithm;
  if (answers && settings.backend != Backend::automatic && settings.backend != Backend::cpu)
    return "--backend " + std::string(name_of(settings.backend));
  return {};
}

void hist_by_strips(const HistRequest& request, const HistogramOptions& options, const Settings& settings) {
  if (const std::string without = not_by_strips(request, settings); !without.empty())
    refuse(without, ": not by strips, which is how ", request.memory.empty() ? request.input.path : "--memory",
           " is answered");
  const std::uint64_t memory = memory_for_work(request.memory);
  const InputImage image(request.input, memory / 4, settings);
  const Binning binning = binning_of(request, image, settings);
  if (request.regions.named() || request.output.empty()) answer(request, image, binning, memory, settings);
  if (!request.output.empty()) write_tensor(request, image, binning, options, memory, settings);
}

}  // namespace areal::command
