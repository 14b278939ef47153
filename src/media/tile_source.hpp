#pragma once
// A picture's tiles, decoded one at a time: the output of plug-ins, and the input of large pictures.

#include <areal/type.hpp>
#include <areal/view.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>
#include "media/channels.hpp"
#include "media/pixel_size.hpp"

namespace areal::media {

// Tiles of one size on a grid from (0, 0) on, cut off at the right and the lower edge.
struct TileLayout {
  std::int64_t width = 0, height = 0;  // of the picture
  std::int64_t tile_width = 0, tile_height = 0;
  std::int64_t channels = 1;  // of a decoded tile, interleaved
  Type type = Type::u8;
  Channels choice;                  // the channels that form the picture
  std::uint64_t decoder_bytes = 0;  // memory of decoding, excluding the tile
  int most_workers = 64;
  std::vector<std::string> notes = {};
  std::optional<PixelSize> pixel_size = {};
};

class TileSource {
 public:
  virtual ~TileSource() = default;
  virtual const TileLayout& layout() const = 0;
  // Fills `into` with the tile's pixels, contiguous. Workers, numbered from 0, decode in parallel, each on one thread.
  virtual void decode(int worker, std::int64_t column, std::int64_t row, void* into) = 0;
};

}  // namespace areal::media
