// TiledHistogram: what is checked, how its image and bins are cut, and its pieces. tile_answers.cpp has its answers.

#include "pieces/tiles/tiled_histogram.hpp"
#include <algorithm>
#include <areal/catalog.hpp>
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
#include "queue/workers.hpp"

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
  job.workers = bins.options.workers;
  job.cuda_lanes = 2;
  job.note = bins.options.note;
  job.progress = bins.options.progress;
  job.cancelled = "the tiled histogram was cancelled";
  job.piece_bytes = bins.options.piece_bytes;
  job.planes_apart = true;
  job.bins = bins.binning.bins();
  job.work = [subject = TensorSubject{image, bins.type, bins.binning, options,
                                      bins.options.weights.value_or(Type::f32)}](const Worker& worker, const Bins& of) {
    return std::make_unique<TensorWork>(subject, subject.binning.slice(of.first, of.count), execution_of(worker));
  };
  for (const Worker& worker : job.workers) job.form = job.work(worker, {0, job.bins})->form();
  return job;
}

bool is_fixed(const TiledOptions& o) { return o.tile_width > 0 || o.tile_height > 0 || o.group_bins > 0; }

/// Throws where the binning has no such groups.
TiledGrid with_groups(TiledGrid cut, const TileJob& job, const Binning& binning, std::int64_t bins) {
  cut.bins = bins;
  cut.groups = quotient_up(job.bins, bins);
  for (std::int64_t first = 0; first < job.bins && cut.groups > 1; first += bins)
    static_cast<void>(binning.slice(first, std::min(bins, job.bins - first)));
  return cut;
}

TiledGrid fixed_cut(const TiledBins& bins, const TileJob& job) {
  const auto part = [](std::int64_t asked, std::int64_t whole) {
    return std::max<std::int64_t>(1, asked > 0 ? std::min(asked, whole) : whole);
  };
  const TiledOptions& o = bins.options;
  TiledGrid cut;
  cut.tile_width = part(o.tile_width, job.image.width), cut.tile_height = part(o.tile_height, job.image.height);
  cut.columns = std::max<std::int64_t>(1, quotient_up(job.image.width, cut.tile_width));
  cut.rows = std::max<std::int64_t>(1, quotient_up(job.image.height, cut.tile_height));
  return with_groups(cut, job, bins.binning, part(o.group_bins, job.bins));
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
    std::uint64_t limit = streams ? host_pixel_bytes : bins.options.device_bytes;
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
  job.cut = is_fixed(bins.options) ? fixed_cut(bins, job) : tiles_of(bins, job, false);
  return job;
}

TileJob job_of_pieces(const TiledBins& bins) {
  const TiledOptions& o = bins.options;
  require(!o.weights || *o.weights == Type::u8 || *o.weights == Type::u16 || is_float(*o.weights), "weights of ",
          name_of(o.weights.value_or(Type::u8)), ": they may be 8u, 16u, 32f or 64f");
  if (const Algorithm* const row = find_algorithm("histogram", o.algorithm))
    require(!row->plain_only, "algorithm ", o.algorithm,
            " takes no carries, so it makes no tensors by tiles; choose auto");
  Shape image = bins.image;
  const HistogramOptions options{.border = without_last(o.border, image),
                                 .counter = o.counter,
                                 .weighted = o.weights.has_value(),
                                 .carries = true,
                                 .algorithm = o.algorithm};
  return job_of(bins, options, image);
}

TiledGrid cut_of_pieces(const TiledBins& bins, const TileJob& job) {
  if (is_fixed(bins.options)) return fixed_cut(bins, job);
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

void run_tensor(const TileJob& job, TilePool& pool, const ImageRows& rows, const ImageRows& weights,
                const TensorSink& sink, const queue::WrapWorker& wrap) {
  require(static_cast<bool>(sink), "sink: there is none");
  const auto give = [&](const TilePiece& piece) {
    return sink({job.bins_of(piece.group).first + piece.first_plane, piece.x, piece.y,
                 TensorView(piece.outputs[0], Border::none), piece.worker});
  };
  give_pieces(job, pool, {rows, weights, give}, wrap);
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
  state_ = std::make_unique<State>(pieces::TiledBins{image, type, binning, std::move(options)});
}
TiledHistogram::~TiledHistogram() = default;
TiledHistogram::TiledHistogram(TiledHistogram&&) noexcept = default;
TiledHistogram& TiledHistogram::operator=(TiledHistogram&&) noexcept = default;

const TiledGrid& TiledHistogram::grid() const noexcept { return state_->answers.cut; }
TiledGrid TiledHistogram::piece_grid() const { return state_->cut_pieces().cut; }

void TiledHistogram::answers(const ImageRows& rows, Span<const Region> regions, Span<std::uint64_t> counts) const {
  const auto& [image, type, binning, options] = state_->bins;
  require(regions.memory().is_host() && counts.memory().is_host(), "regions and counts must be in host memory");
  std::size_t wanted = 0;
  require(!__builtin_mul_overflow(regions.size(), static_cast<std::size_t>(binning.bins()), &wanted) &&
              wanted == counts.size(),
          "counts: ", counts.size(), " elements for ", regions.size(), " regions of ", binning.bins(), " bins");
  std::vector<Region> checked(regions.begin(), regions.end());
  for (std::size_t i = 0; i < checked.size(); ++i)
    checked[i] = checked_region(checked[i], static_cast<std::int64_t>(i), image.width, image.height, options.outside);
  std::fill_n(counts.data(), counts.size(), 0);
  pieces::answer_regions(state_->bins, state_->answers, state_->pool, rows, checked, counts.host());
}

void TiledHistogram::pieces(const ImageRows& rows, const TensorSink& sink, const ImageRows& weights) const {
  pieces::run_tensor(state_->cut_pieces(), state_->pool, rows, weights, sink);
}

}  // namespace areal
