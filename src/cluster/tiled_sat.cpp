// TiledSat: checks, the grid of tiles, and a run on the queue of tasks.

#include "cluster/tiled_sat.hpp"

#include <algorithm>
#include <areal/catalog.hpp>
#include <areal/error.hpp>
#include <exception>
#include <mutex>
#include <optional>
#include <utility>
#include "api/core/copy_rows.hpp"
#include "api/core/require.hpp"
#include "api/core/view_check.hpp"
#include "cluster/sat_tile_lane.hpp"
#include "cluster/tile_grid.hpp"
#include "cuda/device.hpp"
#include "queue/task_queue.hpp"
#include "queue/workers.hpp"

namespace areal::cluster {
namespace {

constexpr std::uint64_t host_tile_bytes = std::uint64_t{64} << 20;  // of a tile's pixels and tables
constexpr std::uint64_t piece_bytes = std::uint64_t{256} << 20;     // of a CUDA worker's, page-locked
constexpr std::int64_t least_rows = 64;                             // of a tile that is made for the sake of balance
constexpr std::int64_t kernel_tile = 256;  // rows and columns of the look-back kernel's largest tiles

std::int64_t whole_kernel_tiles(std::int64_t extent, std::int64_t all) {
  return extent < all && extent > kernel_tile ? extent - extent % kernel_tile : extent;
}

TiledGrid grid_of(const TiledSatWork& work) {
  std::int64_t lanes = 0;
  std::vector<std::uint64_t> limits;
  for (const Worker& worker : work.tiled.workers) {
    const bool on_cuda = worker.backend == Backend::cuda;
    std::uint64_t limit = work.tiled.device_bytes;
    if (limit == 0 && on_cuda) limit = cuda::free_memory(worker.device) / 10 * 9;
    if (!on_cuda) limit = limit == 0 ? host_tile_bytes : std::min(limit, host_tile_bytes);
    limits.push_back(limit / static_cast<std::uint64_t>(sat_lanes(worker)));
    lanes += sat_lanes(worker);
  }
  const auto fits = [&](std::int64_t width, std::int64_t height) {
    for (std::size_t i = 0; i < limits.size(); ++i) {
      const Worker& worker = work.tiled.workers[i];
      const SatPlan plan = sat_tile_plan(work, worker, width, height);
      if (sat_lane_bytes(work, plan) > limits[i]) return false;
      if (worker.backend == Backend::cuda && plan.table_bytes() > piece_bytes && height > 1) return false;
    }
    return true;
  };
  TiledGrid made;
  const std::int64_t width = std::max<std::int64_t>(1, work.image.width),
                     height = std::max<std::int64_t>(1, work.image.height);
  made.tile_width = width, made.tile_height = height;
  if (work.image.empty()) return made;  // its table is its first row or column
  made.tile_height = whole_kernel_tiles(largest(height, [&](std::int64_t h) { return fits(width, h); }), height);
  if (made.tile_height == 0) {  // columns, too: squares
    made.tile_width =
        whole_kernel_tiles(largest(width, [&](std::int64_t w) { return fits(w, std::min(w, height)); }), width);
    made.tile_height = std::min(made.tile_width, height);
  }
  if (made.tile_width == 0)
    throw OutOfMemory(sentence("one pixel's table does not fit the ", *std::min_element(limits.begin(), limits.end()),
                               " bytes of a worker"),
                      sat_lane_bytes(work, sat_tile_plan(work, work.tiled.workers[0], 1, 1)));
  // Two tiles for each lane, where they are not too flat.
  if (const std::int64_t even = (height + 2 * lanes - 1) / (2 * lanes); even >= least_rows)
    made.tile_height = std::min(made.tile_height, even);
  made.columns = (width + made.tile_width - 1) / made.tile_width;
  made.rows = (height + made.tile_height - 1) / made.tile_height;
  return made;
}

}  // namespace

TiledSatWork tiled_sat_work(const Shape& image, Type type, const SatOptions& options, TiledOptions tiled) {
  if (tiled.workers.empty()) tiled.workers.emplace_back();
  queue::require_workers(tiled.workers);
  require(image.batch == 1 && image.channels == 1, "image of ", image.channels, " channels, batch ", image.batch,
          ": tables by tiles are of one image of one channel");
  require(
      !options.tilted && !options.mask && !options.ignore_nan && !options.volume && !options.reverse,
      "tables by tiles are sums and squares of all pixels: no tilted table, no mask, no ignore_nan, no volume and no "
      "reverse");
  // What a plan of the whole image refuses; it takes no memory.
  const SatPlan whole(image, type,
                      [&] {
                        SatOptions of_whole = options;
                        of_whole.algorithm = "auto", of_whole.progress = {};
                        return of_whole;
                      }(),
                      {.backend = Backend::cpu});
  TiledSatWork work;
  work.type = type;
  work.whole_image = work.image = image;
  work.table_shape = whole.table_shape();
  work.options = whole.options();
  work.options.algorithm = options.algorithm;
  work.progress = options.progress;
  if (const Algorithm* const row = find_algorithm("sat", options.algorithm))
    require(!row->plain_only, "algorithm ", options.algorithm,
            " takes no carries, so it makes no tables by tiles; choose auto");
  if (options.border == Border::exclusive) {  // the table, with zeros before it, of the image without its last ones
    work.options.border = Border::zero;
    work.image.width = std::max<std::int64_t>(0, image.width - 1);
    work.image.height = std::max<std::int64_t>(0, image.height - 1);
  }
  work.tables.push_back(whole.types().table);
  if (whole.squares_type()) work.tables.push_back(*whole.squares_type());
  for (const Type table : work.tables)
    for (const Worker& worker : tiled.workers)
      require(!is_float(table) || worker.backend == tiled.workers[0].backend, "workers ", name_of(tiled.workers[0]),
              " and ", name_of(worker), ": tables of ", name_of(table),
              " take workers of one backend, so that the same bits come out every time");
  work.tiled = std::move(tiled);
  work.grid = grid_of(work);
  return work;
}

void run_sat_tiles(const SatRun& run, const queue::WrapWorker& wrap) {
  const TiledSatWork& work = run.work;
  if (work.table_shape.empty()) return;
  std::vector<std::size_t> entry_bytes;
  for (const Type table : work.tables) entry_bytes.push_back(size_of(table));
  queue::TaskQueue* queue = nullptr;
  std::optional<SatTiles> tiles;
  tiles.emplace(work.image, work.grid, std::move(entry_bytes), [&](std::int64_t tile) {
    const Region of = tiles->region(tile);
    queue::Task task;
    task.id = tile;
    task.cost = static_cast<double>(std::max<std::int64_t>(1, of.width * of.height));
    queue->push(task);
  });

  std::mutex reading, delivering, noting;
  std::int64_t done = 0;
  const auto deliver = [&](const SatPiece& piece) {
    std::unique_lock lock(delivering, std::defer_lock);
    if (run.one_at_a_time) lock.lock();
    if (!run.sink(piece)) tiles->stop(nullptr);
    if (!run.one_at_a_time) lock.lock();
    if (work.progress && !work.progress(++done, tiles->count())) throw Cancelled("the summed-area table was cancelled");
  };
  std::vector<std::unique_ptr<queue::TaskWorker>> workers;
  for (const Worker& worker : work.tiled.workers) {
    workers.push_back(sat_tile_worker(worker, run, *tiles, reading, deliver));
    if (wrap) workers.back() = wrap(std::move(workers.back()), static_cast<int>(workers.size()) - 1);
  }
  queue::QueueOptions options;
  options.finished = [&](const queue::Task&, const queue::Outcome& outcome) {
    if (outcome.error) tiles->stop(outcome.error);
  };
  options.lost = [&](int, const std::string& why) {
    const std::lock_guard lock(noting);
    if (work.tiled.note) work.tiled.note(why);
  };
  {
    queue::TaskQueue of_run(std::move(workers), std::move(options));
    queue = &of_run;
    tiles->start();
    of_run.wait_idle();
  }
  if (tiles->error()) std::rethrow_exception(tiles->error());
}

}  // namespace areal::cluster

namespace areal {

struct TiledSat::State {
  cluster::TiledSatWork work;
};

TiledSat::TiledSat(const Shape& image, Type type, const SatOptions& options, TiledOptions tiled)
    : state_(std::make_unique<State>(State{cluster::tiled_sat_work(image, type, options, std::move(tiled))})) {}
TiledSat::~TiledSat() = default;
TiledSat::TiledSat(TiledSat&&) noexcept = default;
TiledSat& TiledSat::operator=(TiledSat&&) noexcept = default;

const TiledGrid& TiledSat::grid() const noexcept { return state_->work.grid; }
Shape TiledSat::table_shape() const noexcept { return state_->work.table_shape; }
TypePair TiledSat::types() const noexcept { return *state_->work.options.types; }
std::optional<Type> TiledSat::squares_type() const noexcept {
  const std::vector<Type>& tables = state_->work.tables;
  return tables.size() > 1 ? std::optional(tables[1]) : std::nullopt;
}

void TiledSat::pieces(const ImageRows& rows, const SatSink& sink) const {
  cluster::run_sat_tiles({state_->work, rows, sink, true});
}

void TiledSat::table(const ImageRows& rows, const View& sum, const View& squares) const {
  const cluster::TiledSatWork& work = state_->work;
  check_view("sum", sum, work.table_shape, work.tables[0]);
  if (work.tables.size() > 1)
    check_view("squares", squares, work.table_shape, work.tables[1]);
  else
    require(squares.data == nullptr, "squares was given, but this has no such table");
  require(sum.memory.is_host() && squares.memory.is_host(), "tables by tiles are put together in host memory");
  require(!may_overlap(sum, squares), "sum and squares share memory");
  const auto put = [](const ConstView& piece, std::int64_t x, std::int64_t y, const View& whole) {
    if (piece.data == nullptr) return;
    char* const first = static_cast<char*>(whole.row(y)) + x * whole.column_pitch();
    copy_rows(piece, View(first, piece.type, piece.shape, whole.row_pitch));
  };
  const SatSink sink = [&](const SatPiece& piece) {
    put(piece.sum, piece.x, piece.y, sum);
    put(piece.squares, piece.x, piece.y, squares);
    return true;
  };
  cluster::run_sat_tiles({work, rows, sink, false});
}

}  // namespace areal
