// The smallest user of areal::chunked: a table on disk, a region.
#include <areal/chunked_table.hpp>
#include <cstring>
#include <filesystem>

int main(int, char** arguments) {
  const std::filesystem::path path = std::string(arguments[0]) + ".zarr";
  const auto read = [](std::int64_t, std::int64_t, const areal::View& block) {
    for (std::int64_t y = 0; y < block.shape.height; ++y)
      std::memset(block.row(y), 3, static_cast<std::size_t>(block.shape.width));
    return block;
  };
  areal::write_chunked_table(path, {64, 48}, areal::Type::u8, read, {.tile = 64, .overwrite = true});
  const areal::ChunkedTable table(path);
  return table.sums({{10, 20, 5, 4}})[0] == 60 && table.verify().empty() ? 0 : 1;
}
