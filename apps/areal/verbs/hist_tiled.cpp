#include "hist_tiled.hpp"

#include <fmt/format.h>
#include <areal/error.hpp>
#include <areal/info.hpp>
#include <areal/tiled.hpp>
#include <chrono>
#include "hist_answer.hpp"
#include "hist_sequence.hpp"
#include "io/answers.hpp"
#include "io/input_image.hpp"
#include "io/interrupt.hpp"
#include "io/numbers.hpp"
#include "io/pixels.hpp"
#include "io/progress.hpp"

namespace areal::command {
namespace {

std::vector<std::uint64_t> room_for(std::size_t regions, std::int64_t bins) {
  const std::uint64_t free = free_memory();
  std::uint64_t elements = 0, bytes = 0;
  if (__builtin_mul_overflow(regions, static_cast<std::uint64_t>(bins), &elements) ||
      __builtin_mul_overflow(elements, 8u, &bytes) || bytes > free)
    throw OutOfMemory(fmt::format("{} histograms of {} bins do not fit: {} bytes are free", regions, bins, free),
                      bytes);
  return std::vector<std::uint64_t>(elements);
}

std::string words(const TiledGrid& grid, const std::vector<Worker>& workers) {
  std::string text = fmt::format("{} x {} tiles of {}x{}, {} bins each, on ", grid.columns, grid.rows, grid.tile_width,
                                 grid.tile_height, grid.bins);
  for (std::size_t i = 0; i < workers.size(); ++i) text += (i > 0 ? ", " : "") + name_of(workers[i]);
  return text;
}

}  // namespace

bool run_tiled(HistRequest& request, const Settings& settings) {
  if (!of_single_frames(request).empty()) return false;
  const SequenceRequest& asked = request.sequence;
  const InputImage image(request.input, 0, settings);
  const Shape shape = image.shape();
  const Array none(Shape{shape.width, 0}, image.type());  // a rule needs the type, and some the pixels
  const Binning binning = request.binning.for_image(
      request.binning.counts_labels() ? image.whole().view() : none.view(), request.input.path, false);
  std::vector<media::NamedRegion> room;
  const auto& regions = request.regions.for_image(shape, room);

  const InterruptScope interrupt;
  std::optional<ProgressBar> bar;
  TiledOptions options;
  options.workers = workers_of(asked, settings);
  if (!asked.device_memory.empty()) options.device_bytes = byte_size("--device-memory", asked.device_memory);
  options.note = [&](const std::string& sentence) { settings.note("{}", sentence); };
  options.progress = [&](std::int64_t done, std::int64_t) {
    if (bar) bar->update(done);
    return !interrupt.interrupted();
  };
  const TiledHistogram tiled(shape, image.type(), binning, options);
  settings.detail("{}", words(tiled.grid(), options.workers));
  if (request.search.given()) request.search.find_target(image.whole().view(), binning, request.reducers, settings);
  std::vector<std::uint64_t> counts = room_for(regions.size(), binning.bins());
  const auto start = std::chrono::steady_clock::now();
  bar.emplace("parts", tiled.grid().parts(), settings.quiet);
  try {
    tiled.answers(image.rows(image.type()), plain(regions), Span<std::uint64_t>(counts));
  } catch (const Cancelled&) {
    bar.reset();
    interrupt.end_if_interrupted();
    throw;
  }
  bar.reset();
  settings.detail("{} regions in {:.2f} s", regions.size(),
                  std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());

  RowWriter rows(settings.json);
  HistAnswer answer(request, rows, false);
  answer.write(Item{}, binning, regions, std::span<const std::uint64_t>(counts), std::nullopt, std::nullopt);
  answer.report(settings);
  if (!request.regions.draw.empty())
    draw_to(request.regions.draw, request.input, settings, image.whole().view(), regions, answer.histograms());
  return true;
}

}  // namespace areal::command
