#include "cluster/sat_tiles.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace areal::cluster {

SatTiles::SatTiles(const Shape& image, const TiledGrid& grid, std::vector<std::size_t> entry_bytes,
                   std::function<void(std::int64_t tile)> push)
    : image_(image), grid_(grid), entry_bytes_(std::move(entry_bytes)), push_(std::move(push)) {
  tiles_.resize(static_cast<std::size_t>(count()));
  delivered_in_row_.resize(static_cast<std::size_t>(grid_.rows));
}

Region SatTiles::region(std::int64_t tile) const {
  const std::int64_t x = tile % grid_.columns * grid_.tile_width, y = tile / grid_.columns * grid_.tile_height;
  return {x, y, std::min(grid_.tile_width, image_.width - x), std::min(grid_.tile_height, image_.height - y)};
}

// The tile above the left one is done before either.
bool SatTiles::neighbours_are(Stage stage, std::int64_t tile) const {
  return (is_first_row(tile) || at(tile - grid_.columns).stage >= stage) &&
         (is_first_column(tile) || at(tile - 1).stage >= stage);
}

void SatTiles::push_if_ready(std::int64_t tile) {
  if (stopped_ || at(tile).stage != Stage::idle || !neighbours_are(Stage::fetched, tile)) return;
  at(tile).stage = Stage::pushed;
  push_(tile);
}

void SatTiles::push_after(std::int64_t tile) {
  if (tile + grid_.columns < count()) push_if_ready(tile + grid_.columns);
  if ((tile + 1) % grid_.columns != 0) push_if_ready(tile + 1);
}

void SatTiles::start() {
  const std::lock_guard lock(mutex_);
  if (count() > 0) push_if_ready(0);
}

bool SatTiles::is_delivered(std::int64_t tile) const {
  const std::lock_guard lock(mutex_);
  return !at(tile).may_deliver;
}

void SatTiles::fetched(std::int64_t tile) {
  const std::lock_guard lock(mutex_);
  if (at(tile).stage == Stage::pushed) at(tile).stage = Stage::fetched;
  push_after(tile);
}

bool SatTiles::wait_for_carries(std::int64_t tile) {
  std::unique_lock lock(mutex_);
  changed_.wait(
      lock, [&] { return stopped_ || neighbours_are(Stage::computed, tile) || !neighbours_are(Stage::fetched, tile); });
  if (!stopped_ && neighbours_are(Stage::computed, tile)) return true;
  if (at(tile).stage < Stage::computed) at(tile).stage = Stage::idle;
  changed_.notify_all();
  return false;
}

void SatTiles::take(std::int64_t tile, std::size_t table, void* above, void* left) const {
  const std::size_t size = entry_bytes_[table];
  const Region of = region(tile);
  // No lock: what computed neighbours have published stays until this tile is delivered.
  if (!is_first_row(tile)) {
    auto* const to = static_cast<std::byte*>(above);
    const std::int64_t upper = tile - grid_.columns;
    std::memset(to, 0, size);
    if (!is_first_column(tile)) {
      const std::vector<std::byte>& before = at(upper - 1).bottom[table];
      std::memcpy(to, before.data() + before.size() - size, size);
    }
    std::memcpy(to + size, at(upper).bottom[table].data(), static_cast<std::size_t>(of.width) * size);
  }
  if (!is_first_column(tile))
    std::memcpy(left, at(tile - 1).right[table].data(), static_cast<std::size_t>(of.height) * size);
}

void SatTiles::publish(std::int64_t tile, std::size_t table, const void* bottom, const void* right,
                       std::int64_t pitch) {
  Tile& mine = at(tile);
  {
    const std::lock_guard lock(mutex_);
    if (mine.stage == Stage::computed) return;  // by an attempt that failed later
  }
  const std::size_t size = entry_bytes_[table];
  const Region of = region(tile);
  mine.bottom.resize(entry_bytes_.size()), mine.right.resize(entry_bytes_.size());
  if (tile + grid_.columns < count() && bottom != nullptr) {
    const auto* const from = static_cast<const std::byte*>(bottom);
    mine.bottom[table].assign(from, from + static_cast<std::size_t>(of.width) * size);
  }
  if ((tile + 1) % grid_.columns == 0 || right == nullptr) return;
  mine.right[table].resize(static_cast<std::size_t>(of.height) * size);
  for (std::int64_t y = 0; y < of.height; ++y)
    std::memcpy(mine.right[table].data() + static_cast<std::size_t>(y) * size,
                static_cast<const std::byte*>(right) + y * pitch, size);
}

void SatTiles::computed(std::int64_t tile) {
  const std::lock_guard lock(mutex_);
  at(tile).stage = Stage::computed;
  push_after(tile);
  changed_.notify_all();
}

bool SatTiles::may_deliver(std::int64_t tile) {
  const std::lock_guard lock(mutex_);
  return !stopped_ && std::exchange(at(tile).may_deliver, false);
}

void SatTiles::delivered(std::int64_t tile) {
  const std::lock_guard lock(mutex_);
  if (!is_first_column(tile)) at(tile - 1).right.clear();
  const std::int64_t row = tile / grid_.columns;
  if (++delivered_in_row_[static_cast<std::size_t>(row)] < grid_.columns || row == 0) return;
  for (std::int64_t x = 0; x < grid_.columns; ++x) at((row - 1) * grid_.columns + x).bottom.clear();
}

void SatTiles::failed(std::int64_t tile) {
  const std::lock_guard lock(mutex_);
  if (at(tile).stage == Stage::fetched) at(tile).stage = Stage::pushed;
  changed_.notify_all();
}

void SatTiles::stop(std::exception_ptr error) {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  if (!error_) error_ = std::move(error);
  changed_.notify_all();
}

std::exception_ptr SatTiles::error() const {
  const std::lock_guard lock(mutex_);
  return error_;
}

}  // namespace areal::cluster
