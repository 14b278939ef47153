// Slides through OpenSlide. They are TIFFs that say that an Aperio scanner made them: OpenSlide takes their word.
#include <areal/error.hpp>
#include <cstdlib>
#include "large_blocks.hpp"
#include "picture_files.hpp"

namespace areal::media {
namespace {

using test::block_fault;
using test::blocks_fault;
using test::bytes_in;
using test::expect_sentence;
using test::luma_at;
using test::Tiff;
using test::tiff;
using test::value_at;

class Slides : public test::SilentTest {};

constexpr std::uint32_t width = 500, height = 300, tile = 128;

Tiff slide() {
  return {.width = width,
          .height = height,
          .samples = 3,
          .photometric = 2,
          .tile = tile,
          .description = "Aperio Image Library v11.2.1\r\n500x300 [0,0 500x300] (128x128)|AppMag = 20"};
}

std::string colours(std::int64_t w = width, std::int64_t h = height) {
  std::string out;
  for (std::int64_t y = 0; y < h; ++y)
    for (std::int64_t x = 0; x < w; ++x)
      for (std::int64_t c = 0; c < 3; ++c) out += static_cast<char>(value_at(x, y, c));
  return out;
}

ReadOptions all_channels() {
  ReadOptions out;
  out.colour = Colour::all;
  return out;
}

TEST_F(Slides, BlocksEqualTheWhole) {
  const fs::path path = scratch.write("a.svs", tiff(slide(), colours()));
  const auto all = open_large_picture(path, all_channels());
  EXPECT_EQ(all->shape(), (Shape{width, height, 3}));
  EXPECT_EQ(all->type(), Type::u8);
  EXPECT_EQ(all->block(), (BlockSize{tile, tile}));
  EXPECT_EQ(blocks_fault(*all, value_at, 1, 25), "");
  const auto one_off = [](std::int64_t x, std::int64_t y, std::int64_t c) {
    return value_at(x, y, c) + (x == width - 1 && y == height - 1 && c == 2 ? 1 : 0);
  };
  EXPECT_NE(blocks_fault(*all, one_off, 1, 1), "");
  const auto grey = open_large_picture(path);
  EXPECT_EQ(blocks_fault(*grey, luma_at, 2, 25), "");
  ReadOptions green;
  green.colour = Colour::channel;
  green.channel = 1;
  green.threads = 3;
  EXPECT_EQ(blocks_fault(
                *open_large_picture(path, green), [](auto x, auto y, auto) { return value_at(x, y, 1); }, 3, 25),
            "");
  green.channel = 3;
  expect_sentence<InvalidArgument>(path, "a slide has R, G and B", [&] { open_large_picture(path, green); });
  ReadOptions level;
  level.level = 1;
  expect_sentence<InvalidArgument>(path, "level 1 does not exist: the slide has 1 level",
                                   [&] { open_large_picture(path, level); });
}

TEST_F(Slides, LevelsAreChosen) {
  Tiff half = slide();
  half.width /= 2, half.height /= 2;
  const fs::path path =
      scratch.write("levels.svs", test::two_pages(slide(), colours(), half, colours(width / 2, height / 2)));
  EXPECT_EQ(blocks_fault(*open_large_picture(path, all_channels()), value_at, 7, 10), "");
  ReadOptions options = all_channels();
  options.level = 1;
  const auto picture = open_large_picture(path, options);
  EXPECT_EQ(picture->shape(), (Shape{width / 2, height / 2, 3}));
  EXPECT_EQ(blocks_fault(*picture, value_at, 8, 25), "");
  options.level = 2;
  expect_sentence<InvalidArgument>(path, "level 2 does not exist: the slide has 2 levels",
                                   [&] { open_large_picture(path, options); });
}

TEST_F(Slides, PixelsHaveTheSizeThatTheScannerStates) {
  Tiff half = slide(), stated = slide();
  half.width /= 2, half.height /= 2;
  stated.description += "|MPP = 0.2525";
  const fs::path path =
      scratch.write("size.svs", test::two_pages(stated, colours(), half, colours(width / 2, height / 2)));
  ReadOptions options;
  const auto full = open_large_picture(path, options)->pixel_size();
  options.level = 1;
  const auto smaller = open_large_picture(path, options)->pixel_size();
  ASSERT_TRUE(full && smaller);
  EXPECT_NEAR(full->x, 0.2525, 1e-9);
  EXPECT_NEAR(smaller->y, 0.505, 1e-9);
  EXPECT_FALSE(open_large_picture(scratch.write("none.svs", tiff(slide(), colours())))->pixel_size());
}

TEST_F(Slides, AreKnownByTheirContent) {
  // The same as a TIFF, if nobody says that it is a slide: notes and blocks are those of TIFFs.
  const fs::path path = scratch.write("slide.dat", tiff(slide(), colours()));
  EXPECT_EQ(blocks_fault(*open_large_picture(path, all_channels()), value_at, 4, 5), "");
  Tiff plain = slide();
  plain.description.clear();
  const fs::path other = scratch.write("plain.svs", tiff(plain, colours()));
  EXPECT_EQ(blocks_fault(*open_large_picture(other, all_channels()), value_at, 5, 5), "");
  ReadOptions level;
  level.level = 1;
  expect_sentence<InvalidArgument>(path, "the slide has 1 level", [&] { open_large_picture(path, level); });
  expect_sentence<InvalidArgument>(other, "the file holds 1 picture", [&] { open_large_picture(other, level); });
}

std::vector<std::string> tiles_of_colours() {
  std::vector<std::string> out;
  for (std::int64_t y = 0; y < height; y += tile)
    for (std::int64_t x = 0; x < width; x += tile) {
      out.emplace_back();
      for (std::int64_t j = y; j < y + tile; ++j)
        for (std::int64_t i = x; i < x + tile; ++i)
          for (std::int64_t c = 0; c < 3; ++c) out.back() += static_cast<char>(value_at(i, j, c));
    }
  return out;
}

TEST_F(Slides, TilesThatWereNotScannedAreBackground) {
  // A tile of no bytes is one that the scanner left out; OpenSlide makes it transparent.
  Tiff sparse = slide();
  sparse.coded = tiles_of_colours();
  sparse.coded[1].clear();
  const fs::path path = scratch.write("sparse.svs", tiff(sparse, {}));
  const auto is = [](std::int64_t x, std::int64_t y, std::int64_t c) {
    return y < tile && x >= tile && x < 2 * tile ? 255. : value_at(x, y, c);
  };
  EXPECT_EQ(blocks_fault(*open_large_picture(path, all_channels()), is, 6, 15), "");
}

TEST_F(Slides, TruncatedSlidesAreErrors) {
  const std::string whole = tiff(slide(), colours());
  for (std::size_t length = 8; length < whole.size(); length += whole.size() / 23) {
    const fs::path path = scratch.write("cut.svs", whole.substr(0, length));
    expect_sentence<IoError>(path, "", [&] { open_large_picture(path); });
  }
  // One tile has too few bytes.
  Tiff late = slide();
  late.coded = tiles_of_colours();
  late.coded[2].resize(10);
  const fs::path path = scratch.write("late.svs", tiff(late, {}));
  const auto picture = open_large_picture(path, all_channels());
  EXPECT_EQ(block_fault(*picture, value_at, 0, 0, 256, 300), "");
  std::vector<std::uint8_t> block(30);
  expect_sentence<IoError>(path, "is damaged or truncated in columns 256 to 383 of rows 0 to 127", [&] {
    picture->read(300, 100, View(block.data(), Type::u8, {10, 1, 3}));
  });
  EXPECT_EQ(block_fault(*picture, value_at, 384, 0, 116, 300), "") << "it can go on after damage";
}

TEST_F(Slides, WithoutThePlugIn) {
  const fs::path path = scratch.write("a.svs", tiff(slide(), colours()));
  fs::copy_file(path, scratch / "a.tif");
  const fs::path folder = scratch / "plugins";
  fs::create_directory(folder);
  const std::string program = fs::read_symlink("/proc/self/exe").string();
  const std::string command = "AREAL_PLUGIN_DIR=" + folder.string() + " AREAL_TEST_SLIDE=" + path.string() + " " +
                              program + " --gtest_filter=AnotherProcess.* >/dev/null";
  EXPECT_EQ(std::system(command.c_str()), 0);
}

TEST(AnotherProcess, HasNoPlugIn) {
  const char* path = std::getenv("AREAL_TEST_SLIDE");
  if (!path) return;  // asked for above alone
  expect_sentence<Unavailable>(path, "areal_slides.so is not in", [&] { open_large_picture(path); });
  const fs::path other = fs::path(path).replace_extension(".tif");
  expect_sentence<Unavailable>(other, "areal_pictures.so is not in", [&] { open_large_picture(other); });
}

}  // namespace
}  // namespace areal::media
