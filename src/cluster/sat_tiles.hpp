#pragma once
// The tiles of one table: which may begin, what each takes over from its neighbours, and that each is delivered once.
//
// A tile is begun when the tiles above it and to its left have their pixels, and computed when both are; so it fetches
// its pixels while they are computed. An attempt that waits for a tile whose attempt failed, or was given up, is given
// up, too: it holds no lane while the other is tried again. So no attempt waits for one that is not running, whatever
// the order in which a queue gives them to its workers.

#include <areal/region.hpp>
#include <areal/tiled.hpp>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <vector>

namespace areal::cluster {

class SatTiles {
 public:
  /// `push` is called for each tile that may begin, under a lock, and once more after an attempt that was given up.
  /// `entry_bytes`: of the entries of each table.
  SatTiles(const Shape& image, const TiledGrid& grid, std::vector<std::size_t> entry_bytes,
           std::function<void(std::int64_t tile)> push);

  std::int64_t count() const noexcept { return grid_.rows * grid_.columns; }
  Region region(std::int64_t tile) const;
  bool is_first_row(std::int64_t tile) const noexcept { return tile < grid_.columns; }
  bool is_first_column(std::int64_t tile) const noexcept { return tile % grid_.columns == 0; }

  void start();

  // One attempt, in this order.
  /// It failed after an earlier attempt had delivered the tile: nothing is left to do.
  bool is_delivered(std::int64_t tile) const;
  /// It has its pixels.
  void fetched(std::int64_t tile);
  /// Until the neighbours are computed. False where the attempt has been given up: it ends then, as if it were done.
  bool wait_for_carries(std::int64_t tile);
  /// The row above the tile, from the corner on (not for the first row of tiles), and the column to its left (not for
  /// the first column).
  void take(std::int64_t tile, std::size_t table, void* above, void* left) const;
  /// The tile's last row, and its last column, whose entries are `pitch` bytes apart; null where the caller knows that
  /// no tile takes it over.
  void publish(std::int64_t tile, std::size_t table, const void* bottom, const void* right, std::int64_t pitch);
  /// All of its tables are published.
  void computed(std::int64_t tile);
  /// True once for each tile, for the attempt that delivers it; never after stop.
  bool may_deliver(std::int64_t tile);
  void delivered(std::int64_t tile);

  /// The attempt ended by an exception; the queue tries again, or calls stop.
  void failed(std::int64_t tile);
  /// No other tile begins or is delivered. The first error is kept.
  void stop(std::exception_ptr error);
  std::exception_ptr error() const;

 private:
  enum class Stage : std::uint8_t { idle, pushed, fetched, computed };
  struct Tile {
    Stage stage = Stage::idle;
    bool may_deliver = true;
    std::vector<std::vector<std::byte>> bottom, right;  // of each table
  };

  Tile& at(std::int64_t tile) { return tiles_[static_cast<std::size_t>(tile)]; }
  const Tile& at(std::int64_t tile) const { return tiles_[static_cast<std::size_t>(tile)]; }
  bool neighbours_are(Stage stage, std::int64_t tile) const;
  void push_if_ready(std::int64_t tile);
  void push_after(std::int64_t tile);

  const Shape image_;
  const TiledGrid grid_;
  const std::vector<std::size_t> entry_bytes_;
  const std::function<void(std::int64_t)> push_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Tile> tiles_;
  std::vector<std::int64_t> delivered_in_row_;
  bool stopped_ = false;
  std::exception_ptr error_;
};

}  // namespace areal::cluster
