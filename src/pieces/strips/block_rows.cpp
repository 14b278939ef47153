#include "pieces/strips/block_rows.hpp"
#include <algorithm>
#include "api/core/copy_rows.hpp"
#include "api/core/require.hpp"
#include "api/core/view_check.hpp"

namespace areal::pieces {
namespace {

/// The part of a view from column x on.
View part_of(const View& rows, std::int64_t x, std::int64_t width) {
  View part = rows;
  part.data = static_cast<char*>(rows.data) + x * rows.column_pitch();
  part.shape.width = width;
  return part;
}

}  // namespace

BlockRows::BlockRows(const Shape& image, std::vector<Rows> inputs, const char* second, std::int64_t tile_width,
                     std::int64_t tile_height)
    : image_(image),
      inputs_(std::move(inputs)),
      second_(second),
      tile_width_(tile_width),
      tile_height_(tile_height),
      came_(tile_width > 0 ? static_cast<std::size_t>((image.width + tile_width - 1) / tile_width) : 0) {
  if (tile_width_ == 0) return;
  for (const Rows& type : inputs_)
    tiles_.emplace_back(type.of(image.width, std::min(tile_height, image.height)), type.type);
}

void BlockRows::check_inputs(const ConstView& block, const ConstView& second, const Shape& extent) const {
  const auto check = [&](const char* name, const ConstView& view, const Rows& type) {
    check_view(name, view, type.of(extent.width, extent.height), type.type);
    require(view.memory.is_host(), name, ": it lies on CUDA device ", view.memory.device,
            ", it must be in host memory");
  };
  check("block", block, inputs_[0]);
  if (inputs_.size() > 1)
    check(second_, second, inputs_[1]);
  else
    require(second.data == nullptr, second_, " was given, but the options ask for none");
}

void BlockRows::require_no_tiles(std::int64_t y) const {
  if (missing_ == 0) return;
  const auto first = std::find(came_.begin(), came_.end(), false) - came_.begin();
  require(false, "block at row ", y, ": the row of tiles at row ", next_, " still lacks the tile at column ",
          static_cast<std::int64_t>(first) * tile_width_);
}

void BlockRows::check_strip(std::int64_t y, std::int64_t rows) const {
  require_no_tiles(y);
  require(y >= next_, "block at row ", y, ": it came before, the next row is ", next_);
  require(y == next_, "block at row ", y, ": rows ", next_, " to ", y - 1, " are missing before it");
  require(rows <= image_.height - y, "block of ", rows, " rows at row ", y, ": the image has ", image_.height, " rows");
}

void BlockRows::check_tile(std::int64_t x, std::int64_t y) const {
  require(x >= 0 && y >= 0 && x < image_.width && y < image_.height && x % tile_width_ == 0 && y % tile_height_ == 0,
          "tile at column ", x, ", row ", y, ": out of place, tiles of ", tile_width_, "x", tile_height_,
          " begin at multiples of that inside the image of ", image_.width, "x", image_.height);
  require(y >= next_, "tile at column ", x, ", row ", y, ": it came before, the next row is ", next_);
  if (y == next_) {
    require(missing_ == 0 || !came_[static_cast<std::size_t>(x / tile_width_)], "tile at column ", x, ", row ", y,
            ": it came before");
    return;
  }
  require_no_tiles(y);
  require(false, "tile at column ", x, ", row ", y, ": rows ", next_, " to ", y - 1, " are missing before it");
}

bool BlockRows::push(std::int64_t x, std::int64_t y, const ConstView& block, const ConstView& second, const Use& use) {
  const Shape& shape = block.shape;
  if (x == 0 && shape.width == image_.width) {
    check_inputs(block, second, shape);
    check_strip(y, shape.height);
    if (shape.height == 0) return true;
    std::vector<ConstView> rows{block};
    if (inputs_.size() > 1) rows.push_back(second);
    next_ += shape.height;
    return use(rows);
  }
  require(tile_width_ > 0, "block of ", shape.width, "x", shape.height, " at column ", x,
          ": without pushed_width and pushed_height, blocks are whole rows of ", image_.width, " pixels");
  check_tile(x, y);
  const Shape extent{std::min(tile_width_, image_.width - x), tile_rows()};
  check_inputs(block, second, extent);
  if (missing_ == 0) {
    came_.assign(came_.size(), false);
    missing_ = static_cast<std::int64_t>(came_.size());
  }
  std::vector<ConstView> rows;
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const View all(tiles_[i].data(), inputs_[i].type, inputs_[i].of(image_.width, extent.height));
    copy_rows(i == 0 ? block : second, part_of(all, x, extent.width));
    rows.emplace_back(all);
  }
  came_[static_cast<std::size_t>(x / tile_width_)] = true;
  if (--missing_ > 0) return true;
  next_ += extent.height;
  return use(rows);
}

void BlockRows::require_all() const {
  if (missing_ > 0) {
    const auto first = std::find(came_.begin(), came_.end(), false) - came_.begin();
    require(false, "the image ends early: the row of tiles at row ", next_, " lacks the tile at column ",
            static_cast<std::int64_t>(first) * tile_width_);
  }
  require(next_ == image_.height || image_.width == 0, "the image ends early: rows ", next_, " to ", image_.height - 1,
          " are missing");
}

}  // namespace areal::pieces
