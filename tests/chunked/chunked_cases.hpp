#pragma once
// Images, and a reader of chunked tables by their specification alone: bytes at offsets, none of areal's code.

#include <areal/chunked_table.hpp>
#include <areal/region.hpp>
#include <array>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>
#include "random_regions.hpp"
#include "scratch.hpp"

namespace areal::test {

struct TestImage {
  std::int64_t width = 0, height = 0;
  Type type = Type::u8;
  std::vector<std::uint16_t> pixels;

  Shape shape() const { return {width, height}; }
  std::uint16_t at(std::int64_t x, std::int64_t y) const { return pixels[static_cast<std::size_t>(y * width + x)]; }
  ImageReader reader() const {
    return [this](std::int64_t x, std::int64_t y, const View& block) {
      for (std::int64_t v = 0; v < block.shape.height; ++v)
        for (std::int64_t u = 0; u < block.shape.width; ++u)
          if (type == Type::u8)
            static_cast<std::uint8_t*>(block.row(v))[u] = static_cast<std::uint8_t>(at(x + u, y + v));
          else
            static_cast<std::uint16_t*>(block.row(v))[u] = at(x + u, y + v);
      return block;
    };
  }
  /// The inclusive table, modulo 2^64.
  std::vector<std::uint64_t> table() const {
    std::vector<std::uint64_t> sums(pixels.size());
    for (std::int64_t y = 0; y < height; ++y) {
      std::uint64_t row = 0;
      for (std::int64_t x = 0; x < width; ++x) {
        row += at(x, y);
        const auto i = static_cast<std::size_t>(y * width + x);
        sums[i] = row + (y > 0 ? sums[i - static_cast<std::size_t>(width)] : 0);
      }
    }
    return sums;
  }
  std::uint64_t sum(const Region& r) const {
    std::uint64_t sum = 0;
    for (std::int64_t y = r.y; y < r.y + r.height; ++y)
      for (std::int64_t x = r.x; x < r.x + r.width; ++x) sum += at(x, y);
    return sum;
  }
};

inline TestImage random_image(unsigned seed, std::int64_t width, std::int64_t height, Type type = Type::u8) {
  TestImage image{width, height, type, {}};
  std::mt19937 random(seed);
  image.pixels.resize(static_cast<std::size_t>(width * height));
  for (std::uint16_t& pixel : image.pixels)
    pixel = static_cast<std::uint16_t>(type == Type::u8 ? random() & 255 : random() & 65535);
  return image;
}

inline std::vector<Region> random_regions(unsigned seed, std::size_t count, std::int64_t width, std::int64_t height) {
  std::mt19937_64 random(seed);
  std::vector<Region> regions;
  for (std::size_t i = 0; i < count; ++i) regions.push_back(random_region(random, width, height));
  return regions;
}

inline std::string whole_file(const std::filesystem::path& path) {
  std::string bytes(std::filesystem::file_size(path), '\0');
  std::ifstream(path, std::ios::binary).read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return bytes;
}

/// All files below a folder with their bytes.
inline std::map<std::string, std::string> files_in(const std::filesystem::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) files[entry.path().lexically_relative(folder).string()] = whole_file(entry.path());
  return files;
}

/// CRC-32C by its definition, a byte at a time.
inline std::uint32_t crc32c_by_definition(const std::string& bytes) {
  static const auto of_byte = [] {
    std::array<std::uint32_t, 256> values{};
    for (std::uint32_t i = 0; i < 256; ++i) {
      values[i] = i;
      for (int bit = 0; bit < 8; ++bit)
        values[i] = (values[i] & 1) != 0 ? (values[i] >> 1) ^ 0x82F63B78 : values[i] >> 1;
    }
    return values;
  }();
  std::uint32_t state = 0xFFFFFFFF;
  for (const char c : bytes) state = (state >> 8) ^ of_byte[(state ^ static_cast<unsigned char>(c)) & 255];
  return ~state;
}

template <class T>
T number_at(const std::string& bytes, std::size_t offset) {
  T value{};
  if (offset + sizeof value > bytes.size()) throw std::runtime_error("an object is too short");
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

/// An entry of the whole table, from the files of files_in.
inline std::uint64_t entry_by_specification(const std::map<std::string, std::string>& files, std::int64_t tile,
                                            std::int64_t x, std::int64_t y) {
  const auto object = [&](const std::string& name) -> const std::string& { return files.at(name); };
  const std::int64_t i = y / tile, j = x / tile, n = 4096 / tile;
  const std::string& shard = object("local/c/" + std::to_string(y / 4096) + "/" + std::to_string(x / 4096));
  const auto index = shard.size() - 4 - static_cast<std::size_t>(16 * n * n);
  const auto place = index + static_cast<std::size_t>(16 * (i % n * n + j % n));
  if (number_at<std::uint64_t>(shard, place + 8) != static_cast<std::uint64_t>(4 * tile * tile + 4))
    throw std::runtime_error("a tile has another length");
  const std::size_t at =
      number_at<std::uint64_t>(shard, place) + 4 * static_cast<std::size_t>(y % tile * tile + x % tile);
  const auto row = std::to_string(i);
  return number_at<std::uint32_t>(shard, at) +
         number_at<std::uint64_t>(object("top/c/" + row + "/0"), static_cast<std::size_t>(8 * x)) +
         number_at<std::uint64_t>(object("left/c/0/" + row), static_cast<std::size_t>(8 * (j * tile + y - i * tile))) -
         number_at<std::uint64_t>(object("corner/c/" + row + "/0"), static_cast<std::size_t>(8 * j));
}

/// How many entries of the stored table differ from the image's, and how many checksums are wrong. Of large images it
/// looks at every 37th entry.
inline std::size_t differences(const std::filesystem::path& folder, std::int64_t tile, const TestImage& image) {
  const auto files = files_in(folder);
  const std::vector<std::uint64_t> table = image.table();
  std::size_t wrong = 0;
  const std::size_t step = table.size() > 100'000 ? 37 : 1;
  for (std::size_t i = 0; i < table.size(); i += step) {
    const auto at = static_cast<std::int64_t>(i);
    wrong += entry_by_specification(files, tile, at % image.width, at / image.width) != table[i];
  }
  for (const auto& file : files) {
    const std::string &name = file.first, &bytes = file.second;
    if (name.ends_with("zarr.json")) continue;
    const auto checked = [&](std::size_t begin, std::size_t end) {
      return crc32c_by_definition(bytes.substr(begin, end - begin)) == number_at<std::uint32_t>(bytes, end);
    };
    if (!name.starts_with("local/")) {
      wrong += !checked(0, bytes.size() - 4);
      continue;
    }
    const auto n = static_cast<std::size_t>(4096 / tile);
    const std::size_t index = bytes.size() - 4 - 16 * n * n;
    wrong += !checked(index, bytes.size() - 4);
    for (std::size_t k = 0; k < n * n; ++k) {
      const auto offset = number_at<std::uint64_t>(bytes, index + 16 * k);
      if (offset != ~std::uint64_t{0}) wrong += !checked(offset, offset + static_cast<std::size_t>(4 * tile * tile));
    }
  }
  return wrong;
}

}  // namespace areal::test
