#pragma once
// The metadata of a Zarr array, version 2 (.zarray) or 3 (zarr.json), and the levels of an OME-Zarr picture.

#include <areal/type.hpp>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace areal::media {

constexpr std::size_t most_metadata = 64 << 20;  // bytes; attributes may be anything

enum class ZarrCodec : std::uint8_t { gzip, zlib, zstd, blosc, crc32c };
const char* name_of(ZarrCodec codec);

struct ZarrArray {
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> grid;   // a stored object's extent
  std::vector<std::int64_t> chunk;  // the same, or the chunks within a shard
  std::vector<std::string> names;   // of the axes, lower case; empty if unknown
  Type type = Type::u8;
  bool big_endian = false;
  std::array<unsigned char, 8> fill = {};  // of missing chunks, as in memory
  std::vector<ZarrCodec> codecs;           // of a chunk, in the order of encoding; at most one compresses
  bool sharded = false, index_first = false, index_checked = false;
  // Keys: prefix, then the position in the grid with separators between.
  std::string prefix;
  char separator = '/';

  std::string key(const std::vector<std::int64_t>& position) const;
  std::int64_t chunk_bytes() const;  // decoded; fits 62 bits
  std::int64_t chunks_of_shard() const;
};

// `name` begins the sentence of an IoError for unsupported metadata.
ZarrArray parse_zarr_array_v2(std::string_view text, const std::string& name);
// Nothing for a group.
std::optional<ZarrArray> parse_zarr_array_v3(std::string_view text, const std::string& name);

// The names of the axes that xarray puts into the attributes of an array of version 2.
std::vector<std::string> parse_array_dimensions(std::string_view text, const std::string& name);

struct ZarrLevels {
  std::vector<std::string> paths;  // relative, inside the folder
  std::vector<std::string> axes;   // lower case; empty if unknown
  std::vector<std::string> units;  // of the axes; empty ones are unknown
  // Of each path along each axis, in those units; empty if unknown.
  std::vector<std::vector<double>> scales;
};
// The first picture of a group's attributes: .zattrs, or a group's zarr.json. No paths if there is none.
ZarrLevels parse_multiscales(std::string_view text, const std::string& name);

}  // namespace areal::media
