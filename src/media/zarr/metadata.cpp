#include "media/zarr/metadata.hpp"
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <limits>
#include "json/read.hpp"
#include "media/file_error.hpp"

namespace areal::media {
namespace {

using Json = nlohmann::json;

constexpr std::size_t most_axes = 8;
constexpr std::int64_t most_chunk_bytes = std::int64_t{1} << 40;

Json parse(std::string_view text, const std::string& name) {
  Json json;
  const std::string wrong = read_json_object(text, most_metadata, json);
  if (!wrong.empty()) fail(name, wrong);
  return json;
}

const Json* find(const Json& in, const char* key) {
  if (!in.is_object()) return nullptr;
  const auto found = in.find(key);
  return found == in.end() || found->is_null() ? nullptr : &*found;
}

std::string text_in(const Json& in, const char* key) {
  const Json* value = find(in, key);
  return value && value->is_string() ? value->get<std::string>() : std::string();
}

std::string shown(const Json& value) {
  return printable(value.dump(-1, ' ', true, Json::error_handler_t::replace), 30);
}

std::string lower(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  return text;
}

std::vector<std::int64_t> extents(const Json& in, const char* key, std::int64_t least, const std::string& name) {
  const Json* list = find(in, key);
  if (!list || !list->is_array()) fail(name, "lacks the list \"", key, "\"");
  if (list->empty() || list->size() > most_axes)
    fail(name, "has \"", key, "\" of ", list->size(), " axes; 2 to 5 are read");
  std::vector<std::int64_t> out;
  for (const Json& value : *list) {
    const bool fits = value.is_number_unsigned() ? value.get<std::uint64_t>() <= INT64_MAX : value.is_number_integer();
    if (!fits || value.get<std::int64_t>() < least) fail(name, "has \"", key, "\" with a bad length: ", shown(value));
    out.push_back(value.get<std::int64_t>());
  }
  return out;
}

// Bytes of a chunk; throws for an absurd size.
std::int64_t bytes_of_chunk(const std::vector<std::int64_t>& chunk, Type type, const std::string& name) {
  std::int64_t bytes = static_cast<std::int64_t>(size_of(type));
  for (const std::int64_t extent : chunk) {
    if (extent > most_chunk_bytes / bytes) fail(name, "declares chunks of more than 2^40 bytes");
    bytes *= extent;
  }
  return bytes;
}

template <class T>
void set_fill(ZarrArray& array, T value) {
  std::memcpy(array.fill.data(), &value, sizeof(value));
}

// Refuses integers that the type cannot hold.
template <class T>
void set_integer_fill(ZarrArray& array, const Json& value, const std::string& name) {
  if (value.is_boolean()) return set_fill(array, static_cast<T>(value.get<bool>()));
  if (value.is_number_unsigned() &&
      value.get<std::uint64_t>() <= static_cast<std::uint64_t>(std::numeric_limits<T>::max()))
    return set_fill(array, static_cast<T>(value.get<std::uint64_t>()));
  if (value.is_number_integer() && !value.is_number_unsigned() && std::is_signed_v<T> &&
      value.get<std::int64_t>() >= static_cast<std::int64_t>(std::numeric_limits<T>::min()))
    return set_fill(array, static_cast<T>(value.get<std::int64_t>()));
  // Some writers of version 2 store 0.0 for integers.
  if (value.is_number_float() && value.get<double>() == 0) return set_fill(array, T{0});
  fail(name, "has a fill value that its type cannot hold: ", shown(value));
}

void set_float_fill(ZarrArray& array, const Json& value, const std::string& name) {
  double number = 0;
  const std::string text = value.is_string() ? value.get<std::string>() : "";
  if (value.is_number()) {
    number = value.get<double>();
  } else if (text == "NaN") {
    number = std::numeric_limits<double>::quiet_NaN();
  } else if (text == "Infinity") {
    number = std::numeric_limits<double>::infinity();
  } else if (text == "-Infinity") {
    number = -std::numeric_limits<double>::infinity();
  } else if (text.size() == 2 + 2 * size_of(array.type) && text.starts_with("0x") &&
             text.find_first_not_of("0123456789abcdefABCDEF", 2) == std::string::npos) {
    const std::uint64_t bits = std::stoull(text.substr(2), nullptr, 16);
    std::memcpy(array.fill.data(), &bits, size_of(array.type));
    return;
  } else {
    fail(name, "has a fill value that is no number: ", shown(value));
  }
  if (array.type == Type::f16) return set_fill(array, to_half(static_cast<float>(number)));
  if (array.type == Type::f32) return set_fill(array, static_cast<float>(number));
  set_fill(array, number);
}

void read_fill(ZarrArray& array, const Json& in, const std::string& name) {
  const Json* value = find(in, "fill_value");
  if (!value) return;  // version 2: undefined, so zero
  switch (array.type) {
    case Type::u8:
      return set_integer_fill<std::uint8_t>(array, *value, name);
    case Type::s8:
      return set_integer_fill<std::int8_t>(array, *value, name);
    case Type::u16:
      return set_integer_fill<std::uint16_t>(array, *value, name);
    case Type::s16:
      return set_integer_fill<std::int16_t>(array, *value, name);
    case Type::u32:
      return set_integer_fill<std::uint32_t>(array, *value, name);
    case Type::s32:
      return set_integer_fill<std::int32_t>(array, *value, name);
    case Type::u64:
      return set_integer_fill<std::uint64_t>(array, *value, name);
    case Type::s64:
      return set_integer_fill<std::int64_t>(array, *value, name);
    default:
      return set_float_fill(array, *value, name);
  }
}

struct TypeName {
  const char *v2, *v3;
  Type type;
};
constexpr TypeName types[] = {{"u1", "uint8", Type::u8},    {"i1", "int8", Type::s8},     {"u2", "uint16", Type::u16},
                              {"i2", "int16", Type::s16},   {"u4", "uint32", Type::u32},  {"i4", "int32", Type::s32},
                              {"u8", "uint64", Type::u64},  {"i8", "int64", Type::s64},   {"f2", "float16", Type::f16},
                              {"f4", "float32", Type::f32}, {"f8", "float64", Type::f64}, {"b1", "bool", Type::u8}};

[[noreturn]] void fail_type(const std::string& type, const std::string& name) {
  fail(name, "holds elements of type '", printable(type, 40),
       "'; areal reads bool, integers and floats of 16 to 64 bits");
}

void require_alike(const ZarrArray& array, const std::string& name) {
  if (array.grid.size() != array.shape.size())
    fail(name, "has a shape of ", array.shape.size(), " axes, and chunks of ", array.grid.size());
}

// At most one codec compresses, so that the sizes in between are known.
void add_codec(std::vector<ZarrCodec>& codecs, ZarrCodec codec, const std::string& name) {
  const auto compresses = [](ZarrCodec c) { return c != ZarrCodec::crc32c; };
  if (compresses(codec) && std::any_of(codecs.begin(), codecs.end(), compresses))
    fail(name, "has chunks that are compressed twice, which areal does not read");
  if (codecs.size() >= 4) fail(name, "has chunks of more than 4 codecs");
  codecs.push_back(codec);
}

std::optional<ZarrCodec> codec_named(const std::string& id) {
  for (const ZarrCodec codec : {ZarrCodec::gzip, ZarrCodec::zlib, ZarrCodec::zstd, ZarrCodec::blosc, ZarrCodec::crc32c})
    if (id == name_of(codec)) return codec;
  return {};
}

// The chunk's elements become bytes (`big_endian`), and the bytes codecs. Version 3.
void read_codecs(const Json* list, std::size_t axes, bool& big_endian, std::vector<ZarrCodec>& codecs,
                 const Json** sharding, const std::string& name) {
  if (!list || !list->is_array()) fail(name, "lacks the list \"codecs\"");
  bool as_bytes = false;
  for (const Json& codec : *list) {
    const std::string id = codec.is_string() ? codec.get<std::string>() : text_in(codec, "name");
    const Json* configuration = find(codec, "configuration");
    if (id == "transpose" && !as_bytes) {
      const Json* order = configuration ? find(*configuration, "order") : nullptr;
      bool identity = order && order->is_array() && order->size() == axes;
      for (std::size_t i = 0; identity && i < axes; ++i)
        identity = (*order)[i].is_number_integer() && (*order)[i].get<std::int64_t>() == static_cast<std::int64_t>(i);
      if (!identity) fail(name, "has transposed chunks, which areal does not read");
    } else if (id == "bytes" && !as_bytes) {
      const std::string endian = configuration ? text_in(*configuration, "endian") : "";
      if (!endian.empty() && endian != "little" && endian != "big")
        fail(name, "has an unknown byte order: ", printable(endian, 20));
      big_endian = endian == "big";
      as_bytes = true;
    } else if (id == "sharding_indexed" && !as_bytes && sharding && configuration) {
      *sharding = configuration;
      as_bytes = true;
    } else if (const auto known = codec_named(id); known && as_bytes && *known != ZarrCodec::zlib) {
      add_codec(codecs, *known, name);
    } else {
      fail(name, "has chunks of the codec '", printable(id, 40), "' where areal does not read it");
    }
  }
  if (!as_bytes) fail(name, "has no codec that makes bytes of its elements");
}

}  // namespace

const char* name_of(ZarrCodec codec) {
  switch (codec) {
    case ZarrCodec::gzip:
      return "gzip";
    case ZarrCodec::zlib:
      return "zlib";
    case ZarrCodec::zstd:
      return "zstd";
    case ZarrCodec::blosc:
      return "blosc";
    case ZarrCodec::crc32c:
      return "crc32c";
  }
  return "";
}

std::string ZarrArray::key(const std::vector<std::int64_t>& position) const {
  std::string out = prefix;
  for (const std::int64_t i : position) {
    if (!out.empty()) out += separator;
    out += std::to_string(i);
  }
  return out;
}

std::int64_t ZarrArray::chunk_bytes() const {
  std::int64_t bytes = static_cast<std::int64_t>(size_of(type));
  for (const std::int64_t extent : chunk) bytes *= extent;
  return bytes;
}

std::int64_t ZarrArray::chunks_of_shard() const {
  std::int64_t count = 1;
  for (std::size_t i = 0; i < grid.size(); ++i) count *= grid[i] / chunk[i];
  return count;
}

ZarrArray parse_zarr_array_v2(std::string_view text, const std::string& name) {
  const Json json = parse(text, name);
  ZarrArray out;
  const std::string type = text_in(json, "dtype");
  const auto row = std::find_if(std::begin(types), std::end(types),
                                [&](const TypeName& t) { return type.size() == 3 && type.substr(1) == t.v2; });
  if (row == std::end(types) || std::strchr("<>|", type[0]) == nullptr || (type[0] == '|' && type[2] != '1'))
    fail_type(type, name);
  out.type = row->type;
  out.big_endian = type[0] == '>';
  out.shape = extents(json, "shape", 0, name);
  out.chunk = out.grid = extents(json, "chunks", 1, name);
  require_alike(out, name);
  bytes_of_chunk(out.chunk, out.type, name);
  if (text_in(json, "order") != "C") fail(name, "has chunks in Fortran order; areal reads C order");
  if (const Json* filters = find(json, "filters"); filters && !filters->empty())
    fail(name, "has filters, which areal does not read");
  if (const Json* compressor = find(json, "compressor")) {
    const std::string id = text_in(*compressor, "id");
    const auto codec = codec_named(id);
    if (!codec || *codec == ZarrCodec::crc32c)
      fail(name, "has chunks compressed by '", printable(id, 40), "'; areal reads zlib, gzip, zstd and blosc");
    out.codecs.push_back(*codec);
  }
  const std::string separator = text_in(json, "dimension_separator");
  if (!separator.empty() && separator != "." && separator != "/") fail(name, "has an unknown dimension separator");
  out.separator = separator == "/" ? '/' : '.';
  read_fill(out, json, name);
  return out;
}

std::optional<ZarrArray> parse_zarr_array_v3(std::string_view text, const std::string& name) {
  const Json json = parse(text, name);
  if (const Json* format = find(json, "zarr_format"); !format || *format != 3) fail(name, "is not of Zarr version 3");
  const std::string node = text_in(json, "node_type");
  if (node == "group") return {};
  if (node != "array") fail(name, "is neither an array nor a group");
  ZarrArray out;
  const std::string type = text_in(json, "data_type");
  const auto row = std::find_if(std::begin(types), std::end(types), [&](const TypeName& t) { return type == t.v3; });
  if (row == std::end(types)) fail_type(type.empty() ? "?" : type, name);
  out.type = row->type;
  out.shape = extents(json, "shape", 0, name);
  const Json* grid = find(json, "chunk_grid");
  const Json* regular = grid && text_in(*grid, "name") == "regular" ? find(*grid, "configuration") : nullptr;
  if (!regular) fail(name, "has no regular grid of chunks");
  out.chunk = out.grid = extents(*regular, "chunk_shape", 1, name);
  require_alike(out, name);
  const Json* sharding = nullptr;
  read_codecs(find(json, "codecs"), out.shape.size(), out.big_endian, out.codecs, &sharding, name);
  if (sharding) {
    if (!out.codecs.empty()) fail(name, "has compressed shards, which areal does not read");
    out.sharded = true;
    out.chunk = extents(*sharding, "chunk_shape", 1, name);
    require_alike(out, name);
    if (out.chunk.size() != out.grid.size())
      fail(name, "has chunks of ", out.chunk.size(), " axes in shards of ", out.grid.size());
    for (std::size_t i = 0; i < out.grid.size(); ++i)
      if (out.grid[i] % out.chunk[i] != 0) fail(name, "has shards that are not divided evenly into chunks");
    read_codecs(find(*sharding, "codecs"), out.shape.size(), out.big_endian, out.codecs, nullptr, name);
    bool big = false;
    std::vector<ZarrCodec> index;
    read_codecs(find(*sharding, "index_codecs"), out.shape.size() + 1, big, index, nullptr, name);
    if (big || index.size() > 1 || (index.size() == 1 && index[0] != ZarrCodec::crc32c))
      fail(name, "has shards with an index that areal does not read");
    out.index_checked = index.size() == 1;
    const std::string location = text_in(*sharding, "index_location");
    if (!location.empty() && location != "start" && location != "end")
      fail(name, "has shards with an index at an unknown place");
    out.index_first = location == "start";
    bytes_of_chunk(out.grid, Type::u8, name);  // so that a shard's chunks can be counted
  }
  bytes_of_chunk(out.chunk, out.type, name);
  const Json* encoding = find(json, "chunk_key_encoding");
  const std::string encoding_name =
      encoding ? (encoding->is_string() ? encoding->get<std::string>() : text_in(*encoding, "name")) : "";
  if (encoding_name != "default" && encoding_name != "v2") fail(name, "has chunk keys of an unknown encoding");
  const Json* configuration = find(*encoding, "configuration");
  const std::string separator = configuration ? text_in(*configuration, "separator") : "";
  if (!separator.empty() && separator != "." && separator != "/")
    fail(name, "has chunk keys with an unknown separator");
  out.prefix = encoding_name == "default" ? "c" : "";
  out.separator = separator.empty() ? (encoding_name == "default" ? '/' : '.') : separator[0];
  read_fill(out, json, name);
  if (const Json* names = find(json, "dimension_names");
      names && names->is_array() && names->size() == out.shape.size())
    for (const Json& axis : *names) out.names.push_back(axis.is_string() ? lower(axis.get<std::string>()) : "");
  return out;
}

std::vector<std::string> parse_array_dimensions(std::string_view text, const std::string& name) {
  const Json json = parse(text, name);
  std::vector<std::string> out;
  if (const Json* names = find(json, "_ARRAY_DIMENSIONS"); names && names->is_array())
    for (const Json& axis : *names) out.push_back(axis.is_string() ? lower(axis.get<std::string>()) : "");
  return out;
}

namespace {

// The product of the scales of "coordinateTransformations" and `outer`; empty if they are none of that many axes.
std::vector<double> scale_in(const Json& in, std::vector<double> outer) {
  const Json* list = find(in, "coordinateTransformations");
  if (!list || !list->is_array()) return outer;
  for (const Json& one : *list) {
    const Json* scale = text_in(one, "type") == "scale" ? find(one, "scale") : nullptr;
    if (!scale) continue;
    if (!scale->is_array() || scale->size() != outer.size()) return {};
    for (std::size_t i = 0; i < outer.size(); ++i) {
      if (!(*scale)[i].is_number()) return {};
      outer[i] *= (*scale)[i].get<double>();
    }
  }
  return outer;
}

}  // namespace

ZarrLevels parse_multiscales(std::string_view text, const std::string& name) {
  const Json json = parse(text, name);
  // Version 0.5 has them in a group's attributes under "ome"; up to 0.4 .zattrs is the attributes.
  const Json* attributes = find(json, "attributes");
  const Json* ome = attributes ? find(*attributes, "ome") : nullptr;
  const Json* list = find(ome ? *ome : attributes ? *attributes : json, "multiscales");
  ZarrLevels out;
  if (!list || !list->is_array() || list->empty()) return out;
  const Json& first = (*list)[0];
  if (const Json* axes = find(first, "axes"); axes && axes->is_array())
    for (const Json& axis : *axes) {
      out.axes.push_back(lower(axis.is_string() ? axis.get<std::string>() : text_in(axis, "name")));
      out.units.push_back(axis.is_string() ? std::string() : lower(text_in(axis, "unit")));
    }
  const std::vector<double> outer = scale_in(first, std::vector<double>(out.axes.size(), 1.0));
  const Json* datasets = find(first, "datasets");
  if (!datasets || !datasets->is_array()) return out;
  for (const Json& dataset : *datasets) {
    const std::filesystem::path path = text_in(dataset, "path");
    bool inside = !path.empty() && path.is_relative();
    for (const auto& part : path) inside = inside && part != "..";
    if (!inside || path.string().find('\0') != std::string::npos)
      fail(name, "names a level that lies outside it: '", printable(path.string(), 60), "'");
    out.paths.push_back(path.string());
    out.scales.push_back(scale_in(dataset, outer));
  }
  return out;
}

}  // namespace areal::media
