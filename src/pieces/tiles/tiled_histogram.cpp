// TiledHistogram: what is checked, how its image and bins are cut, and its pieces. tile_answers.cpp has its answers.

#include "pieces/tiles/tiled_histogram.hpp"
#include <algorithm>
#include <areal/error.hpp>
#include <areal/histogram.hpp>
#include <mutex>
#include <optional>
#include <utility>
#include "api/core/largest.hpp"
#include "api/core/pixel_rule.hpp"
#include "api/core/require.hpp"
#include "api/core/view_check.hpp"
#include "pieces/core/tensor_work.hpp"
#include "pieces/tiles/tile_cut.hpp"

namespace areal::pieces {
namespace {

constexpr std::uint64_t host_pixel_bytes = std::uint64_t{64} << 20;  // of a tile that the CPU streams
constexpr std::uint64_t host_tensor_bytes = std::uint64_t{1} << 30;  // of a part that the CPU computes
constexpr std::uint64_t most_tensor_bytes = std::uint64_t{4} << 30;  // of a part: a millisecond of a device's memory
constexpr std::int64_t least_carried_rows = 256;  // of a tile that hands over its last row and is made for balance

TileJob job_of(const TiledBins& bins, const HistogramOptions& options, const Shape& image) {
  TileJob job;
  job.whole = bins.image;
  job.image = image;
  job.second = "weights";
  job.cuda_lanes = 2;
  job.cancelled = "the tiled histogram was cancelled";
  job.planes_apart = true;
  job.bins = bins.binning.bins();
  job.work = [subject = TensorSubject{image, bins.type, bins.binning, options, bins.weights}](const Worker& worker,
                                                                                              const Bins& of) {
    return std::make_unique<TensorWork>(subject, subject.binning.slice(of.first, of.count), execution_of(worker));
  };
  job.take(bins.tiles);
  return job;
}

bool is_fixed(const PieceOptions& tiles) { return tiles.width > 0 || tiles.height > 0 || tiles.bins > 0; }

/// Throws where the binning has no such groups.
TiledGrid with_groups(TiledGrid cut, const TileJob& job, const Binning& binning, std::int64_t bins) {
  cut.bins = bins;
  cut.groups = quotient_up(job.bins, bins);
  for (std::int64_t first = 0; first < job.bins && cut.groups > 1; first += bins)
    static_cast<void>(binning.slice(first, std::min(bins, job.bins - first)));
  return cut;
}

TiledGrid fixed_cut(const TiledBins& bins, const TileJob& job) {
  const std::int64_t group = bins.tiles.bins > 0 ? std::min(bins.tiles.bins, job.bins) : job.bins;
  return with_groups(fixed_tiles(job, bins.tiles), job, bins.binning, group);
}

/// Of parts with the first `count` bins.
CutRule rule_of(const TiledBins& bins, const TileJob& job, bool pieces, std::int64_t count) {
  CutRule rule{.lanes = job.lanes(),
               .least_rows = pieces ? least_carried_rows : 64,
               .most_bytes = most_tensor_bytes,
               .pixel_bytes = static_cast<std::uint64_t>(count) * size_of(job.form.outputs[0].type),
               .one = sentence("one pixel's ", count, " bins do not fit")};
  std::vector<std::shared_ptr<const Work>> works;
  for (const Worker& worker : job.workers) {
    const bool streams = worker.backend == Backend::cpu && !pieces;
    std::uint64_t limit = streams ? host_pixel_bytes : bins.tiles.memory;
    if (is_cuda(worker)) limit = device_limit(worker, limit);
    if (limit == 0) limit = host_tensor_bytes;
    rule.limits.push_back(limit / static_cast<std::uint64_t>(job.lanes_of(worker)));
    works.push_back(streams ? nullptr : std::shared_ptr<const Work>(job.work(worker, {0, count})));
  }
  rule.bytes = [works = std::move(works), input = job.form.inputs[0]](std::size_t worker, std::int64_t width,
                                                                      std::int64_t height) {
    return works[worker] ? part_bytes(*works[worker], width, height) : bytes_of(input.of(width, height), input.type);
  };
  return rule;
}

TiledGrid tiles_of(const TiledBins& bins, const TileJob& job, bool pieces) {
  return with_groups(cut_tiles(job.image, rule_of(bins, job, pieces, job.bins)), job, bins.binning, job.bins);
}

}  // namespace

TileJob job_of_answers(const TiledBins& bins) {
  TileJob job = job_of(bins, {}, bins.image);
  job.cut = is_fixed(bins.tiles) ? fixed_cut(bins, job) : tiles_of(bins, job, false);
  return job;
}

TileJob job_of_pieces(const TiledBins& bins) {
  require_weights(bins.options, bins.weights);
  require_carries("histogram", bins.options.algorithm, "tensors by tiles");
  Shape image = bins.image;
  HistogramOptions options = bins.options;
  options.border = without_last(options.border, image);
  options.carries = true, options.memory_limit = 0, options.progress = {};
  return job_of(bins, options, image);
}

TiledGrid cut_of_pieces(const TiledBins& bins, const TileJob& job) {
  if (is_fixed(bins.tiles)) return fixed_cut(bins, job);
  // Of joint bins, groups are whole planes of the first channel.
  const Binning& binning = bins.binning;
  const std::int64_t unit = binning.kind() == Binning::Kind::joint ? job.bins / binning.parts()[0].bins() : 1;
  const std::int64_t units = job.bins / unit, width = job.image.width, height = job.image.height;
  const std::uint64_t one = bytes_of(Shape{width, height, unit}, job.form.outputs[0].type);
  std::int64_t most = std::clamp<std::int64_t>(quotient_up(units, 2 * job.lanes()), 1, units);
  if (one > 0) most = std::min(most, std::max<std::int64_t>(1, static_cast<std::int64_t>(most_tensor_bytes / one)));
  try {
    const std::int64_t many =
        largest(most, [&](std::int64_t n) { return rule_of(bins, job, true, n * unit).fits(width, height); });
    if (many > 0) {
      TiledGrid cut;
      cut.tile_width = std::max<std::int64_t>(1, width), cut.tile_height = std::max<std::int64_t>(1, height);
      return with_groups(cut, job, binning, many * unit);
    }
  } catch (const InvalidArgument&) {  // a rule that has no slices: labels around an ignored one
  }
  return tiles_of(bins, job, true);
}

}  // namespace areal::pieces

namespace areal {

struct TiledHistogram::State {
  pieces::TiledBins bins;
  pieces::TileJob answers, pieces;
  std::mutex deciding;
  bool is_cut = false;  // `pieces`, once: lanes keep memory, which is then no longer free
  pieces::TilePool pool;

  explicit State(pieces::TiledBins of)
      : bins(std::move(of)), answers(pieces::job_of_answers(bins)), pieces(pieces::job_of_pieces(bins)) {}

  const pieces::TileJob& cut_pieces() {
    const std::lock_guard lock(deciding);
    if (!std::exchange(is_cut, true)) pieces.cut = pieces::cut_of_pieces(bins, pieces);
    return pieces;
  }
};

TiledHistogram::TiledHistogram(const Shape& image, Type type, const Binning& binning, const HistogramOptions& options,
                               const PieceOptions& tiles, Type weights) {
  check_shape("image", image, type);
  require(image.batch == 1, "image of a batch of ", image.batch, ": it is one image");
  pixel_bins(binning, type, image.channels);  // what does not belong together throws here
  state_ = std::make_unique<State>(pieces::TiledBins{image, type, binning, options, tiles, weights});
}
TiledHistogram::~TiledHistogram() = default;
TiledHistogram::TiledHistogram(TiledHistogram&&) noexcept = default;
TiledHistogram& TiledHistogram::operator=(TiledHistogram&&) noexcept = default;

const TiledGrid& TiledHistogram::grid() const noexcept { return state_->answers.cut; }
TiledGrid TiledHistogram::piece_grid() const { return state_->cut_pieces().cut; }

void TiledHistogram::answers(const ImageReader& read, Span<const Region> regions, Span<std::uint64_t> counts) const {
  const Shape& image = state_->bins.image;
  const std::int64_t bins = state_->bins.binning.bins();
  require(regions.memory().is_host() && counts.memory().is_host(), "regions and counts must be in host memory");
  std::size_t wanted = 0;
  require(!__builtin_mul_overflow(regions.size(), static_cast<std::size_t>(bins), &wanted) && wanted == counts.size(),
          "counts: ", counts.size(), " elements for ", regions.size(), " regions of ", bins, " bins");
  std::vector<Region> checked(regions.begin(), regions.end());
  for (std::size_t i = 0; i < checked.size(); ++i)
    checked[i] =
        checked_region(checked[i], static_cast<std::int64_t>(i), image.width, image.height, state_->bins.tiles.outside);
  std::fill_n(counts.data(), counts.size(), 0);
  pieces::answer_regions(state_->bins, state_->answers, state_->pool, read, checked, counts.host());
}

void TiledHistogram::pieces(const ImageReader& read, const PieceSink& sink, const ImageReader& read_weights) const {
  pieces::give_pieces(state_->cut_pieces(), state_->pool, {read, read_weights, sink});
}

}  // namespace areal
