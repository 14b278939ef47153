#include "chunked/shard_reader.hpp"

#include <algorithm>
#include "chunked/sentence.hpp"

namespace areal::chunked {
namespace {

std::string index_words(std::int64_t row, std::int64_t column) {
  return sentence("the index of shard (", row, ", ", column, ") of local");
}
std::uint64_t unsigned_of(std::int64_t n) { return static_cast<std::uint64_t>(n); }

}  // namespace

std::string tile_words(std::int64_t i, std::int64_t j) { return sentence("tile (", i, ", ", j, ") of local"); }
std::string carry_words(const char* array, std::int64_t tile_row) { return sentence(array, " of tile row ", tile_row); }

ShardReader::ShardReader(const fs::path& folder, const Format& format, std::int64_t row, std::int64_t column)
    : format_(format), object_(folder / shard_name(row, column), sentence("shard (", row, ", ", column, ") of local")) {
  const std::string what = index_words(row, column);
  const std::uint64_t bytes = unsigned_of(format.index_bytes());
  if (object_.bytes() < bytes + crc_bytes)
    fail(object_.path(), what, " is cut short: the object has ", object_.bytes(), " bytes, the index alone ",
         bytes + crc_bytes);
  index_.resize(bytes / 8);
  object_.read_checked(object_.bytes() - bytes - crc_bytes, index_.data(), bytes, what);
}

std::uint64_t ShardReader::offset_of(std::int64_t i, std::int64_t j, const std::string& what) const {
  const std::int64_t n = format_.tiles_per_shard();
  const auto at = static_cast<std::size_t>(2 * (i % n * n + j % n));
  const std::uint64_t offset = index_[at], bytes = index_[at + 1];
  if (bytes != unsigned_of(format_.tile_bytes() + crc_bytes) || offset >= std::uint64_t{1} << 62)
    fail(object_.path(), what, " is not in its shard's index");
  return offset;
}

void ShardReader::read_tile(std::int64_t i, std::int64_t j, std::uint32_t* into) const {
  const std::string what = tile_words(i, j);
  object_.read_checked(offset_of(i, j, what), into, static_cast<std::size_t>(format_.tile_bytes()), what);
}

void ShardReader::check_as_written(std::int64_t row, std::int64_t column) const {
  const std::int64_t n = format_.tiles_per_shard();
  const std::int64_t rows = std::min(n, format_.tile_rows() - row * n);
  const std::int64_t columns = std::min(n, format_.tile_columns() - column * n);
  const std::uint64_t stored = unsigned_of(format_.tile_bytes() + crc_bytes);
  const std::uint64_t bytes = unsigned_of(rows * columns) * stored + unsigned_of(format_.index_bytes() + crc_bytes);
  if (object_.bytes() != bytes)
    fail(object_.path(), "shard (", row, ", ", column, ") of local has ", object_.bytes(), " bytes instead of ", bytes);
  std::uint64_t offset = 0;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      const auto at = static_cast<std::size_t>(2 * (i * n + j));
      const bool is_inside = i < rows && j < columns;
      const std::uint64_t none = ~std::uint64_t{0};
      if (index_[at] != (is_inside ? offset : none) || index_[at + 1] != (is_inside ? stored : none))
        fail(object_.path(), index_words(row, column), " is not as areal writes it");
      if (!is_inside) continue;
      object_.check_part(offset, stored, tile_words(row * n + i, column * n + j));
      offset += stored;
    }
}

std::uint32_t ShardReader::entry(std::int64_t i, std::int64_t j, std::int64_t y, std::int64_t x) const {
  const std::string what = tile_words(i, j);
  std::uint32_t value = 0;
  object_.read(offset_of(i, j, what) + unsigned_of(4 * (y * format_.tile + x)), &value, sizeof value, what);
  return value;
}

CarryReader::CarryReader(const fs::path& folder, const Format& format, std::int64_t tile_row)
    : format_(format),
      row_(tile_row),
      top_(folder / top_name(tile_row), carry_words("top", tile_row)),
      left_(folder / left_name(tile_row), carry_words("left", tile_row)),
      corner_(folder / corner_name(tile_row), carry_words("corner", tile_row)) {}

std::string CarryReader::name(const char* array, std::int64_t tile_column) const {
  return sentence(array, " of tile (", row_, ", ", tile_column, ")");
}

void CarryReader::read_top(std::int64_t x, std::int64_t count, std::uint64_t* into) const {
  top_.read(unsigned_of(8 * x), into, static_cast<std::size_t>(8 * count), name("top", x / format_.tile));
}

void CarryReader::read_left(std::int64_t tile_column, std::int64_t y, std::int64_t count, std::uint64_t* into) const {
  left_.read(unsigned_of(8 * (tile_column * format_.tile + y)), into, static_cast<std::size_t>(8 * count),
             name("left", tile_column));
}

std::uint64_t CarryReader::corner(std::int64_t tile_column) const {
  std::uint64_t value = 0;
  corner_.read(unsigned_of(8 * tile_column), &value, sizeof value, name("corner", tile_column));
  return value;
}

}  // namespace areal::chunked
