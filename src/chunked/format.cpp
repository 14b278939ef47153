#include "chunked/format.hpp"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>
#include "chunked/sentence.hpp"
#include "json/read.hpp"

namespace areal::chunked {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr std::int64_t most_pixels = std::int64_t{1} << 40;  // a side; every offset then fits 63 bits
constexpr std::int64_t smallest_tile = 64;

std::int64_t largest_tile(const std::string& dtype) { return dtype == "uint16" ? 256 : 4096; }  // sums fit 32 bits

bool is_dtype(const std::string& name) { return name == "bool" || name == "uint8" || name == "uint16"; }

ordered_json codecs() { return {{{"name", "bytes"}, {"configuration", {{"endian", "little"}}}}, {{"name", "crc32c"}}}; }

ordered_json array(const char* type, std::array<std::int64_t, 2> shape, std::array<std::int64_t, 2> chunk,
                   ordered_json array_codecs) {
  return {{"zarr_format", 3},
          {"node_type", "array"},
          {"shape", shape},
          {"data_type", type},
          {"chunk_grid", {{"name", "regular"}, {"configuration", {{"chunk_shape", chunk}}}}},
          {"chunk_key_encoding", {{"name", "default"}, {"configuration", {{"separator", "/"}}}}},
          {"fill_value", 0},
          {"codecs", std::move(array_codecs)},
          {"attributes", ordered_json::object()}};
}

ordered_json array_metadata(const Format& f, std::string_view name) {
  if (name == "local") {
    ordered_json configuration{
        {"chunk_shape", {f.tile, f.tile}}, {"codecs", codecs()}, {"index_codecs", codecs()}, {"index_location", "end"}};
    ordered_json shards = ordered_json::array();
    shards.push_back({{"name", "sharding_indexed"}, {"configuration", std::move(configuration)}});
    return array("uint32", {f.height, f.width}, {shard_side, shard_side}, std::move(shards));
  }
  const std::int64_t rows = f.tile_rows(), columns = f.tile_columns();
  if (name == "top") return array("uint64", {rows, f.width}, {1, std::max<std::int64_t>(f.width, 1)}, codecs());
  if (name == "left")
    return array("uint64", {columns, f.height}, {std::max<std::int64_t>(columns, 1), f.tile}, codecs());
  return array("uint64", {rows, columns}, {1, std::max<std::int64_t>(columns, 1)}, codecs());
}

std::string unquoted(const std::string& key) {
  const std::string words = shortened_json(json(key));
  return words.substr(1, words.size() - 2);
}

const json& member(const json& object, const char* key) {
  static const json none = nullptr;
  const auto at = object.find(key);
  return at == object.end() ? none : *at;
}

/// Metadata without optional parts: empty configurations.
json plain(const json& value) {
  json result = value;
  if (value.is_object()) {
    result.clear();
    for (const auto& [key, inner] : value.items())
      if (!(key == "configuration" && inner.is_object() && inner.empty())) result[key] = plain(inner);
  } else if (value.is_array()) {
    for (json& inner : result) inner = plain(inner);
  }
  return result;
}

bool whole_number(const json& value, std::int64_t& number) {
  if (!value.is_number_integer()) return false;
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX))
    number = INT64_MAX;
  else
    number = value.get<std::int64_t>();
  return number >= 0;
}

/// Reads unchecked height, width and tile. False if one is missing.
bool read_shape(const json& local, Format& format) {
  const json& shape = member(local, "shape");
  const json& codec = member(local, "codecs");
  if (!shape.is_array() || shape.size() != 2 || !codec.is_array() || codec.empty() || !codec[0].is_object())
    return false;
  const json& configuration = member(codec[0], "configuration");
  if (!configuration.is_object()) return false;
  const json& tile = member(configuration, "chunk_shape");
  return tile.is_array() && !tile.empty() && whole_number(shape[0], format.height) &&
         whole_number(shape[1], format.width) && whole_number(tile[0], format.tile);
}

}  // namespace

void require_possible(const Format& f) {
  if (!is_dtype(f.dtype)) refuse("dtype ", f.dtype, ": chunked tables are of bool, uint8, uint16");
  const std::int64_t most = largest_tile(f.dtype);
  if (f.tile < smallest_tile || f.tile > most || !std::has_single_bit(static_cast<std::uint64_t>(f.tile))) {
    std::string sizes;
    for (std::int64_t size = smallest_tile; size <= most; size *= 2)
      sizes += (sizes.empty() ? "" : ", ") + std::to_string(size);
    refuse("tile ", f.tile, ": of ", f.dtype, " pixels it may be ", sizes);
  }
  if (std::max(f.height, f.width) > most_pixels || std::min(f.height, f.width) < 0)
    refuse("an image of ", f.width, "x", f.height, ": a side may have 0 to 2^40 pixels");
}

fs::path shard_name(std::int64_t row, std::int64_t column) {
  return fs::path("local/c") / std::to_string(row) / std::to_string(column);
}
fs::path top_name(std::int64_t tile_row) { return fs::path("top/c") / std::to_string(tile_row) / "0"; }
fs::path left_name(std::int64_t tile_row) { return fs::path("left/c/0") / std::to_string(tile_row); }
fs::path corner_name(std::int64_t tile_row) { return fs::path("corner/c") / std::to_string(tile_row) / "0"; }

std::string group_json(const Format& format, Stage stage) {
  ordered_json attributes{{"version", 1}, {"border", "none"}, {"dtype", format.dtype}};
  if (stage == Stage::complete) attributes["complete"] = true;
  if (stage == Stage::replacing) attributes["replacing"] = true;
  return ordered_json{{"zarr_format", 3}, {"node_type", "group"}, {"attributes", std::move(attributes)}}.dump(1);
}

std::string array_json(const Format& format, std::string_view name) { return array_metadata(format, name).dump(1); }

json parse_metadata(const fs::path& where, std::string_view text) {
  json found;
  const std::string wrong = read_json_object(text, most_metadata, found);
  if (!wrong.empty()) fail(where, "it ", wrong);
  return found;
}

std::string group_dtype(const fs::path& where, const json& metadata, Stage& stage) {
  const json& attributes = member(metadata, "attributes");
  if (member(metadata, "zarr_format").dump() != "3" || member(metadata, "node_type") != "group" ||
      !attributes.is_object())
    fail(where, "it is not a Zarr group of format 3");
  if (!attributes.contains("version")) fail(where, "it is not a chunked table: the group has no attribute version");
  const json& version = member(attributes, "version");
  if (version.dump() != "1")
    fail(where, "attribute version is ", shortened_json(version), ": this areal reads version 1");
  const auto is_true = [&](const char* key) { return member(attributes, key) == true; };
  stage = is_true("replacing") ? Stage::replacing : is_true("complete") ? Stage::complete : Stage::begun;
  if (member(attributes, "border") != "none")
    fail(where, "attribute border is ", shortened_json(member(attributes, "border")), ": chunked tables have \"none\"");
  const json& dtype = member(attributes, "dtype");
  if (!dtype.is_string() || !is_dtype(dtype.get<std::string>()))
    fail(where, "attribute dtype is ", shortened_json(dtype), ": it may be bool, uint8, uint16");
  return dtype.get<std::string>();
}

Format format_of(const fs::path& where, const std::string& dtype, const std::array<json, 4>& arrays) {
  Format format;
  format.dtype = dtype;
  if (!read_shape(arrays[0], format))
    fail(where, "local has no shape of two numbers, or no sharding codec of square tiles");
  try {
    require_possible(format);
  } catch (const InvalidArgument& error) {
    fail(where, "local: ", error.what());
  }
  for (std::size_t i = 0; i < array_names.size(); ++i) {
    const json expected = array_metadata(format, array_names[i]);
    std::set<std::string> keys;
    for (const json* from : {&expected, &arrays[i]})
      for (const auto& item : from->items()) keys.insert(item.key());
    for (const char* free : {"attributes", "dimension_names", "shape"}) keys.erase(free);
    std::vector<std::string> ordered{"shape"};
    ordered.insert(ordered.end(), keys.begin(), keys.end());
    for (const std::string& key : ordered) {
      const json& found = member(arrays[i], key.c_str());
      if (key == "storage_transformers" && found.is_array() && found.empty()) continue;
      const json here = plain(found), there = plain(member(expected, key.c_str()));
      // As text: 0 and 0.0, which compare equal, are different metadata.
      if (here.dump(-1, ' ', true) != there.dump(-1, ' ', true))
        fail(where, array_names[i], ": ", unquoted(key), " is ", shortened_json(here), ", where the format has ",
             shortened_json(there));
    }
  }
  return format;
}

}  // namespace areal::chunked
