#pragma once
// Images that pass strip by strip: how they are read, and the blocks in which they are pushed.

#include <areal/pieces.hpp>
#include <areal/strips.hpp>
#include <vector>

#include "elements.hpp"
#include "question.hpp"

namespace doors {

/// Of host memory, which must stay.
areal::ImageReader reader_of(const areal::ConstView& image);

struct Block {
  std::int64_t x, y, width, height;
};
/// Strips of `block_rows`, or tiles in the order that the question names.
std::vector<Block> blocks_of(const Question& question, const areal::Shape& image, bool tiles);
/// With the grid of these tiles.
areal::PieceOptions strip_options_of(const Question& question, bool tiles);

/// How a strip class gets its image.
enum class Way { run, rows, tiles };

}  // namespace doors
