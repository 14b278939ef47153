// Chunked tables with one modified object: any bytes give answers or one sentence that names the path. The first byte
// selects the object, the second the change: replaced, overwritten from an offset on (with valid checksums or not), or
// truncated.
#include <unistd.h>
#include <algorithm>
#include <areal/chunked_table.hpp>
#include <areal/error.hpp>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>
#include "chunked/crc32c.hpp"

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t width = 130, height = 140, tile = 64;

struct Table {
  Table() {
    std::string name = (fs::exists("/dev/shm") ? "/dev/shm" : "/tmp") + std::string("/areal-fuzz-XXXXXX");
    if (!::mkdtemp(name.data())) std::abort();
    path = name;
    const auto read = [](std::int64_t x, std::int64_t y, const areal::View& block) {
      for (std::int64_t v = 0; v < block.shape.height; ++v)
        for (std::int64_t u = 0; u < block.shape.width; ++u)
          static_cast<std::uint8_t*>(block.row(v))[u] = static_cast<std::uint8_t>((x + u) * 7 + (y + v) * 13);
      return block;
    };
    areal::write_chunked_table(path, {width, height}, areal::Type::u8, read,
                               {.tile = tile, .threads = 1, .sync = false});
    for (const char* object : {"zarr.json", "local/zarr.json", "top/zarr.json", "left/zarr.json", "corner/zarr.json",
                               "local/c/0/0", "top/c/1/0", "left/c/0/2", "corner/c/1/0"}) {
      std::string bytes(fs::file_size(path / object), '\0');
      std::ifstream(path / object, std::ios::binary).read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
      objects.emplace_back(object, bytes);
    }
  }
  ~Table() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  void put(const std::string& name, const std::string& bytes) const {
    std::ofstream(path / name, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }

  fs::path path;
  std::vector<std::pair<std::string, std::string>> objects;
};

/// Appends the checksum of bytes [begin, end).
void seal(std::string& bytes, std::size_t begin, std::size_t end) {
  const std::uint32_t crc = areal::chunked::crc32c(bytes.data() + begin, end - begin);
  std::memcpy(bytes.data() + end, &crc, sizeof crc);
}

std::string changed(const std::string& name, std::string bytes, unsigned mode, const std::string& input) {
  if (mode == 0) return input;
  std::uint32_t offset = 0;
  std::memcpy(&offset, input.data(), std::min(input.size(), sizeof offset));
  offset %= static_cast<std::uint32_t>(bytes.size());
  if (mode == 3) return bytes.substr(0, offset);
  for (std::size_t i = sizeof offset; i < input.size() && offset + i - sizeof offset < bytes.size(); ++i)
    bytes[offset + i - sizeof offset] = input[i];
  if (mode == 1 || name.ends_with("zarr.json")) return bytes;
  constexpr std::size_t index = 16 * 64 * 64, stored = 4 * tile * tile + 4;
  if (!name.starts_with("local/")) {
    seal(bytes, 0, bytes.size() - 4);
    return bytes;
  }
  for (std::size_t at = 0; at + stored <= bytes.size() - index - 4; at += stored) seal(bytes, at, at + stored - 4);
  seal(bytes, bytes.size() - index - 4, bytes.size() - 4);
  return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Table table;
  if (size < 2) return 0;
  const auto& [name, good] = table.objects[data[0] % table.objects.size()];
  table.put(name, changed(name, good, data[1] % 4, std::string(data + 2, data + size)));
  const auto check = [&](const std::string& what) {
    if (!what.starts_with(table.path.string()) || what.find('\n') != std::string::npos || what.size() > 500)
      std::abort();
  };
  try {
    const areal::ChunkedTable opened(table.path);
    const areal::Shape shape = opened.shape();
    for (const std::string& finding : opened.verify({.threads = 1, .most_findings = 20})) check(finding);
    const std::vector<areal::Region> regions{{0, 0, shape.width, shape.height}, {70, 80, 9, 9}, {63, 127, 65, 2}};
    for (const bool checked : {true, false}) try {
        opened.sums(regions, {.outside = areal::Outside::clip, .threads = 1, .checked = checked});
      } catch (const areal::IoError& error) {
        check(error.what());
      }
  } catch (const areal::IoError& error) {
    check(error.what());
  }
  table.put(name, good);
  return 0;
}
