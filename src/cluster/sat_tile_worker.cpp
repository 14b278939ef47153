// A worker of TiledSat: the CPU, the simulated machine or a CUDA device. On a device each lane has a stream, and pixels
// and entries pass through page-locked memory of the lane, so that the uploads, kernels and downloads of several tiles
// overlap; what is read from there is delivered from there.

#include <algorithm>
#include <areal/error.hpp>
#include <array>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include "api/core/copy_rows.hpp"
#include "api/core/memory.hpp"
#include "api/core/planned.hpp"
#include "api/core/require.hpp"
#include "api/core/view_check.hpp"
#include "cluster/sat_tile_lane.hpp"
#include "cluster/tiled_sat.hpp"
#include "cuda/device.hpp"

namespace areal::cluster {
namespace {

/// The carries of a tile's tables in one piece of memory: offsets of each table's row and column.
struct CarryRoom {
  std::array<std::size_t, 2> above{}, left{};
  std::size_t bytes = 0;

  CarryRoom(const TiledSatWork& work, std::int64_t width, std::int64_t height) {
    const auto room = [&](std::int64_t entries, Type type) {
      const std::size_t at = bytes;
      bytes += (static_cast<std::size_t>(entries) * size_of(type) + 15) / 16 * 16;
      return at;
    };
    for (std::size_t t = 0; t < work.tables.size(); ++t) {
      above[t] = room(width + 1, work.tables[t]);
      left[t] = room(height, work.tables[t]);
    }
  }
};

class SatTileWorker final : public queue::TaskWorker {
 public:
  SatTileWorker(const Worker& worker, const SatRun& run, SatTiles& tiles, std::mutex& reading,
                std::function<void(const SatPiece&)> deliver)
      : worker_(worker),
        run_(run),
        work_(run.work),
        tiles_(tiles),
        reading_(reading),
        deliver_(std::move(deliver)),
        lanes_(static_cast<std::size_t>(sat_lanes(worker))) {}
  std::string name() const override { return name_of(worker_); }
  int lanes() const override { return static_cast<int>(lanes_.size()); }
  bool shared() const override { return worker_.backend == Backend::cuda; }

  void begin(int number) override {
    Buffers& lane = lanes_[static_cast<std::size_t>(number)];
    std::optional<cuda::DeviceScope> scope;
    if (on_cuda()) {
      scope.emplace(worker_.device);
      lane.stream.emplace();
      lane.uploaded.emplace(), lane.handed_on.emplace();
    }
    const TiledGrid& grid = work_.grid;  // the first tile is as large as any
    const std::int64_t width = std::min(grid.tile_width, work_.image.width),
                       height = std::min(grid.tile_height, work_.image.height);
    const std::size_t image = bytes_of(Shape{width, height}, work_.type),
                      carries = CarryRoom(work_, width, height).bytes;
    lane.room = Memory::of_host(image, on_cuda());
    lane.carries = Memory::of_host(carries, on_cuda());
    if (on_cuda()) {
      lane.image = Memory(image, place());
      lane.device_carries = Memory(carries, place());
      lane.bottom = Memory::of_host(static_cast<std::size_t>(width) * sizeof(double) * work_.tables.size(), true);
    }
    for (std::size_t t = 0; t < work_.tables.size(); ++t) {
      const std::size_t table = bytes_of(table_shape({0, 0, width, height}), work_.tables[t]);
      lane.tables[t] = Memory::of_host(table, on_cuda());
      if (on_cuda()) lane.device_tables[t] = Memory(table, place());
    }
  }

  bool work(int number, const queue::Task& task) override try {
    if (tiles_.is_delivered(task.id)) return false;
    std::optional<cuda::DeviceScope> scope;
    if (on_cuda()) scope.emplace(worker_.device);
    attempt(lanes_[static_cast<std::size_t>(number)], task.id);
    return true;
  } catch (...) {
    tiles_.failed(task.id);
    throw;
  }

 private:
  struct Buffers {
    std::optional<cuda::OwnedStream> stream;
    std::optional<cuda::Event> uploaded, handed_on;  // what the next tiles take over has come down
    ConstView pixels;                                // of the tile in hand
    Memory room, carries, bottom;
    std::array<Memory, 2> tables;
    Memory image, device_carries;
    std::array<Memory, 2> device_tables;
    std::map<std::pair<std::int64_t, std::int64_t>, Planned<SatPlan>> plans;  // by the tile's size: at most four
  };

  bool on_cuda() const noexcept { return worker_.backend == Backend::cuda; }
  MemoryPlace place() const noexcept {
    return on_cuda() ? MemoryPlace{MemoryPlace::cuda, worker_.device} : MemoryPlace{};
  }
  Stream stream_of(const Buffers& lane) const { return lane.stream ? lane.stream->get() : Stream::host(); }
  Shape table_shape(const Region& tile) const { return {tile.width + work_.offset(), tile.height + work_.offset()}; }
  View table_of(Buffers& lane, std::size_t t, const Region& tile) const {
    return (on_cuda() ? lane.device_tables[t] : lane.tables[t]).view(work_.tables[t], table_shape(tile));
  }
  ConstView host_table(Buffers& lane, std::size_t t, const Region& tile) const {
    return lane.tables[t].view(work_.tables[t], table_shape(tile));
  }

  void attempt(Buffers& lane, std::int64_t id) {
    const Region tile = tiles_.region(id);
    std::optional<cuda::HostCopyGuard> guard;
    if (on_cuda()) guard.emplace(stream_of(lane));
    if (!fetch(lane, tile)) return;
    tiles_.fetched(id);
    if (!tiles_.wait_for_carries(id)) return give_up(lane);
    compute(lane, id, tile);
    hand_on(lane, id, tile);
    if (!tiles_.may_deliver(id)) return;
    try {
      deliver_(piece_of(lane, id, tile));
    } catch (...) {
      return tiles_.stop(std::current_exception());
    }
    tiles_.delivered(id);
  }

  // The upload may still read the lane's memory. What else is wrong with the device is told by the next attempt.
  void give_up(Buffers& lane) const {
    if (on_cuda()) try {
        cuda::synchronize(stream_of(lane));
      } catch (const Error&) {
      }
  }

  // The tile's pixels, where the worker reads them or on their way there. False where the caller's rows ended the run.
  bool fetch(Buffers& lane, const Region& tile) {
    lane.pixels = ConstView(nullptr, work_.type, {tile.width, tile.height}).in(place());
    if (lane.pixels.shape.empty()) return true;
    const std::lock_guard lock(reading_);
    ConstView pixels;
    try {
      const ConstView rows = run_.rows(tile.y, tile.height);
      check_view("rows", rows, {work_.whole_image.width, tile.height}, work_.type);
      require(rows.memory.is_host(), "rows: they lie on CUDA device ", rows.memory.device,
              ", they must be in host memory");
      const char* const first = static_cast<const char*>(rows.data) + tile.x * rows.column_pitch();
      pixels = ConstView(first, work_.type, lane.pixels.shape, rows.row_pitch);
    } catch (...) {
      tiles_.stop(std::current_exception());
      return false;
    }
    fetch_from(lane, pixels);
    return true;
  }

  // Rows stay as they are until the next call: where nobody else calls, until this tile is computed.
  void fetch_from(Buffers& lane, const ConstView& rows) {
    if (!on_cuda() && work_.tiled.workers.size() == 1 && lanes_.size() == 1) {
      lane.pixels = rows;
      return;
    }
    const Shape& shape = rows.shape;
    const std::size_t bytes = bytes_of(shape, work_.type);
    lane.pixels.data = on_cuda() ? lane.image.data() : lane.room.data();
    const bool in_one_piece = rows.row_pitch == shape.width * rows.column_pitch();
    if (on_cuda() && in_one_piece && cuda::is_page_locked(rows.data)) {
      cuda::copy_in(lane.image.data(), rows.data, bytes, stream_of(lane));
      lane.uploaded->record(stream_of(lane));
      lane.uploaded->synchronize();
      return;
    }
    copy_rows(rows, View(lane.room.data(), work_.type, shape));
    if (on_cuda()) cuda::copy_in(lane.image.data(), lane.room.data(), bytes, stream_of(lane));
  }

  void compute(Buffers& lane, std::int64_t id, const Region& tile) {
    Planned<SatPlan>& planned = plan_of(lane, tile);
    SatArguments arguments;
    arguments.image = lane.pixels;
    const CarryRoom at(work_, tile.width, tile.height);
    const Memory& carries = on_cuda() ? lane.device_carries : lane.carries;
    for (std::size_t t = 0; t < work_.tables.size(); ++t) {
      tiles_.take(id, t, lane.carries.at(at.above[t]), lane.carries.at(at.left[t]));
      const Type type = work_.tables[t];
      Carry carry;
      if (!tiles_.is_first_row(id))
        carry.above = ConstView(carries.at(at.above[t]), type, {tile.width + 1, 1}).in(place());
      if (!tiles_.is_first_column(id))
        carry.left = ConstView(carries.at(at.left[t]), type, {1, tile.height}).in(place());
      (t == 0 ? arguments.carry : arguments.squares_carry) = carry;
      (t == 0 ? arguments.sum : arguments.squares) = table_of(lane, t, tile);
    }
    if (on_cuda() && id > 0) cuda::copy_in(lane.device_carries.data(), lane.carries.data(), at.bytes, stream_of(lane));
    planned.plan.execute(arguments, planned.workspace);
  }

  // The last row and column for the next tiles; then all of the tables, on the host. The row comes down before the rest
  // where it is all that is handed on.
  void hand_on(Buffers& lane, std::int64_t id, const Region& tile) {
    const std::int64_t o = work_.offset();
    const bool rows_alone = on_cuda() && work_.grid.columns == 1;
    const auto size = [&](std::size_t t) { return static_cast<std::int64_t>(size_of(work_.tables[t])); };
    const auto bottom_of = [&](std::size_t t) {
      return lane.bottom.at(t * static_cast<std::size_t>(tile.width) * sizeof(double));
    };
    if (on_cuda()) {
      const Stream stream = stream_of(lane);
      for (std::size_t t = 0; t < work_.tables.size() && rows_alone && tile.height > 0; ++t) {
        const View table = table_of(lane, t, tile);
        const char* const from = static_cast<const char*>(table.row(tile.height - 1 + o)) + o * size(t);
        cuda::copy_out(bottom_of(t), from, static_cast<std::size_t>(tile.width * size(t)), stream);
      }
      lane.handed_on->record(stream);
      for (std::size_t t = 0; t < work_.tables.size(); ++t)
        cuda::copy_out(lane.tables[t].data(), lane.device_tables[t].data(),
                       bytes_of(table_shape(tile), work_.tables[t]), stream);
      if (rows_alone)
        lane.handed_on->synchronize();
      else
        cuda::synchronize(stream);
    }
    for (std::size_t t = 0; t < work_.tables.size() && tile.width > 0 && tile.height > 0; ++t) {
      const ConstView table = host_table(lane, t, tile);
      const char* const last = static_cast<const char*>(table.row(tile.height - 1 + o)) + o * size(t);
      const char* const right = static_cast<const char*>(table.row(o)) + (tile.width - 1 + o) * size(t);
      tiles_.publish(id, t, rows_alone ? bottom_of(t) : last, rows_alone ? nullptr : right, table.row_pitch);
    }
    tiles_.computed(id);
    if (rows_alone) cuda::synchronize(stream_of(lane));
  }

  // Without the zeros, or the neighbours' entries, that a tile's table begins with, unless they are the whole table's.
  SatPiece piece_of(Buffers& lane, std::int64_t id, const Region& tile) {
    const std::int64_t o = work_.offset(), left = tiles_.is_first_column(id) ? 0 : o,
                       top = tiles_.is_first_row(id) ? 0 : o;
    SatPiece piece{tile.x + left, tile.y + top, {}, {}};
    for (std::size_t t = 0; t < work_.tables.size(); ++t) {
      const ConstView table = host_table(lane, t, tile);
      const char* const first = static_cast<const char*>(table.row(top)) + left * table.column_pitch();
      const Shape shape{table.shape.width - left, table.shape.height - top};
      (t == 0 ? piece.sum : piece.squares) = ConstView(first, table.type, shape, table.row_pitch);
    }
    return piece;
  }

  Planned<SatPlan>& plan_of(Buffers& lane, const Region& tile) {
    const std::pair size(tile.width, tile.height);
    const auto known = lane.plans.find(size);
    if (known != lane.plans.end()) return known->second;
    return lane.plans
        .emplace(size, Planned<SatPlan>(sat_tile_plan(work_, worker_, tile.width, tile.height), stream_of(lane)))
        .first->second;
  }

  Worker worker_;
  const SatRun& run_;
  const TiledSatWork& work_;
  SatTiles& tiles_;
  std::mutex& reading_;
  const std::function<void(const SatPiece&)> deliver_;
  std::vector<Buffers> lanes_;
};

}  // namespace

SatPlan sat_tile_plan(const TiledSatWork& work, const Worker& worker, std::int64_t width, std::int64_t height) {
  return SatPlan({width, height}, work.type, work.options,
                 {.backend = worker.backend, .device = worker.device, .threads = worker.threads});
}

std::uint64_t sat_lane_bytes(const TiledSatWork& work, const SatPlan& plan) {
  const Shape& image = plan.image_shape();
  return bytes_of(image, work.type) + plan.table_bytes() + plan.workspace_bytes() +
         CarryRoom(work, image.width, image.height).bytes;
}

std::unique_ptr<queue::TaskWorker> sat_tile_worker(const Worker& worker, const SatRun& run, SatTiles& tiles,
                                                   std::mutex& reading,
                                                   const std::function<void(const SatPiece&)>& deliver) {
  return std::make_unique<SatTileWorker>(worker, run, tiles, reading, deliver);
}

}  // namespace areal::cluster
