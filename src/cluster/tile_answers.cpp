// Counts of regions part by part: from the part's tensor on devices, by streaming its pixels on the CPU. A region's
// counts are the sums of those of its pieces in the tiles that it touches.

#include <algorithm>
#include <areal/region_histogram.hpp>
#include <mutex>
#include <vector>
#include "cluster/tile_run.hpp"

namespace areal::cluster {
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

void answer_regions(const TiledSubject& subject, const TiledGrid& grid, TileLanePool& pool, const ImageRows& rows,
                    std::span<const Region> regions, std::span<std::uint64_t> counts, const queue::WrapWorker& wrap) {
  TileRun run(subject, grid, pool, rows);
  std::mutex adding;
  const auto all_bins = static_cast<std::size_t>(subject.binning.bins());
  const auto work = [&](TileLane& lane, int worker, const TensorPart& part) {
    const RegionsOfTile here(regions, part.tile);
    if (here.regions.empty()) return false;
    const ConstView pixels = lane.bring(run.reader, part.tile, run.number);
    const auto bins = static_cast<std::size_t>(part.bins);
    std::vector<std::uint64_t> answers(here.regions.size() * bins);
    const Worker& who = subject.options.workers[static_cast<std::size_t>(worker)];
    QueryOptions query{.execution = subject.execution_of(who)};
    if (who.backend == Backend::cpu) {
      region_histograms(pixels, subject.binning.slice(part.first_bin, part.bins), here.regions, answers, query);
    } else {
      const View tensor = lane.compute(part, pixels, Type::u32, {});
      if (lane.on_cuda()) query.execution.stream = lane.stream();
      region_histograms(TensorView(tensor, Border::none), here.regions, Span<std::uint64_t>(answers), query);  // waits
    }
    const std::lock_guard lock(adding);
    for (std::size_t i = 0; i < here.numbers.size(); ++i)
      for (std::size_t b = 0; b < bins; ++b)
        counts[here.numbers[i] * all_bins + static_cast<std::size_t>(part.first_bin) + b] += answers[i * bins + b];
    return true;
  };
  std::vector<std::int64_t> parts;
  for (std::int64_t i = 0; i < grid.parts(); ++i) parts.push_back(i);
  run.go(work, parts, wrap);
}

}  // namespace areal::cluster
