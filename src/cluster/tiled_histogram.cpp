// TiledHistogram: what is checked, and the way to its two calls.

#include <algorithm>
#include <areal/error.hpp>
#include <areal/tiled.hpp>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>
#include "api/core/pixel_rule.hpp"
#include "api/core/require.hpp"
#include "api/core/view_check.hpp"
#include "cluster/tile_grid.hpp"
#include "cluster/tile_lane.hpp"
#include "cluster/tile_run.hpp"
#include "queue/workers.hpp"

namespace areal {

struct TiledHistogram::State {
  explicit State(cluster::TiledSubject of) : subject(std::move(of)), grid(cluster::grid_of_answers(subject)) {}

  cluster::TiledSubject subject;
  TiledGrid grid;
  std::mutex deciding;
  std::optional<TiledGrid> piece_grid;  // decided once: lanes keep memory, which is then no longer free
  cluster::TileLanePool lanes;
};

TiledHistogram::TiledHistogram(const Shape& image, Type type, const Binning& binning, TiledOptions options) {
  check_shape("image", image, type);
  require(image.batch == 1, "image of a batch of ", image.batch, ": it is one image");
  pixel_bins(binning, type, image.channels);  // what does not belong together throws here
  require(options.tile_width >= 0 && options.tile_height >= 0 && options.group_bins >= 0, "tiles of ",
          options.tile_width, "x", options.tile_height, ", groups of ", options.group_bins,
          " bins: 0 (all) or more is needed");
  require(options.piece_bytes > 0, "piece_bytes 0: pieces need some memory");
  if (options.workers.empty()) options.workers.emplace_back();
  queue::require_workers(options.workers);
  state_ = std::make_unique<State>(cluster::TiledSubject{image, type, binning, std::move(options)});
}
TiledHistogram::~TiledHistogram() = default;
TiledHistogram::TiledHistogram(TiledHistogram&&) noexcept = default;
TiledHistogram& TiledHistogram::operator=(TiledHistogram&&) noexcept = default;

const TiledGrid& TiledHistogram::grid() const noexcept { return state_->grid; }
TiledGrid TiledHistogram::piece_grid() const {
  const std::lock_guard lock(state_->deciding);
  if (!state_->piece_grid) state_->piece_grid = cluster::grid_of_pieces(state_->subject);
  return *state_->piece_grid;
}

void TiledHistogram::answers(const ImageRows& rows, Span<const Region> regions, Span<std::uint64_t> counts) const {
  const cluster::TiledSubject& s = state_->subject;
  require(regions.memory().is_host() && counts.memory().is_host(), "regions and counts must be in host memory");
  std::size_t wanted = 0;
  require(!__builtin_mul_overflow(regions.size(), static_cast<std::size_t>(s.binning.bins()), &wanted) &&
              wanted == counts.size(),
          "counts: ", counts.size(), " elements for ", regions.size(), " regions of ", s.binning.bins(), " bins");
  std::vector<Region> checked(regions.begin(), regions.end());
  for (std::size_t i = 0; i < checked.size(); ++i)
    checked[i] =
        checked_region(checked[i], static_cast<std::int64_t>(i), s.image.width, s.image.height, s.options.outside);
  std::fill_n(counts.data(), counts.size(), 0);
  cluster::answer_regions(s, state_->grid, state_->lanes, rows, checked, counts.host());
}

void TiledHistogram::pieces(const ImageRows& rows, const TensorSink& sink) const {
  require(static_cast<bool>(sink), "sink: there is none");
  const cluster::TiledSubject& s = state_->subject;
  for (const Worker& worker : s.options.workers)  // refuses a counter that the backend lacks
    HistogramPlan(s.image, s.type, s.binning, {.counter = s.options.counter}, s.execution_of(worker));
  const TiledGrid grid = piece_grid();
  cluster::hand_out_pieces(s, grid, state_->lanes, rows, sink);
}

}  // namespace areal
