#pragma once
// Shared parts of the readers of large pictures.

#include <cstdint>
#include <memory>
#include "media/media.hpp"
#include "media/tile_source.hpp"

namespace areal::media {

// Copies contiguous, interleaved pixels to a block's row, from column x on.
void put_pixels(const void* from, const View& into, std::int64_t x, std::int64_t row, std::int64_t pixels);

// Bytes that a large picture's reader may hold.
std::uint64_t large_picture_limit(const ReadOptions& options);

// Reads blocks from tiles. Caches partly used tiles: a row of tiles, or 128 MiB if that is more, within the limit.
std::unique_ptr<LargePicture> picture_of_tiles(std::string name, std::unique_ptr<TileSource> source,
                                               const ReadOptions& options);

std::unique_ptr<LargePicture> open_large_npy(const fs::path& path, const ReadOptions& options);

}  // namespace areal::media
