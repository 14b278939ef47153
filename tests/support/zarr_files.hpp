#pragma once
// Zarr arrays in folders, versions 2 and 3, written without the reader's code.

#include <blosc.h>
#include <zlib.h>
#include <zstd.h>
#include <algorithm>
#include <areal/type.hpp>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <string>
#include <vector>

namespace areal::test {

using Position = std::vector<std::int64_t>;
using ValueAt = std::function<double(const Position&)>;

struct Zarr {
  int version = 3;
  Position shape, chunk, shard = {};  // no shard: each chunk is a file
  Type type = Type::u8;
  bool big_endian = false;
  std::vector<std::string> codecs = {};  // gzip, zlib, zstd, blosc, crc32c
  char separator = '/';
  bool keys_of_v2 = false;  // a version 3 array with keys of version 2
  std::string names = {};   // JSON
  std::string fill = "0";
  bool index_first = false, index_checked = true;
  std::set<Position> missing = {};  // chunks that are not written
};

inline std::string type_name(const Zarr& z) {
  const bool is_float_type = is_float(z.type);
  const std::string bits = std::to_string(8 * size_of(z.type));
  const bool is_signed = z.type == Type::s8 || z.type == Type::s16 || z.type == Type::s32 || z.type == Type::s64;
  if (z.version == 3) return (is_float_type ? "float" : is_signed ? "int" : "uint") + bits;
  return std::string(size_of(z.type) == 1 ? "|"
                     : z.big_endian       ? ">"
                                          : "<") +
         (is_float_type ? "f"
          : is_signed   ? "i"
                        : "u") +
         std::to_string(size_of(z.type));
}

// Bit by bit, from the polynomial.
inline std::uint32_t slow_crc32c(const std::string& bytes) {
  std::uint32_t crc = 0xffffffffu;
  for (const char c : bytes) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78u : 0);
  }
  return crc ^ 0xffffffffu;
}

inline std::string coded(const std::string& bytes, const std::string& codec, std::size_t element) {
  std::string out(bytes.size() + bytes.size() / 8 + 1024, '\0');
  if (codec == "crc32c") {
    const std::uint32_t crc = slow_crc32c(bytes);
    out = bytes;
    out.append(reinterpret_cast<const char*>(&crc), 4);
    return out;
  }
  if (codec == "zlib" || codec == "gzip") {
    z_stream stream{};
    ::deflateInit2(&stream, 6, Z_DEFLATED, codec == "gzip" ? 31 : 15, 8, Z_DEFAULT_STRATEGY);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream.avail_in = static_cast<uInt>(bytes.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    ::deflate(&stream, Z_FINISH);
    out.resize(stream.total_out);
    ::deflateEnd(&stream);
    return out;
  }
  if (codec == "zstd") {
    out.resize(::ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), 3));
    return out;
  }
  const int got = ::blosc_compress_ctx(5, 1, element, bytes.size(), bytes.data(), out.data(), out.size(), "lz4", 0, 1);
  out.resize(static_cast<std::size_t>(got));
  return out;
}

template <class T>
void append_value(std::string& out, double value, bool big_endian) {
  T as{};
  if constexpr (std::is_same_v<T, Half>)
    as = to_half(static_cast<float>(value));
  else
    as = static_cast<T>(value);
  char bytes[sizeof(T)];
  std::memcpy(bytes, &as, sizeof(T));
  if (big_endian) std::reverse(bytes, bytes + sizeof(T));
  out.append(bytes, sizeof(T));
}

inline void append_value(std::string& out, Type type, double value, bool big) {
  switch (type) {
    case Type::u8:
      return append_value<std::uint8_t>(out, value, big);
    case Type::s8:
      return append_value<std::int8_t>(out, value, big);
    case Type::u16:
      return append_value<std::uint16_t>(out, value, big);
    case Type::s16:
      return append_value<std::int16_t>(out, value, big);
    case Type::u32:
      return append_value<std::uint32_t>(out, value, big);
    case Type::s32:
      return append_value<std::int32_t>(out, value, big);
    case Type::u64:
      return append_value<std::uint64_t>(out, value, big);
    case Type::s64:
      return append_value<std::int64_t>(out, value, big);
    case Type::f16:
      return append_value<Half>(out, value, big);
    case Type::f32:
      return append_value<float>(out, value, big);
    case Type::f64:
      return append_value<double>(out, value, big);
  }
}

// Calls call(position) for each of a box, the last axis fastest.
template <class Call>
void for_each_position(const Position& extent, Call&& call) {
  Position at(extent.size(), 0);
  if (std::find(extent.begin(), extent.end(), 0) != extent.end()) return;
  while (true) {
    call(at);
    std::size_t axis = extent.size();
    while (axis > 0 && ++at[axis - 1] == extent[axis - 1]) at[--axis] = 0;
    if (axis == 0) return;
  }
}

inline std::string list_of(const Position& values) {
  std::string out = "[";
  for (std::size_t i = 0; i < values.size(); ++i) out += (i ? ", " : "") + std::to_string(values[i]);
  return out + "]";
}

inline std::string metadata_of(const Zarr& z) {
  if (z.version == 2)
    return "{\"zarr_format\": 2, \"shape\": " + list_of(z.shape) + ", \"chunks\": " + list_of(z.chunk) +
           ", \"dtype\": \"" + type_name(z) + "\", \"order\": \"C\", \"filters\": null, \"fill_value\": " + z.fill +
           ", \"compressor\": " + (z.codecs.empty() ? "null" : "{\"id\": \"" + z.codecs[0] + "\"}") +
           (z.separator == '/' ? ", \"dimension_separator\": \"/\"}" : "}");
  std::string codecs = "[{\"name\": \"bytes\", \"configuration\": {\"endian\": \"" +
                       std::string(z.big_endian ? "big" : "little") + "\"}}";
  for (const std::string& codec : z.codecs) codecs += ", {\"name\": \"" + codec + "\", \"configuration\": {}}";
  codecs += "]";
  const bool sharded = !z.shard.empty();
  if (sharded)
    codecs = "[{\"name\": \"sharding_indexed\", \"configuration\": {\"chunk_shape\": " + list_of(z.chunk) +
             ", \"codecs\": " + codecs +
             ", \"index_codecs\": [{\"name\": \"bytes\", \"configuration\": {\"endian\": " + "\"little\"}}" +
             (z.index_checked ? ", {\"name\": \"crc32c\"}" : "") + "], \"index_location\": \"" +
             (z.index_first ? "start" : "end") + "\"}}]";
  return "{\"zarr_format\": 3, \"node_type\": \"array\", \"shape\": " + list_of(z.shape) + ", \"data_type\": \"" +
         type_name(z) + "\", \"chunk_grid\": {\"name\": \"regular\", \"configuration\": {\"chunk_shape\": " +
         list_of(sharded ? z.shard : z.chunk) + "}}, \"chunk_key_encoding\": {\"name\": \"" +
         (z.keys_of_v2 ? "v2" : "default") + "\", \"configuration\": {\"separator\": \"" + z.separator +
         "\"}}, \"fill_value\": " + z.fill + ", \"codecs\": " + codecs +
         (z.names.empty() ? "" : ", \"dimension_names\": " + z.names) + "}";
}

inline void write_file(const std::filesystem::path& path, const std::string& bytes) {
  std::filesystem::create_directories(path.parent_path());
  std::filesystem::remove(path);  // some file systems write a file out at once when it replaces another
  std::ofstream(path, std::ios::binary) << bytes;
}

inline std::string chunk_of(const Zarr& z, const Position& number, const ValueAt& value) {
  std::string bytes;
  for_each_position(z.chunk, [&](const Position& at) {
    Position where(at.size());
    bool inside = true;
    for (std::size_t i = 0; i < at.size(); ++i) {
      where[i] = number[i] * z.chunk[i] + at[i];
      inside = inside && where[i] < z.shape[i];
    }
    append_value(bytes, z.type, inside ? value(where) : 77, z.big_endian);  // 77: outside, which nobody must see
  });
  for (const std::string& codec : z.codecs) bytes = coded(bytes, codec, size_of(z.type));
  return bytes;
}

inline void write_zarr(const std::filesystem::path& folder, const Zarr& z, const ValueAt& value) {
  write_file(folder / (z.version == 2 ? ".zarray" : "zarr.json"), metadata_of(z));
  const Position& object = z.shard.empty() ? z.chunk : z.shard;
  Position objects(z.shape.size()), inside(z.shape.size());
  for (std::size_t i = 0; i < z.shape.size(); ++i) {
    objects[i] = (z.shape[i] + object[i] - 1) / object[i];
    inside[i] = object[i] / z.chunk[i];
  }
  for_each_position(objects, [&](const Position& number) {
    std::string key = z.version == 3 && !z.keys_of_v2 ? "c" : "";
    for (const std::int64_t i : number) key += (key.empty() ? "" : std::string(1, z.separator)) + std::to_string(i);
    if (z.shard.empty()) {
      if (!z.missing.contains(number)) write_file(folder / key, chunk_of(z, number, value));
      return;
    }
    std::string data, index;
    const std::size_t chunks = [&] {
      std::size_t n = 0;
      for_each_position(inside, [&](const Position&) { ++n; });
      return n;
    }();
    const std::size_t before = z.index_first ? 16 * chunks + (z.index_checked ? 4 : 0) : 0;
    for_each_position(inside, [&](const Position& at) {
      Position chunk(at.size());
      for (std::size_t i = 0; i < at.size(); ++i) chunk[i] = number[i] * inside[i] + at[i];
      const bool there = !z.missing.contains(chunk);
      const std::string bytes = there ? chunk_of(z, chunk, value) : "";
      append_value<std::uint64_t>(index, 0, false);
      append_value<std::uint64_t>(index, 0, false);
      const std::uint64_t entry[2] = {there ? before + data.size() : UINT64_MAX, there ? bytes.size() : UINT64_MAX};
      std::memcpy(index.data() + index.size() - 16, entry, 16);
      data += bytes;
    });
    if (z.index_checked) index = coded(index, "crc32c", 1);
    write_file(folder / key, z.index_first ? index + data : data + index);
  });
}

}  // namespace areal::test
