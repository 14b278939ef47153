// Counts of regions part by part: from the part's tensor on devices, by streaming its pixels on the CPU. A region's
// counts are the sums of those of its pieces in the tiles that it touches.

#include <algorithm>
#include <areal/region_histogram.hpp>
#include <mutex>
#include "pieces/tiles/tiled_histogram.hpp"

namespace areal::pieces {
namespace {

/// The pieces of regions in a tile, from its corner, and which regions they are of.
struct RegionsOfTile {
  std::vector<Region> regions;
  std::vector<std::size_t> numbers;

  RegionsOfTile(std::span<const Region> all, const Region& tile) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      const Region& r = all[i];
      const std::int64_t x0 = std::max(r.x, tile.x), x1 = std::min(r.x + r.width, tile.x + tile.width);
      const std::int64_t y0 = std::max(r.y, tile.y), y1 = std::min(r.y + r.height, tile.y + tile.height);
      if (x0 >= x1 || y0 >= y1) continue;
      regions.push_back({x0 - tile.x, y0 - tile.y, x1 - x0, y1 - y0});
      numbers.push_back(i);
    }
  }
};

}  // namespace

void answer_regions(const TiledBins& bins, const TileJob& job, TilePool& pool, const ImageReader& read,
                    std::span<const Region> regions, std::span<std::uint64_t> counts, const queue::WrapWorker& wrap) {
  std::mutex adding;
  TileUse use{.inputs = {job.form, read, {}, ""},
              .needs_pixels = [&](const Part& part) { return !RegionsOfTile(regions, part.pixels).regions.empty(); }};
  TileRun* run = nullptr;
  use.work = [&](TileLane& lane, int number, const Part& part, const TilePixels& pixels) {
    const RegionsOfTile here(regions, part.pixels);
    if (here.regions.empty()) return false;
    const Bins of = job.bins_of(part.number % job.cut.groups);
    const auto count = static_cast<std::size_t>(of.count);
    std::vector<std::uint64_t> answers(here.regions.size() * count);
    const Worker& worker = job.workers[static_cast<std::size_t>(number)];
    QueryOptions query{.execution = execution_of(worker)};
    if (worker.backend == Backend::cpu) {
      region_histograms(pixels.inputs[0], bins.binning.slice(of.first, of.count), here.regions, answers, query);
    } else {
      const ConstView tensor = lane.compute(job, part, pixels)[0];
      if (lane.on_cuda()) query.execution.stream = lane.stream();
      region_histograms(TensorView(tensor, Border::none), here.regions, Span<std::uint64_t>(answers), query);  // waits
    }
    if (!run->readiness().commits(part.number)) return false;
    const std::lock_guard lock(adding);
    for (std::size_t i = 0; i < here.numbers.size(); ++i)
      for (std::size_t b = 0; b < count; ++b)
        counts[here.numbers[i] * static_cast<std::size_t>(job.bins) + static_cast<std::size_t>(of.first) + b] +=
            answers[i * count + b];
    return true;
  };
  TileRun of_run(job, pool, std::move(use));
  run = &of_run;
  of_run.go(wrap);
}

}  // namespace areal::pieces
