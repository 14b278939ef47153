#include "strips.hpp"

#include <algorithm>

namespace doors {

areal::ImageReader reader_of(const areal::ConstView& image) {
  return [image](std::int64_t x, std::int64_t y, const areal::View& block) {
    if (x < 0 || y < 0 || x + block.shape.width > image.shape.width || y + block.shape.height > image.shape.height)
      throw Failed("a reader is asked for pixels outside of the image");
    const areal::ConstView own = part(image, x, y, block.shape.width, block.shape.height);
    if ((x + y) % 2 == 0) return own;
    copy_elements(own, block);
    return areal::ConstView(block);
  };
}

std::vector<Block> blocks_of(const Question& q, const areal::Shape& image, bool tiles) {
  std::vector<Block> blocks;
  std::int64_t width = image.width, height = std::max<std::int64_t>(1, q.number("block_rows", 3));
  if (tiles) std::tie(width, height) = q.pair("tile", 5, 3);
  if (width < 1 || height < 1) throw BadQuestion("tile: is empty");
  for (std::int64_t y = 0; y < image.height; y += height) {
    const std::size_t row = blocks.size();
    for (std::int64_t x = 0; x < image.width; x += width)
      blocks.push_back({x, y, std::min(width, image.width - x), std::min(height, image.height - y)});
    if (q.word("order", "forward") == "backward")
      std::reverse(blocks.begin() + static_cast<std::ptrdiff_t>(row), blocks.end());
  }
  return blocks;
}

areal::PieceOptions strip_options_of(const Question& q, bool tiles) {
  areal::PieceOptions options = strip_options(q);
  if (tiles) std::tie(options.pushed_width, options.pushed_height) = q.pair("tile", 5, 3);
  return options;
}

}  // namespace doors
