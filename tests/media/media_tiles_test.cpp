// TIFF, BigTIFF and EXR by tiles and strips: blocks, the cache, bad files.
#include <OpenImageIO/imageio.h>
#include <areal/error.hpp>
#include "large_blocks.hpp"
#include "picture_files.hpp"
#include "scratch.hpp"

namespace areal::media {
namespace {

using test::block_fault;
using test::blocks_fault;
using test::bytes_in;
using test::expect_sentence;
using test::luma_at;
using test::picture_of;
using test::Scratch;
using test::Tiff;
using test::tiff;
using test::value_at;

class Tiles : public test::SilentTest {};

struct Written {
  Shape shape{100, 70};
  Type type = Type::u8;
  const char* compression = "none";
  int tile_width = 0, tile_height = 0, rows_per_strip = 0;
  bool separate = false, big = false;
  std::int64_t first = 0;  // added to x
};
std::string text_of(const Written& w) {
  return std::string(name_of(w.type)) + " x" + std::to_string(w.shape.channels) + " " + w.compression + " tile " +
         std::to_string(w.tile_width) + "x" + std::to_string(w.tile_height) + " strip " +
         std::to_string(w.rows_per_strip) + (w.separate ? " separate" : "") + (w.big ? " big" : "");
}

OIIO::TypeDesc format_of(Type type) {
  return type == Type::u8    ? OIIO::TypeDesc::UINT8
         : type == Type::u16 ? OIIO::TypeDesc::UINT16
         : type == Type::f16 ? OIIO::TypeDesc::HALF
         : type == Type::f64 ? OIIO::TypeDesc::DOUBLE
                             : OIIO::TypeDesc::FLOAT;
}

OIIO::ImageSpec spec_of(const Written& w) {
  OIIO::ImageSpec spec(static_cast<int>(w.shape.width), static_cast<int>(w.shape.height),
                       static_cast<int>(w.shape.channels), format_of(w.type));
  spec.tile_width = w.tile_width;
  spec.tile_height = w.tile_height;
  spec.tile_depth = w.tile_width ? 1 : 0;
  spec["compression"] = w.compression;
  if (w.rows_per_strip) spec["tiff:RowsPerStrip"] = w.rows_per_strip;
  if (w.separate) spec["planarconfig"] = "separate";
  if (w.big) spec["tiff:bigtiff"] = 1;
  spec["oiio:UnassociatedAlpha"] = 1;
  return spec;
}

void write_pages(const fs::path& path, const std::vector<Written>& pages) {
  const auto out = OIIO::ImageOutput::create(path.string());
  ASSERT_TRUE(out) << path;
  std::vector<OIIO::ImageSpec> specs;
  for (const Written& page : pages) specs.push_back(spec_of(page));
  for (std::size_t i = 0; i < pages.size(); ++i) {
    const auto mode = i == 0 ? OIIO::ImageOutput::Create : OIIO::ImageOutput::AppendSubimage;
    ASSERT_TRUE(out->open(path.string(), specs[i], mode)) << out->geterror();
    ASSERT_TRUE(out->write_image(format_of(pages[i].type), picture_of(pages[i].shape, pages[i].type).data()))
        << out->geterror();
  }
  ASSERT_TRUE(out->close()) << out->geterror();
}

ReadOptions all_channels() {
  ReadOptions out;
  out.colour = Colour::all;
  out.keep_alpha = true;
  return out;
}

TEST_F(Tiles, TheChecksCanFail) {
  write_pages(scratch / "a.tif", {{.compression = "zip", .tile_width = 32, .tile_height = 16}});
  const auto picture = open_large_picture(scratch / "a.tif");
  EXPECT_EQ(picture->block(), (BlockSize{32, 16}));
  EXPECT_EQ(blocks_fault(*picture, value_at, 1), "");
  const auto one_off = [](std::int64_t x, std::int64_t y, std::int64_t c) {
    return value_at(x, y, c) + (x == 99 && y == 69 ? 1 : 0);
  };
  EXPECT_NE(blocks_fault(*picture, one_off, 1), "");
}

TEST_F(Tiles, BlocksEqualTheWhole) {
  std::vector<Written> cases;
  for (const Type type : {Type::u8, Type::u16, Type::f32, Type::f64})
    for (const std::int64_t channels : {1, 3, 4}) {
      if (type != Type::f64) {  // whose tiles are refused
        cases.push_back({{100, 70, channels}, type, "lzw", 32, 16});
        cases.push_back({{100, 70, channels}, type, "zip", 112, 80, 0, false, true});
        cases.push_back({{100, 70, channels}, type, "none", 16, 48, 0, false, true});
        if (channels > 1) cases.push_back({{100, 70, channels}, type, "zip", 32, 32, 0, true});
      }
      cases.push_back({{100, 70, channels}, type, "zip", 0, 0, 7});
      cases.push_back({{100, 70, channels}, type, "none", 0, 0, 70, false, true});
      cases.push_back({{100, 70, channels}, type, "lzw", 0, 0, 1});
      cases.push_back({{100, 71, channels}, type, "lzw", 0, 0, 7});  // one row in the last strip
      if (channels > 1) cases.push_back({{100, 70, channels}, type, "none", 0, 0, 9, true});
    }
  unsigned seed = 10;
  for (const Written& w : cases) {
    SCOPED_TRACE(text_of(w));
    const fs::path path = scratch / "a.tif";
    write_pages(path, {w});
    const auto picture = open_large_picture(path, all_channels());
    EXPECT_EQ(picture->shape(), w.shape);
    EXPECT_EQ(picture->type(), w.type);
    ASSERT_EQ(blocks_fault(*picture, value_at, seed++, 25), "");
    if (w.shape.channels == 1) continue;
    ReadOptions one;
    one.colour = Colour::channel;
    one.channel = 1;
    ASSERT_EQ(blocks_fault(
                  *open_large_picture(path, one),
                  [](std::int64_t x, std::int64_t y, std::int64_t) { return value_at(x, y, 1); }, seed++, 10),
              "");
    const auto luma = open_large_picture(path);
    EXPECT_EQ(luma->shape(), (Shape{100, w.shape.height}));
    if (!is_float(w.type)) {
      ASSERT_EQ(blocks_fault(*luma, luma_at, seed++, 10), "");
    }
  }
}

std::uint8_t smooth_at(std::int64_t x, std::int64_t y, std::int64_t c) {
  return static_cast<std::uint8_t>(40 + (x + 2 * y) * 2 / 7 + 7 * c);
}

// 300x200 pixels in tiles of 64x64 that are whole JPEGs: colours in YCbCr, half as many of them.
std::string jpeg_tiles(std::int64_t channels, int photometric, const Scratch& scratch) {
  Tiff out{.width = 300,
           .height = 200,
           .samples = static_cast<int>(channels),
           .photometric = photometric,
           .compression = 7,
           .tile = 64};
  for (std::int64_t y = 0; y < 200; y += 64)
    for (std::int64_t x = 0; x < 300; x += 64) {
      Array tile(Shape{64, 64, channels}, Type::u8);
      for (std::int64_t i = 0; i < 64 * 64 * channels; ++i)
        tile.as<std::uint8_t>()[i] = smooth_at(x + i / channels % 64, y + i / channels / 64, i % channels);
      write_picture(scratch / "tile.jpg", tile.view());
      out.coded.push_back(bytes_in(scratch / "tile.jpg"));
    }
  return tiff(out, {});
}

TEST_F(Tiles, PixelsHaveTheSizeThatTheFileStates) {
  struct Case {
    std::string description;
    std::uint32_t x, y;  // thousandths of pixels per unit
    int unit;
    double width, height;  // 0: unknown
  };
  const std::string ome = "<?xml version=\"1.0\"?><OME><Image><Pixels ID=\"a\" ";
  const std::string escaped = "ImageJ=1.53c\nunit=\\u00B5m\nloop=false\n";
  const std::vector<Case> cases{
      {"", 20000000, 40000000, 3, 0.5, 0.25},  // per centimetre
      {"", 300000, 300000, 2, 0, 0},           // per inch: for printers
      {"", 0, 0, 3, 0, 0},
      {"", 20000000, 0, 3, 0, 0},
      {ome + "PhysicalSizeX=\"0.65\" PhysicalSizeY=\"0.7\" SizeX=\"9\"/></Image></OME>", 1000, 1000, 3, 0.65, 0.7},
      {ome + "PhysicalSizeXUnit=\"nm\" PhysicalSizeX=\"65\" PhysicalSizeY=\"7e-5\" PhysicalSizeYUnit=\"mm\"></OME>", 0,
       0, 0, 0.065, 0.07},
      {ome + "PhysicalSizeX=\"-1\" PhysicalSizeY=\"1\"/></OME>", 20000000, 20000000, 3, 0, 0},
      {ome + "PhysicalSizeX=\"1\" PhysicalSizeXUnit=\"pixel\" PhysicalSizeY=\"1\"/></OME>", 0, 0, 0, 0, 0},
      {ome + "PhysicalSizeX=\"1e999\" PhysicalSizeY=\"nan\"/></OME>", 0, 0, 0, 0, 0},
      {ome + "PhysicalSizeX=\"0.5", 0, 0, 0, 0, 0},
      {"ImageJ=1.53c\nimages=1\nunit=micron\nloop=false\n", 4000, 5000, 1, 0.25, 0.2},
      {escaped, 4000, 5000, 1, 0.25, 0.2},
      {"ImageJ=1.53c\nunit=pixel\n", 4000, 5000, 1, 0, 0},
      {"ImageJ=1.53c\n", 4000, 5000, 3, 0, 0},
      {"a photograph", 20000000, 40000000, 3, 0.5, 0.25}};
  for (const Case& c : cases) {
    const Tiff t{.width = 5,
                 .height = 4,
                 .description = c.description,
                 .resolution = c.x,
                 .resolution_down = c.y,
                 .resolution_unit = c.unit};
    const auto size = open_large_picture(scratch.write("size.tif", tiff(t, std::string(20, 'a'))))->pixel_size();
    ASSERT_EQ(size.has_value(), c.width != 0) << c.description << c.unit;
    if (!size) continue;
    EXPECT_NEAR(size->x, c.width, 1e-6 * c.width) << c.description;
    EXPECT_NEAR(size->y, c.height, 1e-6 * c.height) << c.description;
  }
}

TEST_F(Tiles, JpegIsCloseToWhatWasWritten) {
  for (const int channels : {1, 3}) {
    const fs::path path = scratch.write("jpeg.tif", jpeg_tiles(channels, channels == 3 ? 6 : 1, scratch));
    const auto picture = open_large_picture(path, all_channels());
    ASSERT_EQ(picture->shape(), (Shape{300, 200, channels}));
    std::vector<std::uint8_t> pixels(static_cast<std::size_t>(300 * 200 * channels));
    picture->read(0, 0, View(pixels.data(), Type::u8, picture->shape()));
    int most = 0;
    for (std::int64_t i = 0; i < std::ssize(pixels); ++i)
      most = std::max(most, std::abs(pixels[static_cast<std::size_t>(i)] -
                                     smooth_at(i / channels % 300, i / channels / 300, i % channels)));
    EXPECT_LT(most, 12) << channels;
    EXPECT_GT(most, 0) << "a JPEG loses something";
  }
}

TEST_F(Tiles, WhatIsReadWholeIsTheSame) {
  // Lossy, sub-sampled, a palette, few bits, half floats: as read_picture has them.
  scratch.write("jpeg.tif", jpeg_tiles(3, 6, scratch));
  scratch.write("grey.tif", jpeg_tiles(1, 1, scratch));
  write_pages(scratch / "strips.tif", {{{300, 200, 3}, Type::u8, "jpeg", 0, 0, 16}});
  write_pages(scratch / "tiles.exr", {{{300, 200, 3}, Type::f16, "zip", 64, 32}});
  write_pages(scratch / "lines.exr", {{{300, 200, 4}, Type::f32, "piz"}});
  Tiff palette{.width = 100, .height = 70, .photometric = 3, .tile = 16};
  for (int i = 0; i < 3 * 256; ++i) palette.colour_map += test::little(static_cast<unsigned>(i * 77 % 65536), 2);
  std::string pixels(7000, '\0');
  for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<char>(i * i % 251);
  scratch.write("palette.tif", tiff(palette, pixels));
  unsigned seed = 100;
  for (const char* name : {"jpeg.tif", "grey.tif", "strips.tif", "tiles.exr", "lines.exr", "palette.tif"})
    for (const ReadOptions& options : {ReadOptions{}, all_channels()}) {
      SCOPED_TRACE(name);
      const Picture whole = read_picture(scratch / name, options);
      const auto picture = open_large_picture(scratch / name, options);
      ASSERT_EQ(picture->shape(), whole.pixels.shape());
      EXPECT_EQ(picture->type(), whole.pixels.type());
      EXPECT_EQ(picture->notes(), whole.notes);
      const std::int64_t channels = whole.pixels.shape().channels,
                         size = static_cast<std::int64_t>(size_of(picture->type()));
      const auto is = [&](std::int64_t x, std::int64_t y, std::int64_t c) {
        return test::sample_of(whole.pixels.type(),
                               static_cast<const char*>(whole.pixels.view().row(y)) + (x * channels + c) * size);
      };
      EXPECT_EQ(blocks_fault(*picture, is, seed++, 20), "");
    }
}

TEST_F(Tiles, LevelsArePages) {
  const fs::path path = scratch / "pages.tif";
  write_pages(path,
              {{.shape = {100, 70}, .tile_width = 16, .tile_height = 16}, {.shape = {50, 35}}, {.shape = {25, 17, 3}}});
  EXPECT_EQ(open_large_picture(path)->notes(),
            std::vector<std::string>{"the file holds more pictures; the first was read"});
  ReadOptions options;
  options.level = 1;
  const auto second = open_large_picture(path, options);
  EXPECT_EQ(second->shape(), (Shape{50, 35}));
  EXPECT_EQ(blocks_fault(*second, value_at, 7), "");
  options.level = 2;
  EXPECT_EQ(blocks_fault(*open_large_picture(path, options), luma_at, 8), "");
  for (const int level : {3, 1000000, -1}) {
    options.level = level;
    expect_sentence<InvalidArgument>(path, "level " + std::to_string(level) + " does not exist",
                                     [&] { open_large_picture(path, options); });
  }
}

// ---- levels in sub-IFDs

std::uint8_t pixel_of_level(int level, std::int64_t x, std::int64_t y) {
  return static_cast<std::uint8_t>(7 * x + 13 * y + 31 * level);
}
test::SampleAt level_at(int level) {
  return [level](std::int64_t x, std::int64_t y, std::int64_t) {
    return static_cast<double>(pixel_of_level(level, x, y));
  };
}
std::string pixels_of_level(int level, const Tiff& t) {
  std::string pixels;
  for (std::uint32_t y = 0; y < t.height; ++y)
    for (std::uint32_t x = 0; x < t.width; ++x) pixels += static_cast<char>(pixel_of_level(level, x, y));
  return pixels;
}
/// Of 100x70 pixels and `below` levels of half the size each.
std::string ome_tiff(int below, bool bigtiff, std::uint32_t tile) {
  std::vector<Tiff> levels;
  std::vector<std::string> pixels;
  for (int k = 0; k <= below; ++k) {
    levels.push_back({.width = 100u >> k, .height = 70u >> k, .tile = tile, .rows_per_strip = 9, .bigtiff = bigtiff});
    pixels.push_back(pixels_of_level(k, levels.back()));
  }
  return test::with_levels(levels[0], pixels[0], {levels.begin() + 1, levels.end()},
                           {pixels.begin() + 1, pixels.end()});
}
ReadOptions of_level(int level) {
  ReadOptions options;
  options.level = level;
  options.threads = 2;
  options.memory_limit = 64 << 20;
  return options;
}

TEST_F(Tiles, LevelsInSubIfds) {
  for (const bool bigtiff : {false, true})
    for (const std::uint32_t tile : {0u, 16u, 32u})
      for (const int below : {1, 2, 4}) {
        SCOPED_TRACE((bigtiff ? "BigTIFF, tile " : "tile ") + std::to_string(tile) + ", levels " +
                     std::to_string(below));
        const fs::path path = scratch.write("levels.ome.tif", ome_tiff(below, bigtiff, tile));
        for (int level = 0; level <= below; ++level) {
          const auto picture = open_large_picture(path, of_level(level));
          EXPECT_EQ(picture->shape(), (Shape{100 >> level, 70 >> level}));
          EXPECT_EQ(picture->notes(), std::vector<std::string>());
          EXPECT_EQ(blocks_fault(*picture, level_at(level), 7, 20), "") << level;
          EXPECT_NE(block_fault(*picture, level_at(level + 1), 0, 0, 6, 4), "") << "the check can fail";
        }
        for (const int level : {below + 1, 1000000})
          expect_sentence<InvalidArgument>(path,
                                           "level " + std::to_string(level) + " does not exist: the first page has " +
                                               std::to_string(below) + " below it",
                                           [&] { open_large_picture(path, of_level(level)); });
      }
}

TEST_F(Tiles, LevelsInSubIfdsOfBigEndianFiles) {
  const auto page = [](std::uint32_t width, std::uint32_t height, std::size_t pixels_at, std::uint32_t sub_ifd) {
    std::string entries;
    int count = 0;
    const auto entry = [&](int tag, int type, std::uint32_t value) {
      entries += test::big(static_cast<std::uint64_t>(tag), 2) + test::big(static_cast<std::uint64_t>(type), 2) +
                 test::big(1, 4) + (type == 3 ? test::big(value, 2) + test::big(0, 2) : test::big(value, 4));
      ++count;
    };
    entry(256, 4, width), entry(257, 4, height), entry(258, 3, 8), entry(259, 3, 1), entry(262, 3, 1);
    entry(273, 4, static_cast<std::uint32_t>(pixels_at)), entry(277, 3, 1), entry(278, 4, height);
    entry(279, 4, width * height);
    if (sub_ifd) entry(330, 4, sub_ifd);  // LONG, as older writers have it
    return test::big(static_cast<std::uint64_t>(count), 2) + entries + test::big(0, 4);
  };
  const Tiff large{.width = 6, .height = 4}, small{.width = 3, .height = 2};
  const std::string pixels = pixels_of_level(0, large) + pixels_of_level(1, small);
  const std::size_t first = 8 + pixels.size(), second = first + page(6, 4, 8, 1).size();
  const fs::path path =
      scratch.write("big.tif", std::string("MM\0\x2a", 4) + test::big(first, 4) + pixels +
                                   page(6, 4, 8, static_cast<std::uint32_t>(second)) + page(3, 2, 8 + 24, 0));
  for (int level = 0; level < 2; ++level) {
    const auto picture = open_large_picture(path, of_level(level));
    EXPECT_EQ(picture->shape(), (Shape{6 >> level, 4 >> level}));
    EXPECT_EQ(block_fault(*picture, level_at(level), 0, 0, 6 >> level, 4 >> level), "");
  }
}

TEST_F(Tiles, TruncatedOrDamagedLevelsAreRefused) {
  for (const bool bigtiff : {false, true}) {
    const std::string whole = ome_tiff(2, bigtiff, 16);
    int failed = 0, right = 0;
    const auto look = [&](const std::string& bytes, int level, bool flipped) {
      const fs::path path = scratch.write("cut.tif", bytes);
      try {
        const auto picture = open_large_picture(path, of_level(level));
        const Shape shape = picture->shape();
        if (flipped && (shape.channels != 1 || picture->type() != Type::u8 || shape.width > 4000)) return;
        std::vector<std::uint8_t> pixels(
            static_cast<std::size_t>(shape.width * std::min<std::int64_t>(shape.height, 70)));
        picture->read(0, 0, View(pixels.data(), shape.width, std::min<std::int64_t>(shape.height, 70)));
        if (!flipped) {
          EXPECT_EQ(block_fault(*picture, level_at(level), 0, 0, shape.width, shape.height), "") << bytes.size();
        }
        ++right;
      } catch (const Error& error) {
        ++failed;
        EXPECT_TRUE(std::string(error.what()).starts_with(path.string() + ": ")) << error.what();
        EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
      }
    };
    for (std::size_t length = 0; length < whole.size(); length += 1 + whole.size() / 40)
      look(whole.substr(0, length), 2, false);
    EXPECT_EQ(right, 0) << "the last level is whole in a part of the file";
    for (std::size_t length = 0; length < whole.size(); length += 1 + whole.size() / 40)
      look(whole.substr(0, length), 1, false);
    EXPECT_GT(right, 0) << "level 1 does not need the last one";
    EXPECT_GT(failed, 40);
    std::mt19937 random(78);
    for (int i = 0; i < 70; ++i) {
      std::string bytes = whole;
      const std::size_t at = i % 2 ? random() % 16 : bytes.size() / 2 + random() % (bytes.size() / 2);
      bytes[at] = static_cast<char>(bytes[at] ^ 1 << random() % 8);
      look(bytes, 1 + i % 2, true);
    }
  }
  // Places and lists that lie nowhere.
  const Tiff page{.width = 20, .height = 10};
  const auto words = [&](std::vector<std::uint64_t> places) {
    Tiff t = page;
    t.sub_ifds = std::move(places);
    const fs::path path = scratch.write("a.tif", tiff(t, pixels_of_level(0, t)));
    try {
      open_large_picture(path, of_level(1));
    } catch (const IoError& error) {
      return std::string(error.what());
    }
    return std::string("nothing was refused");
  };
  for (const std::uint64_t place : {0u, 7u, 100000u, 0xFFFFFFFFu}) {
    EXPECT_NE(words({place}).find("level 1 would begin at byte " + std::to_string(place)), std::string::npos) << place;
    EXPECT_NE(words({place, 8, 8}).find("level 1 would begin at byte " + std::to_string(place)), std::string::npos);
  }
  EXPECT_NE(words({9}).find("is damaged"), std::string::npos);  // in the middle of the pixels
}

TEST_F(Tiles, ATileIsDecodedOnce) {
  // 10 x 8 tiles.
  const fs::path path = scratch / "a.tif";
  write_pages(path, {{.shape = {630, 500, 3}, .compression = "zip", .tile_width = 64, .tile_height = 64}});
  const auto rows_of = [&](LargePicture& picture, std::int64_t height) {
    std::vector<std::uint8_t> pixels(static_cast<std::size_t>(630 * height));
    for (std::int64_t y = 0; y < 500; y += height)
      picture.read(0, y, View(pixels.data(), 630, std::min<std::int64_t>(height, 500 - y)));
    return picture.tiles_decoded();
  };
  for (const std::int64_t height : {1, 5, 64, 77}) {
    SCOPED_TRACE(height);
    EXPECT_EQ(rows_of(*open_large_picture(path), height), 80u);
  }
  // A row of tiles is 630 x 64 bytes; with it there is a worker's 16 KiB, which libtiff doubles.
  ReadOptions options;
  options.threads = 1;
  options.memory_limit = 120 << 10;
  const auto frugal = open_large_picture(path, options);
  EXPECT_LE(frugal->memory(), options.memory_limit);
  EXPECT_EQ(rows_of(*frugal, 5), 80u);
  options.memory_limit = 60 << 10;  // less than a row of tiles: right, if slow
  const auto tight = open_large_picture(path, options);
  EXPECT_LE(tight->memory(), options.memory_limit);
  EXPECT_EQ(blocks_fault(*tight, luma_at, 3, 20), "");
  EXPECT_GT(rows_of(*tight, 5), 160u) << "the count of decoded tiles can differ";
  options.memory_limit = 30 << 10;
  expect_sentence<OutOfMemory>(path, "more than the 30720 bytes that were allowed",
                               [&] { open_large_picture(path, options); });
}

TEST_F(Tiles, ThreadsGiveTheSame) {
  const fs::path path = scratch / "a.tif";
  write_pages(path,
              {{.shape = {630, 500, 3}, .type = Type::u16, .compression = "lzw", .tile_width = 48, .tile_height = 32}});
  for (const int threads : {1, 2, 7, 100}) {
    ReadOptions options = all_channels();
    options.threads = threads;
    EXPECT_EQ(blocks_fault(*open_large_picture(path, options), value_at, 5, 15), "") << threads;
  }
}

TEST_F(Tiles, TruncatedAnywhereIsAnErrorOrRight) {
  const std::vector<Written> cases = {{.compression = "zip", .tile_width = 16, .tile_height = 16},
                                      {.compression = "none", .tile_width = 32, .tile_height = 16, .big = true},
                                      {.compression = "lzw", .rows_per_strip = 5, .big = true},
                                      {.compression = "none", .rows_per_strip = 70}};
  for (const Written& w : cases) {
    SCOPED_TRACE(text_of(w));
    write_pages(scratch / "a.tif", {w});
    const std::string whole = bytes_in(scratch / "a.tif");
    int failed = 0, lengths = 0;
    for (std::size_t length = 0; length < whole.size(); length += 1 + whole.size() / 97) {
      const fs::path cut = scratch.write("cut.tif", whole.substr(0, length));
      ++lengths;
      try {
        const auto picture = open_large_picture(cut);
        // What can be read is right.
        EXPECT_EQ(block_fault(*picture, value_at, 0, 0, picture->shape().width, picture->shape().height), "");
      } catch (const IoError& error) {
        ++failed;
        EXPECT_TRUE(std::string(error.what()).starts_with(cut.string() + ": ")) << error.what();
        EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
      }
    }
    EXPECT_EQ(failed, lengths);
  }
  // With its directory in front, as other writers have it, a file opens and ends in the middle of its tiles.
  Tiff t{.width = 64, .height = 64, .tile = 16, .bigtiff = true};
  const std::string pixels(4096, 'p');
  std::string late = tiff(t, pixels);
  const std::string start = late.substr(0, 16);
  const std::size_t directory =
      static_cast<unsigned char>(start[8]) | static_cast<std::size_t>(static_cast<unsigned char>(start[9])) << 8;
  // The eighth tile now lies behind the end.
  const std::size_t offsets = late.rfind(test::little(16 + 7 * 256, 8), directory);
  ASSERT_NE(offsets, std::string::npos);
  late.replace(offsets, 8, test::little(late.size() - 100, 8));
  const fs::path path = scratch.write("late.tif", late);
  const auto picture = open_large_picture(path);
  EXPECT_EQ(block_fault(
                *picture, [](auto, auto, auto) { return 'p'; }, 0, 0, 64, 16),
            "");
  std::vector<std::uint8_t> block(256);
  expect_sentence<IoError>(path, "is damaged or truncated in columns 48 to 63 of rows 16 to 31",
                           [&] { picture->read(48, 16, View(block.data(), 16, 16)); });
  EXPECT_EQ(block_fault(
                *picture, [](auto, auto, auto) { return 'p'; }, 0, 32, 64, 32),
            "")
      << "it can go on after damage";
}

TEST_F(Tiles, FlippedBytesNeverCrash) {
  write_pages(scratch / "a.tif", {{.compression = "zip", .tile_width = 16, .tile_height = 16, .big = true}});
  const std::string whole = bytes_in(scratch / "a.tif");
  std::mt19937 random(77);
  for (int i = 0; i < 150; ++i) {
    std::string flipped = whole;
    // Half of them in the directory, which is at the end.
    const std::size_t at =
        i % 2 ? random() % whole.size() : whole.size() - 1 - random() % std::min<std::size_t>(whole.size(), 400);
    flipped[at] = static_cast<char>(flipped[at] ^ 1 << random() % 8);
    const fs::path path = scratch.write("flipped.tif", flipped);
    ReadOptions options;
    options.memory_limit = 64 << 20;
    try {
      const auto picture = open_large_picture(path, options);
      std::vector<char> block(static_cast<std::size_t>(16 * 16 * picture->shape().channels) * size_of(picture->type()));
      Shape shape = picture->shape();
      for (std::int64_t y = 0; y < std::min<std::int64_t>(shape.height, 70); y += 16) {
        Shape part = shape;
        part.width = std::min<std::int64_t>(16, shape.width),
        part.height = std::min<std::int64_t>(16, shape.height - y);
        picture->read(0, y, View(block.data(), picture->type(), part));
      }
    } catch (const Error& error) {
      EXPECT_TRUE(std::string(error.what()).starts_with(path.string() + ": ")) << error.what() << " byte " << at;
    }
  }
}

TEST_F(Tiles, HostileSizesAreRefused) {
  Tiff t{.width = 0x7fffffff, .height = 0x7fffffff, .tile = 16};
  // A tile's bytes, as the helper would write one for each of 2^54 tiles, are put into a header for one.
  Tiff one{.width = 16, .height = 16, .tile = 16};
  std::string file = tiff(one, std::string(256, 'x'));
  const auto set = [&](int tag, std::uint32_t value) {
    const std::size_t at =
        file.rfind(test::little(static_cast<unsigned>(tag), 2) + test::little(4, 2) + test::little(1, 4));
    ASSERT_NE(at, std::string::npos) << tag;
    file.replace(at + 8, 4, test::little(value, 4));
  };
  set(256, t.width);
  set(257, t.height);
  const fs::path many = scratch.write("many.tif", file);
  expect_sentence<IoError>(many, "", [&] { open_large_picture(many); });
  set(322, 0x7ffffff0);
  set(323, 0x7ffffff0);
  const fs::path huge = scratch.write("huge.tif", file);
  try {
    open_large_picture(huge);
    ADD_FAILURE() << "opened";
  } catch (const Error& error) {  // too large for the file or for memory
    EXPECT_TRUE(std::string(error.what()).starts_with(huge.string() + ": ")) << error.what();
  }
}

}  // namespace
}  // namespace areal::media
