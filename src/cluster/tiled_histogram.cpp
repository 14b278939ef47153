// TiledHistogram: the grid of tiles, a task for each, and workers that answer a tile from its own tensor (on devices)
// or by streaming it (on the CPU). A region's counts are the sums of those of its parts in the tiles that it touches.

#include <algorithm>
#include <areal/error.hpp>
#include <areal/histogram.hpp>
#include <areal/region_histogram.hpp>
#include <areal/tiled.hpp>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include "api/core/copy_rows.hpp"
#include "api/core/pixel_rule.hpp"
#include "api/core/require.hpp"
#include "api/core/view_check.hpp"
#include "api/query/region_check.hpp"
#include "cluster/planned_histogram.hpp"
#include "cluster/task_queue.hpp"
#include "cluster/workers.hpp"
#include "cuda/device.hpp"

namespace areal {
namespace {

using cluster::LaneMemory;
using cluster::PlannedHistogram;

constexpr int lanes_of_device = 2;                                  // one tile is uploaded while another is computed
constexpr std::uint64_t host_tile_bytes = std::uint64_t{64} << 20;  // of pixels
constexpr std::int64_t least_rows = 64;                             // of a tile that is made for the sake of balance

Execution execution_of(const Worker& worker) {
  return {.backend = worker.backend, .device = worker.device, .threads = worker.threads};
}

/// What the tiles of one call have in common.
struct Job {
  const Shape& image;
  Type type;
  const Binning& binning;
  const TiledGrid& grid;
  const ImageRows& rows;
  std::span<const Region> regions;
  std::span<std::uint64_t> counts;
  std::mutex reading, adding;

  Region tile(std::int64_t number) const {
    const std::int64_t x = number % grid.columns * grid.tile_width, y = number / grid.columns * grid.tile_height;
    return {x, y, std::min(grid.tile_width, image.width - x), std::min(grid.tile_height, image.height - y)};
  }
};

/// The parts of regions in a tile, from its corner, and which regions they are of.
struct Parts {
  std::vector<Region> regions;
  std::vector<std::size_t> numbers;

  Parts(std::span<const Region> all, const Region& tile) {
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

class TileWorker final : public cluster::Worker {
 public:
  TileWorker(const areal::Worker& worker, Job& job)
      : worker_(worker),
        job_(job),
        lanes_(static_cast<std::size_t>(worker.backend == Backend::cuda ? lanes_of_device : 1)) {}
  std::string name() const override { return name_of(worker_); }
  int lanes() const override { return static_cast<int>(lanes_.size()); }
  bool shared() const override { return on_cuda(); }

  void begin(int lane) override {
    std::optional<cuda::DeviceScope> scope;
    make_current(scope);
    if (on_cuda()) lanes_[static_cast<std::size_t>(lane)].stream.emplace();
  }

  bool work(int number, const cluster::Task& task) override {
    Buffers& lane = lanes_[static_cast<std::size_t>(number)];
    const Region tile = job_.tile(task.id);
    const Parts parts(job_.regions, tile);
    if (parts.regions.empty()) return false;
    std::optional<cuda::DeviceScope> scope;
    make_current(scope);
    fetch(lane, tile);
    const auto bins = static_cast<std::size_t>(job_.binning.bins());
    lane.answers.assign(parts.regions.size() * bins, 0);
    const ConstView pixels(lane.room.view().data, job_.type, tile_shape(tile));
    if (worker_.backend == Backend::cpu)
      region_histograms(pixels, job_.binning, parts.regions, lane.answers, {.execution = execution_of(worker_)});
    else
      from_tensor(lane, pixels, parts);
    const std::lock_guard lock(job_.adding);
    for (std::size_t i = 0; i < parts.numbers.size(); ++i)
      for (std::size_t b = 0; b < bins; ++b) job_.counts[parts.numbers[i] * bins + b] += lane.answers[i * bins + b];
    return true;
  }

 private:
  struct Buffers {
    std::optional<cuda::OwnedStream> stream;
    Array room;
    LaneMemory image, tensor;
    std::map<std::pair<std::int64_t, std::int64_t>, PlannedHistogram> plans;  // by the tile's size: at most four
    std::vector<std::uint64_t> answers;
  };

  bool on_cuda() const noexcept { return worker_.backend == Backend::cuda; }
  void make_current(std::optional<cuda::DeviceScope>& scope) const {
    if (on_cuda()) scope.emplace(worker_.device);
  }
  Shape tile_shape(const Region& tile) const {
    return {tile.width, tile.height, job_.image.channels, 1, job_.image.layout};
  }

  // The tile's pixels, without gaps.
  void fetch(Buffers& lane, const Region& tile) {
    const Shape shape = tile_shape(tile);
    if (lane.room.shape() != shape) lane.room = Array(shape, job_.type);
    const std::lock_guard lock(job_.reading);
    const ConstView rows = job_.rows(tile.y, tile.height);
    check_view("rows", rows, {job_.image.width, tile.height, shape.channels, 1, shape.layout}, job_.type);
    require(rows.memory.is_host(), "rows: they lie on CUDA device ", rows.memory.device,
            ", they must be in host memory");
    const char* const first = static_cast<const char*>(rows.data) + tile.x * rows.column_pitch();
    copy_rows(ConstView(first, job_.type, shape, rows.row_pitch, rows.plane_pitch), lane.room.view());
  }

  void from_tensor(Buffers& lane, const ConstView& pixels, const Parts& parts) {
    const Stream stream = lane.stream ? lane.stream->get() : Stream::host();
    PlannedHistogram& planned = plan_of(lane, pixels.shape, stream);
    const MemoryPlace place = planned.plan.memory();
    const Shape tensor_shape = planned.plan.tensor_shape();
    lane.tensor.grow(static_cast<std::size_t>(bytes_of(tensor_shape, Type::u32)), place);
    const View tensor = View(lane.tensor.data(), Type::u32, tensor_shape).in(place);
    QueryOptions query{.execution = execution_of(worker_)};
    if (!on_cuda()) {
      planned.plan.execute({pixels, tensor}, planned.workspace);
      region_histograms(TensorView(tensor, Border::none), parts.regions, Span<std::uint64_t>(lane.answers), query);
      return;
    }
    const cuda::HostCopyGuard guard(stream);
    const auto bytes = static_cast<std::size_t>(bytes_of(pixels.shape, job_.type));
    lane.image.grow(bytes, place);
    cuda::copy_in(lane.image.data(), pixels.data, bytes, stream);
    planned.plan.execute({ConstView(lane.image.data(), job_.type, pixels.shape).in(place), tensor}, planned.workspace);
    query.execution.stream = stream;
    region_histograms(TensorView(tensor, Border::none), parts.regions, Span<std::uint64_t>(lane.answers),
                      query);  // waits
  }

  PlannedHistogram& plan_of(Buffers& lane, const Shape& shape, Stream stream) {
    const std::pair size(shape.width, shape.height);
    const auto known = lane.plans.find(size);
    if (known != lane.plans.end()) return known->second;
    const HistogramPlan plan(shape, job_.type, job_.binning, {}, execution_of(worker_));
    return lane.plans.emplace(size, PlannedHistogram(plan, stream)).first->second;
  }

  areal::Worker worker_;
  Job& job_;
  std::vector<Buffers> lanes_;
};

/// The largest value of [1, most] that fits, 0 where none does; what is smaller than one that fits, fits.
template <class Fits>
std::int64_t largest(std::int64_t most, const Fits& fits) {
  std::int64_t none = 0, beyond = most + 1;
  while (beyond - none > 1) {
    const std::int64_t middle = none + (beyond - none) / 2;
    (fits(middle) ? none : beyond) = middle;
  }
  return none;
}

}  // namespace

struct TiledHistogram::State {
  Shape image;
  Type type;
  Binning binning;
  TiledOptions options;
  TiledGrid grid;

  /// Bytes of a tile on that worker.
  std::uint64_t tile_bytes(const Worker& worker, std::int64_t width, std::int64_t height) const {
    const Shape shape{width, height, image.channels, 1, image.layout};
    if (worker.backend == Backend::cpu) return bytes_of(shape, type);
    const HistogramPlan plan(shape, type, binning, {}, execution_of(worker));
    return bytes_of(shape, type) + plan.tensor_bytes() + plan.workspace_bytes();
  }

  TiledGrid grid_of() const {
    std::int64_t lanes = 0;
    std::vector<std::uint64_t> limits;
    for (const Worker& worker : options.workers) {
      const bool on_cuda = worker.backend == Backend::cuda;
      std::uint64_t limit = options.device_bytes;
      if (worker.backend == Backend::cpu) limit = host_tile_bytes;
      if (limit == 0) limit = on_cuda ? cuda::free_memory(worker.device) / 10 * 9 : host_tile_bytes;
      limits.push_back(on_cuda ? limit / lanes_of_device : limit);
      lanes += on_cuda ? lanes_of_device : 1;
    }
    const auto fits = [&](std::int64_t width, std::int64_t height) {
      for (std::size_t i = 0; i < limits.size(); ++i)
        if (tile_bytes(options.workers[i], width, height) > limits[i]) return false;
      return true;
    };
    TiledGrid made;
    const std::int64_t width = std::max<std::int64_t>(1, image.width), height = std::max<std::int64_t>(1, image.height);
    made.tile_width = width;
    made.tile_height = largest(height, [&](std::int64_t h) { return fits(width, h); });
    if (made.tile_height == 0) {  // columns, too: squares
      made.tile_width = largest(width, [&](std::int64_t w) { return fits(w, std::min(w, height)); });
      made.tile_height = std::min(made.tile_width, height);
    }
    if (made.tile_width == 0)
      throw OutOfMemory(sentence("one pixel's ", binning.bins(), " bins do not fit the ",
                                 *std::min_element(limits.begin(), limits.end()), " bytes of a worker"),
                        tile_bytes(options.workers[0], 1, 1));
    // Two tiles for each lane, where they are not too flat.
    if (const std::int64_t even = (height + 2 * lanes - 1) / (2 * lanes); even >= least_rows)
      made.tile_height = std::min(made.tile_height, even);
    made.columns = (image.width + made.tile_width - 1) / made.tile_width;
    made.rows = (image.height + made.tile_height - 1) / made.tile_height;
    return made;
  }
};

TiledHistogram::TiledHistogram(const Shape& image, Type type, const Binning& binning, TiledOptions options) {
  check_shape("image", image, type);
  require(image.batch == 1, "image of a batch of ", image.batch, ": it is one image");
  pixel_bins(binning, type, image.channels);  // what does not belong together throws here
  if (options.workers.empty()) options.workers.emplace_back();
  cluster::require_workers(options.workers);
  state_ = std::make_unique<State>(State{image, type, binning, std::move(options), {}});
  state_->grid = state_->grid_of();
}
TiledHistogram::~TiledHistogram() = default;
TiledHistogram::TiledHistogram(TiledHistogram&&) noexcept = default;
TiledHistogram& TiledHistogram::operator=(TiledHistogram&&) noexcept = default;

const TiledGrid& TiledHistogram::grid() const noexcept { return state_->grid; }

void TiledHistogram::answers(const ImageRows& rows, Span<const Region> regions, Span<std::uint64_t> counts) const {
  const State& s = *state_;
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

  Job job{s.image, s.type, s.binning, s.grid, rows, checked, counts.host(), {}, {}};
  std::vector<std::unique_ptr<cluster::Worker>> workers;
  for (const Worker& worker : s.options.workers) workers.push_back(std::make_unique<TileWorker>(worker, job));
  std::mutex failing;
  std::exception_ptr failed;
  cluster::QueueOptions options;
  options.finished = [&](const cluster::Task&, const cluster::Outcome& outcome) {
    const std::lock_guard lock(failing);
    if (outcome.error && !failed) failed = outcome.error;
  };
  options.lost = [&](int, const std::string& why) {
    const std::lock_guard lock(failing);
    if (s.options.note) s.options.note(why);
  };
  cluster::TaskQueue queue(std::move(workers), std::move(options));
  std::vector<cluster::Task> tasks;
  for (std::int64_t tile = 0; tile < s.grid.rows * s.grid.columns; ++tile) {
    cluster::Task task;
    task.id = tile;
    const Region of = job.tile(tile);
    task.cost = static_cast<double>(of.width * of.height);
    tasks.push_back(task);
  }
  queue.push_all(tasks);
  queue.wait_idle();
  if (failed) std::rethrow_exception(failed);
}

}  // namespace areal
