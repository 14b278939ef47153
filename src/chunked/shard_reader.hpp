#pragma once
// Reading a table: a shard's tiles by its index, and the carries of a tile.

#include <array>
#include <cstdint>
#include <string>
#include <vector>
#include "chunked/format.hpp"
#include "chunked/object.hpp"

namespace areal::chunked {

/// A shard with its index read and checked.
class ShardReader {
 public:
  ShardReader(const fs::path& folder, const Format& format, std::int64_t row, std::int64_t column);

  /// Verifies the whole object as areal writes it: its length, its index and the checksum of each tile. Throws IoError.
  void check_as_written(std::int64_t row, std::int64_t column) const;
  /// All entries of a tile, t x t, verified against their checksum. Row and column of the tile are the image's.
  void read_tile(std::int64_t i, std::int64_t j, std::uint32_t* into) const;
  /// One entry, unverified.
  std::uint32_t entry(std::int64_t i, std::int64_t j, std::int64_t y, std::int64_t x) const;

 private:
  std::uint64_t offset_of(std::int64_t i, std::int64_t j, const std::string& what) const;
  const Format& format_;
  ObjectReader object_;
  std::vector<std::uint64_t> index_;
};

/// The carries of one row of tiles.
class CarryReader {
 public:
  CarryReader(const fs::path& folder, const Format& format, std::int64_t tile_row);

  std::int64_t tile_row() const noexcept { return row_; }
  /// Numbers top[x..], left[tile column][y..] (y within the tile) and corner[tile column], unverified.
  void read_top(std::int64_t x, std::int64_t count, std::uint64_t* into) const;
  void read_left(std::int64_t tile_column, std::int64_t y, std::int64_t count, std::uint64_t* into) const;
  std::uint64_t corner(std::int64_t tile_column) const;

 private:
  std::string name(const char* array, std::int64_t tile_column) const;
  const Format& format_;
  std::int64_t row_;
  ObjectReader top_, left_, corner_;
};

/// "tile (3, 4) of local": the name in errors.
std::string tile_words(std::int64_t i, std::int64_t j);
std::string carry_words(const char* array, std::int64_t tile_row);

}  // namespace areal::chunked
