#pragma once
// The format of chunked tables (docs/chunked-tables.md): its metadata, refusals and file names.

#include <areal/type.hpp>
#include <areal/view.hpp>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace areal::chunked {

namespace fs = std::filesystem;

static_assert(std::endian::native == std::endian::little, "objects are written and read as they lie in memory");

inline constexpr std::int64_t shard_side = 4096;
inline constexpr std::int64_t crc_bytes = 4;
inline constexpr std::size_t most_metadata = 1 << 20;  // bytes of a zarr.json
inline constexpr std::array<std::string_view, 4> array_names{"local", "top", "left", "corner"};

constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// The image of a chunked table, height x width pixels, cut into tiles.
struct Format {
  std::int64_t height = 0, width = 0, tile = 0;
  std::string dtype;

  Type type() const { return dtype == "uint16" ? Type::u16 : Type::u8; }
  std::int64_t tile_rows() const { return ceil_div(height, tile); }
  std::int64_t tile_columns() const { return ceil_div(width, tile); }
  std::int64_t tiles_per_shard() const { return shard_side / tile; }  // along one axis
  std::int64_t shard_rows() const { return ceil_div(height, shard_side); }
  std::int64_t shard_columns() const { return ceil_div(width, shard_side); }
  std::int64_t tile_bytes() const { return 4 * tile * tile; }                              // without its checksum
  std::int64_t index_bytes() const { return 16 * tiles_per_shard() * tiles_per_shard(); }  // without its checksum
  friend bool operator==(const Format&, const Format&) = default;
};

/// Throws InvalidArgument for an invalid image or tile.
void require_possible(const Format& format);

/// The names of objects below the table's folder.
fs::path shard_name(std::int64_t row, std::int64_t column);
fs::path top_name(std::int64_t tile_row);
fs::path left_name(std::int64_t tile_row);
fs::path corner_name(std::int64_t tile_row);

/// The progress of writing a table.
enum class Stage : std::uint8_t {
  replacing,  ///< objects of another table may still exist
  begun,
  complete
};

/// The metadata, byte for byte as areal.zarr writes them.
std::string group_json(const Format& format, Stage stage);
std::string array_json(const Format& format, std::string_view array);

/// Parses a zarr.json. Throws IoError for anything else.
nlohmann::json parse_metadata(const fs::path& where, std::string_view text);
/// The dtype of a table's group; sets `stage` from the attributes. Throws IoError for another group.
std::string group_dtype(const fs::path& where, const nlohmann::json& metadata, Stage& stage);
/// The format of the four arrays, in the order of array_names. Throws IoError if their metadata do not match it.
Format format_of(const fs::path& where, const std::string& dtype, const std::array<nlohmann::json, 4>& arrays);

}  // namespace areal::chunked
