// BigTIFFs of 10 GB, sparse on disk: a block takes little memory, held by a limit of address space.
#include <OpenImageIO/imageio.h>
#include <sys/resource.h>
#include <unistd.h>
#include <areal/error.hpp>
#include <cstdlib>
#include <new>
#include "large_blocks.hpp"
#include "picture_files.hpp"
#include "scratch.hpp"

namespace areal::media {
namespace {

using test::block_fault;
using test::expect_sentence;
using test::Scratch;
using test::value_at;

class Sparse : public test::SilentTest {};

// A BigTIFF of 8-bit grey whose pixels follow its directory, zero but for some rows: a sparse file.
fs::path sparse_bigtiff(const Scratch& scratch, std::int64_t width, std::int64_t height, std::int64_t rows_per_strip) {
  const std::int64_t strips = (height + rows_per_strip - 1) / rows_per_strip;
  std::string entries;
  const auto entry = [&](unsigned tag, unsigned type, std::int64_t count, std::int64_t value) {
    entries += test::little(tag, 2) + test::little(type, 2) + test::little(static_cast<std::uint64_t>(count), 8) +
               test::little(static_cast<std::uint64_t>(value), 8);
  };
  const std::int64_t directory = 16, tables = directory + 8 + 10 * 20 + 8, pixels = tables + 16 * strips;
  const bool inside = strips == 1;
  entry(256, 4, 1, width);
  entry(257, 4, 1, height);
  entry(258, 3, 1, 8);
  entry(259, 3, 1, 1);
  entry(262, 3, 1, 1);
  entry(273, 16, strips, inside ? pixels : tables);
  entry(277, 3, 1, 1);
  entry(278, 4, 1, rows_per_strip);
  entry(279, 16, strips, inside ? width * height : tables + 8 * strips);
  entry(284, 3, 1, 1);
  std::string head = "II\x2b" + test::little(0, 1) + test::little(8, 2) + test::little(0, 2) + test::little(16, 8) +
                     test::little(10, 8) + entries + test::little(0, 8);
  for (std::int64_t i = 0; i < strips; ++i)
    head += test::little(static_cast<std::uint64_t>(pixels + i * rows_per_strip * width), 8);
  for (std::int64_t i = 0; i < strips; ++i)
    head += test::little(static_cast<std::uint64_t>(std::min(rows_per_strip, height - i * rows_per_strip) * width), 8);
  const fs::path path = scratch.write("sparse.tif", head);
  std::error_code error;
  fs::resize_file(path, static_cast<std::uintmax_t>(pixels + width * height), error);
  if (error) return {};
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(pixels + (height - 3) * width + width - 5);
  file << "corner";  // five bytes of row height-3, and the first of the next
  return path;
}

double sparse_at(std::int64_t x, std::int64_t y, std::int64_t width, std::int64_t height) {
  const std::int64_t i = y * width + x - ((height - 3) * width + width - 5);
  return i >= 0 && i < 6 ? "corner"[i] : 0;
}

std::uint64_t address_space() {
  std::ifstream file("/proc/self/statm");
  std::uint64_t pages = 0;
  file >> pages;
  return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

// From here on the process may have so many bytes of address space more than now. The shadow of a sanitizer is larger
// than any limit: there, nothing is limited, and false returned.
bool limit_memory(std::uint64_t more) {
  const std::uint64_t now = address_space();
  if (now >= std::uint64_t{1} << 40) return false;
  const ::rlimit limit{now + more, now + more};
  return ::setrlimit(RLIMIT_AS, &limit) == 0;
}

constexpr std::int64_t side = 100000;

ReadOptions frugal() {
  ReadOptions out;
  out.memory_limit = 48 << 20;
  out.threads = 2;
  return out;
}

// In a process of its own, which ends with the limit.
bool passes_in_another_process(const char* name, const fs::path& path) {
  const std::string program = fs::read_symlink("/proc/self/exe").string();
  const std::string command =
      "AREAL_TEST_SPARSE=" + path.string() + " " + program + " --gtest_filter=AnotherProcess." + name;
  testing::internal::CaptureStdout();
  const int status = std::system((command + " 2>&1").c_str());
  const std::string output = testing::internal::GetCapturedStdout();
  return status == 0 && output.find("[  PASSED  ] 1 test.") != std::string::npos;
}

TEST_F(Sparse, TenGigabytesInLittleMemory) {
  for (const std::int64_t rows_per_strip : {std::int64_t{16}, side}) {
    SCOPED_TRACE(rows_per_strip);
    const fs::path path = sparse_bigtiff(scratch, side, side, rows_per_strip);
    if (path.empty()) GTEST_SKIP() << "this file system holds no sparse file of 10 GB";
    EXPECT_TRUE(passes_in_another_process("ReadsTenGigabytes", path));
    fs::remove(path);
  }
  EXPECT_FALSE(passes_in_another_process("ReadsTenGigabytes", scratch / "none")) << "a failure is noticed";
}

TEST(AnotherProcess, ReadsTenGigabytes) {
  const char* path = std::getenv("AREAL_TEST_SPARSE");
  if (!path) return;                   // asked for above alone
  open_large_picture(path, frugal());  // the plug-in and its libraries are in memory now
  if (limit_memory(256 << 20)) {
    EXPECT_THROW(std::vector<char>(300 << 20), std::bad_alloc);  // the limit does bite
  }
  const auto picture = open_large_picture(path, frugal());
  EXPECT_LE(picture->memory(), frugal().memory_limit);
  const auto is = [](std::int64_t x, std::int64_t y, std::int64_t) { return sparse_at(x, y, side, side); };
  EXPECT_EQ(block_fault(*picture, is, side - 300, side - 200, 300, 200), "");
  EXPECT_EQ(block_fault(*picture, is, 0, side - 2, 300, 2), "");
  EXPECT_EQ(block_fault(*picture, is, 0, 0, side, 3), "");
}

TEST_F(Sparse, AFewTilesOfTenGigabytes) {
  const fs::path path = scratch / "few.tif";
  const int tile = 512;
  OIIO::ImageSpec spec(static_cast<int>(side), static_cast<int>(side), 1, OIIO::TypeDesc::UINT8);
  spec.tile_width = spec.tile_height = tile;
  spec.tile_depth = 1;
  spec["compression"] = "zip";
  const auto out = OIIO::ImageOutput::create(path.string());
  ASSERT_TRUE(out->open(path.string(), spec)) << out->geterror();
  const int at = static_cast<int>(side) / tile * tile;  // the last tile is cut off by the edges
  std::vector<std::uint8_t> pixels(tile * tile);
  for (int y = 0; y < tile; ++y)
    for (int x = 0; x < tile; ++x)
      pixels[static_cast<std::size_t>(y * tile + x)] = static_cast<std::uint8_t>(value_at(at + x, at + y, 0));
  ASSERT_TRUE(out->write_tile(at, at, 0, OIIO::TypeDesc::UINT8, pixels.data())) << out->geterror();
  ASSERT_TRUE(out->close()) << out->geterror();
  EXPECT_TRUE(passes_in_another_process("ReadsTheLastTile", path));
  // A tile that was never written is said, not made up.
  const auto picture = open_large_picture(path, frugal());
  expect_sentence<IoError>(path, "is damaged or truncated in columns 0 to 511 of rows 0 to 511",
                           [&] { picture->read(0, 0, View(pixels.data(), 10, 10)); });
  EXPECT_EQ(block_fault(*picture, value_at, side - 100, side - 90, 100, 90), "");
}

TEST(AnotherProcess, ReadsTheLastTile) {
  const char* path = std::getenv("AREAL_TEST_SPARSE");
  if (!path) return;
  open_large_picture(path, frugal());
  limit_memory(128 << 20);
  EXPECT_EQ(block_fault(*open_large_picture(path, frugal()), value_at, side - 100, side - 90, 100, 90), "");
}

}  // namespace
}  // namespace areal::media
