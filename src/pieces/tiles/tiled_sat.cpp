// TiledSat: what is checked, the grid of tiles, and its two calls.

#include "pieces/tiles/tiled_sat.hpp"
#include <algorithm>
#include <utility>
#include "api/core/copy_rows.hpp"
#include "api/core/require.hpp"
#include "api/core/view_check.hpp"
#include "pieces/core/table_work.hpp"
#include "pieces/tiles/tile_cut.hpp"

namespace areal::pieces {
namespace {

constexpr std::uint64_t host_tile_bytes = std::uint64_t{64} << 20;     // of a tile's pixels and tables
constexpr std::uint64_t device_tile_bytes = std::uint64_t{256} << 20;  // of a tile's tables: its pixels are page-locked
constexpr std::int64_t kernel_tile = 256;  // rows and columns of the look-back kernel's largest tiles

void check_options(const Shape& image, const SatOptions& options) {
  require(image.batch == 1, "image of batch ", image.batch, ": tables by tiles are of one image");
  require(!options.tilted && !options.volume,
          "tables by tiles are sums, squares and counts: no tilted table and no volume");
  require(!options.progress, "progress: tables by tiles have theirs in PieceOptions");
  require_carries("sat", options.algorithm, "tables by tiles");
}

TiledGrid cut_of(const TileJob& job, const PieceOptions& tiles) {
  require_no_bins(tiles, "tables by tiles");
  if (tiles.width > 0 || tiles.height > 0) return fixed_tiles(job, tiles);
  CutRule rule{.lanes = job.lanes(), .multiple = kernel_tile, .one = "one pixel's table does not fit"};
  std::vector<std::shared_ptr<const Work>> works;
  for (const Worker& worker : job.workers) {
    std::uint64_t limit = tiles.memory;
    if (is_cuda(worker))
      limit = device_limit(worker, limit), rule.most_bytes = device_tile_bytes;
    else
      limit = limit == 0 ? host_tile_bytes : std::min(limit, host_tile_bytes);
    rule.limits.push_back(limit / static_cast<std::uint64_t>(job.lanes_of(worker)));
    works.push_back(job.work(worker, {}));
  }
  for (const Rows& output : job.form.outputs) rule.pixel_bytes += bytes_of(output.of(1, 1), output.type);
  rule.bytes = [works = std::move(works)](std::size_t worker, std::int64_t width, std::int64_t height) {
    return part_bytes(*works[worker], width, height);
  };
  return cut_tiles(job.image, rule);
}

}  // namespace

TiledTables tiled_tables(const Shape& image, Type type, const SatOptions& options, const PieceOptions& tiles) {
  TiledTables tables{
      {}, {image, type, of_whole(options), {.backend = Backend::cpu}}, options.mask || options.ignore_nan};
  check_options(image, options);
  TileJob& job = tables.job;
  job.image = job.whole = image;
  SatOptions of_tile = options;
  of_tile.types = tables.whole.types();
  of_tile.border = without_last(options.border, job.image);
  if (options.reverse) job.x = image.width - job.image.width, job.y = image.height - job.image.height;
  job.work = [part = job.image, type, of_tile](const Worker& worker, const Bins&) {
    return std::make_unique<TableWork>(part, type, of_tile, execution_of(worker), TableWork::Tables::leave);
  };
  job.take(tiles);
  for (const Rows& table : job.form.outputs)
    for (const Worker& worker : job.workers)
      require(!is_float(table.type) || worker.backend == job.workers[0].backend, "workers ", name_of(job.workers[0]),
              " and ", name_of(worker), ": tables of ", name_of(table.type),
              " take workers of one backend, so that the same bits come out every time");
  job.squares = tables.whole.squares_type().has_value();
  job.second = "mask";
  job.cuda_lanes = 3;  // one is uploaded, one downloaded and one delivered
  job.cancelled = "the summed-area table was cancelled";
  job.cut = cut_of(job, tiles);
  return tables;
}

}  // namespace areal::pieces

namespace areal {

struct TiledSat::State {
  pieces::TiledTables tables;
};

TiledSat::TiledSat(const Shape& image, Type type, const SatOptions& options, const PieceOptions& tiles)
    : state_(std::make_unique<State>(State{pieces::tiled_tables(image, type, options, tiles)})) {}
TiledSat::~TiledSat() = default;
TiledSat::TiledSat(TiledSat&&) noexcept = default;
TiledSat& TiledSat::operator=(TiledSat&&) noexcept = default;

const TiledGrid& TiledSat::grid() const noexcept { return state_->tables.job.cut; }
Shape TiledSat::table_shape() const noexcept { return state_->tables.whole.table_shape(); }
Shape TiledSat::count_shape() const noexcept { return state_->tables.whole.count_shape(); }
TypePair TiledSat::types() const noexcept { return state_->tables.whole.types(); }
std::optional<Type> TiledSat::squares_type() const noexcept { return state_->tables.whole.squares_type(); }

void TiledSat::pieces(const ImageReader& read, const PieceSink& sink, const ImageReader& read_mask) const {
  pieces::TilePool pool;
  pieces::give_pieces(state_->tables.job, pool, {read, read_mask, sink});
}

void TiledSat::table(const ImageReader& read, const View& sum, const View& squares, const View& count,
                     const ImageReader& read_mask) const {
  const pieces::TiledTables& tables = state_->tables;
  struct Whole {
    const char* name;
    const View& view;
    std::optional<Type> type;
    Shape shape;
  };
  const Whole wholes[] = {{"sum", sum, types().table, table_shape()},
                          {"squares", squares, squares_type(), table_shape()},
                          {"count", count, tables.counts ? std::optional(Type::u32) : std::nullopt, count_shape()}};
  for (const Whole& whole : wholes) {
    if (whole.type)
      check_view(whole.name, whole.view, whole.shape, *whole.type);
    else
      require(whole.view.data == nullptr, whole.name, " was given, but this has no such table");
    require(whole.view.memory.is_host(), "tables by tiles are put together in host memory");
    for (const Whole& other : wholes)
      require(&other == &whole || !may_overlap(whole.view, other.view), whole.name, " and ", other.name,
              " share memory");
  }
  const auto put = [](const ConstView& piece, std::int64_t x, std::int64_t y, const View& whole) {
    if (piece.data == nullptr) return;
    char* const first = static_cast<char*>(whole.row(y)) + x * whole.column_pitch();
    copy_rows(piece, View(first, piece.type, piece.shape, whole.row_pitch, whole.plane_pitch));
  };
  const PieceSink sink = [&](const Piece& piece) {
    put(piece.values, piece.x, piece.y, sum);
    put(piece.squares, piece.x, piece.y, squares);
    put(piece.count, piece.x, piece.y, count);
    return true;
  };
  pieces::TilePool pool;
  pieces::give_pieces(tables.job, pool, {read, read_mask, sink, false});
}

}  // namespace areal
