#include "chunked/shard_row.hpp"

#include <algorithm>
#include <cstring>
#include "chunked/crc32c.hpp"
#include "chunked/on_threads.hpp"
#include "chunked/sentence.hpp"

namespace areal::chunked {
namespace {
std::size_t size(std::int64_t n) { return static_cast<std::size_t>(n); }
}  // namespace

TilePlans::TilePlans(const Format& f) : format_(f) {
  const std::array<std::int64_t, 2> widths{f.tile, f.width % f.tile}, heights{f.tile, f.height % f.tile};
  for (std::size_t i = 0; i < 4; ++i)
    if (widths[i % 2] > 0 && heights[i / 2] > 0)
      plans_[i].emplace(Shape{widths[i % 2], heights[i / 2]}, f.type(),
                        SatOptions{.border = Border::none, .types = TypePair{f.type(), Type::u32}},
                        Execution{.backend = Backend::cpu, .threads = 1});
}

struct ShardRow::Worker {
  Worker(const Format& format, const WritePlan& plan)
      : pixels(new unsigned char[size(plan.block_side * plan.block_side) * size_of(format.type())]),
        tiles(new unsigned char[size(plan.block_side / format.tile * (format.tile_bytes() + crc_bytes))]) {}

  Block block;
  ConstView image = {};                            // of the block, in `pixels` or where the image has it
  std::unique_ptr<unsigned char[]> pixels, tiles;  // room for a block, and the tables of one of its rows of tiles
  std::array<std::optional<Workspace>, 4> workspaces;
};

ShardRow::ShardRow(const fs::path& folder, const Format& format, const WritePlan& plan, const TilePlans& plans,
                   const ImageReader& read, const std::function<void()>& block_done)
    : folder_(folder), format_(format), plan_(plan), plans_(plans), read_(read), block_done_(block_done) {
  const std::int64_t rows = std::min(format.tiles_per_shard(), format.tile_rows());
  bottom_.resize(size(rows * format.width));
  right_.resize(size(rows * format.tile_columns() * format.tile));
}

std::int64_t ShardRow::tile_columns_of(std::int64_t shard) const {
  const std::int64_t n = format_.tiles_per_shard();
  return std::min(n, format_.tile_columns() - shard * n);
}

std::int64_t ShardRow::blocks_of(std::int64_t shard) const {
  const std::int64_t width = std::min(shard_side, format_.width - shard * shard_side);
  return ceil_div(width, plan_.block_side) * ceil_div(end_y_ - first_y_, plan_.block_side);
}

void ShardRow::write(std::int64_t row, std::vector<std::uint64_t>& top) {
  row_ = row, first_y_ = row * shard_side, end_y_ = std::min(first_y_ + shard_side, format_.height);
  tile_rows_ = ceil_div(end_y_ - first_y_, format_.tile);
  next_shard_ = next_block_ = published_ = 0, stopped_ = false;
  objects_.clear();
  objects_.resize(size(format_.shard_columns()));
  blocks_left_.resize(objects_.size());
  std::int64_t blocks = 0;
  for (std::size_t shard = 0; shard < blocks_left_.size(); ++shard)
    blocks += blocks_left_[shard] = blocks_of(static_cast<std::int64_t>(shard));
  on_threads(
      static_cast<int>(std::min<std::int64_t>(plan_.threads, blocks)),
      [&](int) {
        Worker worker(format_, plan_);
        while (take(worker)) {
          compute(worker);
          block_ended(worker.block);
        }
      },
      [&] {
        const std::lock_guard lock(reading_);
        stopped_ = true;
      });
  write_carries(top);
}

bool ShardRow::take(Worker& worker) {
  const std::lock_guard lock(reading_);
  if (stopped_ || next_shard_ == format_.shard_columns()) return false;
  Block& block = worker.block;
  const std::int64_t side = plan_.block_side, left = next_shard_ * shard_side;
  const std::int64_t columns = ceil_div(std::min(shard_side, format_.width - left), side);
  block.shard = next_shard_;
  block.x = left + next_block_ % columns * side, block.y = first_y_ + next_block_ / columns * side;
  block.width = std::min(side, format_.width - block.x), block.height = std::min(side, end_y_ - block.y);
  if (++next_block_ == blocks_of(next_shard_)) ++next_shard_, next_block_ = 0;
  const View room(worker.pixels.get(), format_.type(), {block.width, block.height});
  worker.image = read_(block.x, block.y, room);
  const Shape& shape = worker.image.shape;
  if (worker.image.type != room.type || shape.width != block.width || shape.height != block.height ||
      shape.channels != 1 || !worker.image.memory.is_host())
    refuse("read: a block of another shape or type, or not in host memory");
  return true;
}

void ShardRow::compute(Worker& worker) {
  const Block& block = worker.block;
  const std::int64_t tile = format_.tile, stored = format_.tile_bytes() + crc_bytes;
  const auto pixel = static_cast<std::int64_t>(size_of(format_.type()));
  const std::int64_t columns = ceil_div(block.width, tile), first_column = block.x / tile;
  const std::int64_t shard_columns = tile_columns_of(block.shard);
  const ObjectWriter& object = shard_object(block.shard);
  for (std::int64_t y = 0; y < block.height; y += tile) {
    const std::int64_t height = std::min(tile, block.height - y);
    const std::int64_t tile_row = (block.y + y - first_y_) / tile;  // of this row of shards
    for (std::int64_t j = 0; j < columns; ++j) {
      const std::int64_t x = j * tile, width = std::min(tile, block.width - x);
      unsigned char* const table = worker.tiles.get() + j * stored;
      if (width < tile || height < tile) std::memset(table, 0, size(format_.tile_bytes()));
      const std::size_t number = plans_.number(width, height);
      std::optional<Workspace>& workspace = worker.workspaces[number];
      if (!workspace) workspace.emplace(plans_.plan(number));
      const ConstView image(static_cast<const char*>(worker.image.row(y)) + x * pixel, format_.type(), {width, height},
                            worker.image.row_pitch);
      plans_.plan(number).execute({.image = image, .sum = View(table, Type::u32, {width, height}, 4 * tile)},
                                  *workspace);
      std::memcpy(&bottom_[size(tile_row * format_.width + block.x + x)], table + 4 * (height - 1) * tile,
                  size(4 * width));
      std::uint32_t* const right = &right_[size((tile_row * format_.tile_columns() + first_column + j) * tile)];
      for (std::int64_t v = 0; v < height; ++v) std::memcpy(right + v, table + 4 * (v * tile + width - 1), 4);
      const std::uint32_t crc = crc32c(table, size(format_.tile_bytes()));
      std::memcpy(table + format_.tile_bytes(), &crc, sizeof crc);
    }
    const std::int64_t first = tile_row * shard_columns + first_column - block.shard * format_.tiles_per_shard();
    object.write_at(static_cast<std::uint64_t>(first * stored), worker.tiles.get(), size(columns * stored));
  }
}

ObjectWriter& ShardRow::shard_object(std::int64_t shard) {
  const std::lock_guard lock(state_);
  std::optional<ObjectWriter>& object = objects_[size(shard)];
  if (!object) object.emplace(folder_ / shard_name(row_, shard));
  return *object;
}

void ShardRow::block_ended(const Block& block) {
  const std::lock_guard lock(state_);
  --blocks_left_[size(block.shard)];
  for (; published_ < format_.shard_columns() && blocks_left_[size(published_)] == 0; ++published_) publish(published_);
  block_done_();
}

/// Writes the index behind the tiles, and renames the shard.
void ShardRow::publish(std::int64_t shard) {
  const std::int64_t n = format_.tiles_per_shard(), columns = tile_columns_of(shard);
  const auto stored = static_cast<std::uint64_t>(format_.tile_bytes() + crc_bytes);
  std::vector<std::uint64_t> index(size(2 * n * n), ~std::uint64_t{0});
  std::uint64_t offset = 0;
  for (std::int64_t i = 0; i < tile_rows_; ++i)
    for (std::int64_t j = 0; j < columns; ++j, offset += stored) {
      index[size(2 * (i * n + j))] = offset;
      index[size(2 * (i * n + j) + 1)] = stored;
    }
  ObjectWriter& object = *objects_[size(shard)];
  const std::uint32_t crc = crc32c(index.data(), 8 * index.size());
  object.write_at(offset, index.data(), 8 * index.size());
  object.write_at(offset + 8 * index.size(), &crc, sizeof crc);
  object.commit();
  objects_[size(shard)].reset();
}

void ShardRow::write_carries(std::vector<std::uint64_t>& top) {
  const std::int64_t tile = format_.tile, columns = format_.tile_columns();
  std::vector<std::uint64_t> row_left(size(tile)), left(size(tile)), corners(size(columns));
  for (std::int64_t k = 0; k < tile_rows_; ++k) {
    const std::int64_t row = row_ * format_.tiles_per_shard() + k;
    const std::int64_t height = std::min(tile, format_.height - row * tile);
    const std::uint32_t* const bottom = &bottom_[size(k * format_.width)];
    NumbersWriter left_object(folder_ / left_name(row));
    std::fill(row_left.begin(), row_left.end(), 0);
    std::fill(left.begin(), left.end(), 0);
    std::uint64_t corner = 0;
    for (std::int64_t j = 0; j < columns; ++j) {
      const std::uint32_t* const right = &right_[size((k * columns + j) * tile)];
      corners[size(j)] = corner;
      for (std::int64_t y = 0; y < height; ++y) left[size(y)] = row_left[size(y)] + corner;
      left_object.append(left.data(), left.size());
      const std::int64_t end = std::min((j + 1) * tile, format_.width);
      corner = top[size(end - 1)];
      const std::uint64_t before = row_left[size(height - 1)];
      for (std::int64_t x = j * tile; x < end; ++x) top[size(x)] += before + bottom[x];
      for (std::int64_t y = 0; y < height; ++y) row_left[size(y)] += right[y];
    }
    left_object.commit();
    NumbersWriter corner_object(folder_ / corner_name(row));
    corner_object.append(corners.data(), corners.size());
    corner_object.commit();
    if (row + 1 == format_.tile_rows()) break;
    NumbersWriter top_object(folder_ / top_name(row + 1));
    top_object.append(top.data(), top.size());
    top_object.commit();
  }
}

}  // namespace areal::chunked
