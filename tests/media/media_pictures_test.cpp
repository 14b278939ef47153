// Pictures through the plug-in: every format and kind of pixel, colour and alpha, and bad input.
#include <sys/resource.h>
#include <areal/error.hpp>
#include <cstring>
#include <random>
#include "media/media.hpp"
#include "picture_files.hpp"
#include "scratch.hpp"

namespace areal::media {
namespace {

using test::bytes_in;
using test::expect_sentence;
using test::png;
using test::png_chunk;
using test::Scratch;
using test::Tiff;
using test::tiff;
using Notes = std::vector<std::string>;
const fs::path shipped = fs::path(AREAL_SOURCE_DIR) / "data";

std::string random_bytes(std::size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::string out(n, '\0');
  for (char& c : out) c = static_cast<char>(random() & 255);
  return out;
}
std::string pixels_of(const Picture& p) { return {static_cast<const char*>(p.pixels.data()), p.pixels.bytes()}; }
Picture read_all(const fs::path& path, bool alpha = false) {
  ReadOptions options;
  options.colour = Colour::all;
  options.keep_alpha = alpha;
  return read_picture(path, options);
}
// Luma in a different form from the reader's: floor of the exact tenths, as doubles that hold them exactly.
std::string luma_of(const std::string& rgb, std::size_t step = 3) {
  std::string out;
  for (std::size_t i = 0; i < rgb.size(); i += step) {
    const auto at = [&](std::size_t c) { return double(static_cast<unsigned char>(rgb[i + c])); };
    out += static_cast<char>(static_cast<int>((at(0) * 299 + at(1) * 587 + at(2) * 114) / 1000 + 0.5));
  }
  return out;
}

// Readers may not print anything.
class Pictures : public ::testing::Test {
 protected:
  void SetUp() override { testing::internal::CaptureStderr(); }
  void TearDown() override { EXPECT_EQ(testing::internal::GetCapturedStderr(), ""); }
  Scratch scratch;
};

TEST_F(Pictures, PngOfEveryColourType) {
  const std::string rgb = random_bytes(7 * 5 * 3, 1), rgba = random_bytes(7 * 5 * 4, 2), grey = random_bytes(35, 3);
  const fs::path colour = scratch.write("a.png", png(7, 5, 8, 2, rgb, 21));
  EXPECT_EQ(read_all(colour).pixels.shape(), (Shape{7, 5, 3}));
  EXPECT_EQ(pixels_of(read_all(colour)), rgb);
  EXPECT_EQ(read_picture(colour).pixels.shape(), (Shape{7, 5}));
  EXPECT_EQ(pixels_of(read_picture(colour)), luma_of(rgb));
  std::string flipped = luma_of(rgb);
  flipped[17] ^= 1;  // the comparison can fail
  EXPECT_NE(pixels_of(read_picture(colour)), flipped);

  const fs::path with_alpha = scratch.write("b.png", png(7, 5, 8, 6, rgba, 28));
  EXPECT_EQ(pixels_of(read_picture(with_alpha)), luma_of(rgba, 4)) << "colours are not multiplied by alpha";
  EXPECT_EQ(read_picture(with_alpha).notes, Notes{"alpha channel left out"});
  EXPECT_EQ(read_all(with_alpha).pixels.shape().channels, 3);
  EXPECT_EQ(read_all(with_alpha).notes, Notes{"alpha channel left out"});
  EXPECT_EQ(pixels_of(read_all(with_alpha, true)), rgba);
  EXPECT_TRUE(read_all(with_alpha, true).notes.empty());

  EXPECT_EQ(pixels_of(read_picture(scratch.write("c.png", png(7, 5, 8, 0, grey, 7)))), grey);
  std::string grey_alpha;
  for (const char c : grey) grey_alpha += {c, 'A'};
  const fs::path ga = scratch.write("d.png", png(7, 5, 8, 4, grey_alpha, 14));
  EXPECT_EQ(pixels_of(read_picture(ga)), grey);
  EXPECT_EQ(read_picture(ga).notes, Notes{"alpha channel left out"});

  // A palette of three colours; and with a transparent one.
  const std::string palette = "rgbRGB\x10\x20\x30", indices("\0\1\2\1\0\2", 6);
  const fs::path indexed = scratch.write("e.png", png(3, 2, 8, 3, indices, 3, png_chunk("PLTE", palette)));
  const std::string expanded = "rgbRGB\x10\x20\x30RGBrgb\x10\x20\x30";
  EXPECT_EQ(pixels_of(read_all(indexed)), expanded);
  EXPECT_EQ(pixels_of(read_picture(indexed)), luma_of(expanded));
  const fs::path clear =
      scratch.write("f.png", png(3, 2, 8, 3, indices, 3, png_chunk("PLTE", palette) + png_chunk("tRNS", "\x7f")));
  EXPECT_EQ(read_picture(clear).notes, Notes{"alpha channel left out"});
  EXPECT_EQ(read_all(clear, true).pixels.shape().channels, 4);

  // One bit: black and white, as the notes say. 16 bits: big-endian in the file.
  const fs::path bit = scratch.write("g.png", png(9, 2, 1, 0, std::string("\xaa\x80\x55\x00", 4), 2));
  EXPECT_EQ(pixels_of(read_picture(bit)), std::string("\xff\0\xff\0\xff\0\xff\0\xff\0\xff\0\xff\0\xff\0\xff\0", 18));
  EXPECT_EQ(read_picture(bit).notes, Notes{"1-bit samples scaled to 8u"});
  const Picture deep = read_picture(scratch.write("h.png", png(2, 1, 16, 0, std::string("\x01\x02\xff\x00", 4), 4)));
  ASSERT_EQ(deep.pixels.type(), Type::u16);
  EXPECT_EQ(deep.pixels.as<std::uint16_t>()[0], 0x0102);
  EXPECT_EQ(deep.pixels.as<std::uint16_t>()[1], 0xff00);
}

TEST_F(Pictures, OneChannelByNumber) {
  const std::string rgba = random_bytes(7 * 5 * 4, 4);
  const fs::path path = scratch.write("a.png", png(7, 5, 8, 6, rgba, 28));
  ReadOptions options;
  options.colour = Colour::channel;
  for (options.channel = 0; options.channel < 4; ++options.channel) {  // 3 is alpha, by its number
    const std::string got = pixels_of(read_picture(path, options));
    for (std::size_t i = 0; i < 35; ++i) ASSERT_EQ(got[i], rgba[4 * i + options.channel]);
  }
  for (const int none : {-1, 4}) {
    options.channel = none;
    expect_sentence<InvalidArgument>(path, "the picture has 4 channels (R, G, B, A), counted from 0",
                                     [&] { read_picture(path, options); });
  }
}

TEST_F(Pictures, TiffStripedAndTiledClassicAndBig) {
  const struct {
    int bits, samples, format;
    Type type;
  } kinds[] = {{8, 1, 1, Type::u8},   {8, 3, 1, Type::u8},   {16, 1, 1, Type::u16},
               {16, 3, 1, Type::u16}, {32, 1, 3, Type::f32}, {32, 3, 3, Type::f32},
               {64, 1, 3, Type::f64}, {32, 1, 1, Type::u32}, {32, 1, 2, Type::s32}};
  for (const auto& kind : kinds)
    for (const std::uint32_t tile : {0u, 16u})
      for (const std::uint32_t rows : {0u, 1u, 7u})
        for (const auto& [large, height] : {std::pair{false, 29}, {true, 29}, {false, 1}}) {
          if (tile && rows) continue;
          Tiff t;
          t.width = 37;
          t.height = static_cast<std::uint32_t>(height);
          t.bits = kind.bits;
          t.samples = kind.samples;
          t.photometric = kind.samples == 3 ? 2 : 1;
          t.sample_format = kind.format;
          t.tile = tile;
          t.rows_per_strip = rows;
          t.bigtiff = large;
          SCOPED_TRACE(std::string(name_of(kind.type)) + " x" + std::to_string(kind.samples) + " tile " +
                       std::to_string(tile) + " rows " + std::to_string(rows) + (large ? " big" : "") + " height " +
                       std::to_string(height));
          const std::string pixels =
              random_bytes(37u * static_cast<std::size_t>(height * kind.bits / 8 * kind.samples), 5);
          const fs::path path = scratch.write("a.tif", tiff(t, pixels));
          if (tile && kind.bits == 64) {  // read wrongly by OpenImageIO, so refused
            expect_sentence<IoError>(path, "is a tiled TIFF of 64f", [&] { read_picture(path); });
            continue;
          }
          if (height == 1 && kind.bits == 64) {
            expect_sentence<IoError>(path, "is a TIFF of 64f with one row", [&] { read_picture(path); });
            continue;
          }
          const Picture p = read_all(path);
          EXPECT_EQ(p.pixels.shape(), (Shape{37, height, kind.samples}));
          ASSERT_EQ(p.pixels.type(), kind.type);
          EXPECT_TRUE(pixels_of(p) == pixels);
        }
}

// Pictures are read in bands of 8 MiB, here of 1024 rows.
TEST_F(Pictures, TheLastBandOfDoublesMayBeOneRow) {
  for (const std::uint32_t rows : {1u, 10u, 1024u}) {
    Tiff t;
    t.width = 1024, t.height = 1025, t.bits = 64, t.sample_format = 3, t.rows_per_strip = rows;
    const std::string pixels = random_bytes(std::size_t{1024} * 1025 * 8, 9);
    EXPECT_TRUE(pixels_of(read_all(scratch.write("a.tif", tiff(t, pixels)))) == pixels) << rows;
  }
}

TEST_F(Pictures, TiffAlphaPaletteAndCmyk) {
  Tiff t;
  t.width = 4, t.height = 3, t.samples = 4, t.photometric = 2, t.extra_samples = 2;
  const std::string rgba = random_bytes(48, 6);
  const fs::path alpha = scratch.write("a.tif", tiff(t, rgba));
  EXPECT_EQ(pixels_of(read_picture(alpha)), luma_of(rgba, 4));
  EXPECT_EQ(read_picture(alpha).notes, Notes{"alpha channel left out"});
  EXPECT_EQ(pixels_of(read_all(alpha, true)), rgba);

  Tiff p;
  p.width = 4, p.height = 3, p.photometric = 3;
  for (int c = 0; c < 3; ++c)
    for (int i = 0; i < 256; ++i)
      p.colour_map += test::little(static_cast<std::uint64_t>((i * (c + 3) & 255) * 257), 2);
  const std::string indices = random_bytes(12, 7);
  std::string expanded;
  for (const char i : indices)
    for (int c = 0; c < 3; ++c) expanded += static_cast<char>(static_cast<unsigned char>(i) * (c + 3));
  EXPECT_EQ(pixels_of(read_all(scratch.write("p.tif", tiff(p, indices)))), expanded);

  Tiff k;
  k.width = 2, k.height = 1, k.samples = 4, k.photometric = 5;
  // Full cyan has no red; no ink is white.
  const Picture cmyk = read_all(scratch.write("k.tif", tiff(k, std::string("\xff\0\0\0\0\0\0\0", 8))));
  EXPECT_EQ(cmyk.pixels.shape(), (Shape{2, 1, 3}));
  EXPECT_EQ(pixels_of(cmyk), std::string("\0\xff\xff\xff\xff\xff", 6));
  EXPECT_EQ(cmyk.notes, Notes{"CMYK converted to RGB without a colour profile"});
}

TEST_F(Pictures, CmykJpegIsConvertedAndSaysSo) {
  // Made by Pillow: quarters with C 200 / M 150 / Y 100 inks and K 20; R is (255-C)(255-K)/255 and so on.
  const Picture p = read_all(fs::path(AREAL_SOURCE_DIR) / "tests/files/cmyk.jpg");
  EXPECT_EQ(p.notes, Notes{"CMYK converted to RGB without a colour profile"});
  ASSERT_EQ(p.pixels.shape(), (Shape{16, 16, 3}));
  const auto expect_near = [&](int x, int y, int r, int g, int b) {
    const std::uint8_t* at = p.pixels.as<std::uint8_t>() + (y * 16 + x) * 3;
    EXPECT_NEAR(at[0], r, 6);
    EXPECT_NEAR(at[1], g, 6);
    EXPECT_NEAR(at[2], b, 6);
  };
  expect_near(3, 3, 51, 235, 235);
  expect_near(12, 3, 51, 97, 235);
  expect_near(3, 12, 235, 235, 143);
  expect_near(12, 12, 235, 97, 235);
}

TEST_F(Pictures, PnmOfEveryKind) {
  EXPECT_EQ(pixels_of(read_picture(scratch.write("a.pgm", "P5 3 2 255\nabcdef"))), "abcdef");
  EXPECT_EQ(pixels_of(read_all(scratch.write("a.ppm", "P6\n# c\n1 2\n255\nabcdef"))), "abcdef");
  EXPECT_EQ(pixels_of(read_picture(scratch.write("b.pgm", "P2 3 1 255 97 98 99\n"))), "abc");
  const Picture p = read_picture(scratch.write("c.pgm", std::string("P5 2 1 65535\n\x01\x02\xff\x00", 17)));
  ASSERT_EQ(p.pixels.type(), Type::u16);
  EXPECT_EQ(p.pixels.as<std::uint16_t>()[0], 0x0102);
  EXPECT_EQ(p.pixels.as<std::uint16_t>()[1], 0xff00);
  const std::string black_first("\0\xff\0\xff\0\xff\0\xff\0", 9);
  EXPECT_EQ(pixels_of(read_picture(scratch.write("d.pbm", "P4 9 1\n\xaa\x80"))), black_first);
  EXPECT_EQ(pixels_of(read_picture(scratch.write("e.pbm", "P1\n9 1\n10101 0101"))), black_first);
  const Picture scaled = read_picture(scratch.write("f.pgm", "P2 3 1 100 # most\n0 50 100"));
  EXPECT_EQ(pixels_of(scaled), std::string("\0\x80\xff", 3));
  EXPECT_EQ(scaled.notes, Notes{"samples of 0 to 100 scaled to 8u"});
  for (const char* bad :
       {"P2 3 1 100 0 50", "P2 3 1 100 0 50 101", "P5 3 1 70000\nabc", "P5 3 1 0\nabc", "P2 3 1 9 1 x 2"}) {
    const fs::path path = scratch.write("g.pgm", bad);
    expect_sentence<IoError>(path, "is damaged", [&] { read_picture(path); });
  }
}

TEST_F(Pictures, WhatIsWrittenComesBack) {
  const struct {
    const char* name;
    Type type;
    std::int64_t channels;
  } rows[] = {{"a.png", Type::u8, 1},  {"a.png", Type::u8, 3},  {"a.png", Type::u8, 4},  {"a.png", Type::u16, 1},
              {"a.png", Type::u16, 3}, {"a.tif", Type::u8, 1},  {"a.tif", Type::u16, 3}, {"a.tif", Type::f32, 4},
              {"a.TIFF", Type::u8, 4}, {"a.exr", Type::f32, 1}, {"a.exr", Type::f32, 3}, {"a.exr", Type::f16, 3},
              {"a.exr", Type::f32, 4}, {"a.pgm", Type::u8, 1},  {"a.pgm", Type::u16, 1}, {"a.ppm", Type::u8, 3},
              {"a.ppm", Type::u16, 3}};
  for (const auto& row : rows)
    for (const Layout layout : {Layout::interleaved, Layout::planar}) {
      SCOPED_TRACE(std::string(row.name) + " " + std::string(name_of(row.type)) + " x" + std::to_string(row.channels));
      Array picture(Shape{23, 11, row.channels, 1, layout}, row.type);
      const std::string noise = random_bytes(picture.bytes(), 8);
      std::memcpy(picture.data(), noise.data(), noise.size());
      // Finite values: a NaN's payload need not survive a picture format.
      if (is_float(row.type))
        for (std::size_t i = 0; i < noise.size() / size_of(row.type); ++i)
          row.type == Type::f32 ? void(picture.as<float>()[i] = static_cast<float>(i) * 0.37f - 9)
                                : void(picture.as<Half>()[i] = to_half(static_cast<float>(i) * 0.25f));
      write_picture(scratch / row.name, picture.view());
      const Picture back = read_all(scratch / row.name, true);
      ASSERT_EQ(back.pixels.type(), row.type);
      ASSERT_EQ(back.pixels.shape(), (Shape{23, 11, row.channels}));
      const auto size = static_cast<std::int64_t>(size_of(row.type));
      for (std::int64_t y = 0; y < 11; ++y)
        for (std::int64_t x = 0; x < 23; ++x)
          for (std::int64_t c = 0; c < row.channels; ++c) {
            const bool planar = layout == Layout::planar;
            const char* was = static_cast<const char*>(picture.view().row(y, planar ? c : 0)) +
                              (planar ? x : x * row.channels + c) * size;
            const char* is = static_cast<const char*>(back.pixels.data()) + ((y * 23 + x) * row.channels + c) * size;
            ASSERT_EQ(std::memcmp(was, is, static_cast<std::size_t>(size)), 0) << x << "," << y << "," << c;
          }
    }
  // A JPEG is close, not equal.
  const Picture home = read_all(shipped / "home.jpg");
  write_picture(scratch / "h.jpg", home.pixels.view());
  const Picture again = read_all(scratch / "h.jpg");
  ASSERT_EQ(again.pixels.shape(), home.pixels.shape());
  double off = 0;
  for (std::size_t i = 0; i < home.pixels.bytes(); ++i)
    off += std::abs(home.pixels.as<std::uint8_t>()[i] - again.pixels.as<std::uint8_t>()[i]);
  EXPECT_LT(off / static_cast<double>(home.pixels.bytes()), 4);
}

TEST_F(Pictures, RefusesToWriteWhatAFormatCannotHold) {
  const Array floats(Shape{4, 4}, Type::f32), two(Shape{4, 4, 2}, Type::u8), none(Shape{0, 4}, Type::u8);
  expect_sentence<InvalidArgument>(scratch / "a.png", "holds 8u or 16u, not 32f",
                                   [&] { write_picture(scratch / "a.png", floats.view()); });
  expect_sentence<InvalidArgument>(scratch / "a.png", "1, 3 or 4 channels, not 2",
                                   [&] { write_picture(scratch / "a.png", two.view()); });
  expect_sentence<InvalidArgument>(scratch / "a.png", "cannot be written",
                                   [&] { write_picture(scratch / "a.png", none.view()); });
  expect_sentence<InvalidArgument>(scratch / "a.gif", "must end in .png",
                                   [&] { write_picture(scratch / "a.gif", floats.view()); });
  for (const Shape& shape : {Shape{1'000'001, 1}, Shape{1, 1'000'001}})
    expect_sentence<InvalidArgument>(scratch / "a.png", "a PNG is at most 1000000x1000000",
                                     [&] { write_picture(scratch / "a.png", Array(shape, Type::u8).view()); });
  EXPECT_TRUE(scratch.names().empty());
}

TEST_F(Pictures, AFullDiskIsSaidAndLeavesNothing) {
  fs::create_symlink("/dev/full", scratch / "full.png");
  for (const char* name : {"full.png", "full.jpg", "full.tif", "full.ppm", "full.exr"}) {
    SCOPED_TRACE(name);
    if (!fs::is_symlink(scratch / name)) fs::create_symlink("/dev/full", scratch / name);
    const Array bytes(Shape{200, 200, 3}, Type::u8), floats(Shape{200, 200, 3}, Type::f32);
    std::memset(const_cast<void*>(bytes.data()), 3, bytes.bytes());
    std::memset(const_cast<void*>(floats.data()), 3, floats.bytes());
    const ConstView picture = std::string(name) == "full.exr" ? floats.view() : bytes.view();
    expect_sentence<IoError>(scratch / name, "could not be written (No space left on device)",
                             [&] { write_picture(scratch / name, picture); });
  }
}

TEST_F(Pictures, TheShippedOnesAreRead) {
  const struct {
    const char* name;
    std::int64_t width, height;
  } rows[] = {{"home.jpg", 512, 384},
              {"building.jpg", 868, 600},
              {"aloeR.jpg", 1282, 1110},
              {"sudoku.png", 558, 563},
              {"rubberwhale1.png", 584, 388}};
  for (const auto& row : rows) {
    const Picture p = read_all(shipped / row.name);
    EXPECT_EQ(p.pixels.shape(), (Shape{row.width, row.height, 3})) << row.name;
    EXPECT_EQ(pixels_of(read_picture(shipped / row.name)), luma_of(pixels_of(p))) << row.name;
  }
}

class BadPictures : public Pictures {};

TEST_F(BadPictures, MissingEmptyFolderNotAPicture) {
  expect_sentence<IoError>(scratch / "none.png", "no such file", [&] { read_picture(scratch / "none.png"); });
  expect_sentence<IoError>(scratch.path(), "is a folder", [&] { read_picture(scratch.path()); });
  const auto refused = [&](const char* name, const std::string& bytes, const char* words) {
    const fs::path path = scratch.write(name, bytes);
    expect_sentence<IoError>(path, words, [&] { read_picture(path); });
  };
  refused("a.png", "", "is empty");
  refused("a.png", "x", "is not a picture that areal reads");
  refused("a.png", "hello\nworld\n", "is not a picture that areal reads");
  refused("P5.txt", "P5 is a plan", "is damaged");
  refused("a.jpg", "\xff\xd8\xff", "is truncated");
  refused("a.jpg", "\xff\xd8\xff\xd9", "is damaged");
  refused("a.exr", "\x76\x2f\x31\x01", "is damaged");
  refused("a.tif", std::string("II\x2a\0", 4), "is damaged");
  refused("a.pgm", "P5 0 0 255\n", "declares 0x0");
  refused("a.pgm", "P5 -3 2 255\nabcdef", "is damaged");
  expect_sentence<IoError>("/dev/null", "is not a regular file", [] { read_picture("/dev/null"); });
}

TEST_F(BadPictures, AbsurdSizesAllocateNothing) {
  read_picture(shipped / "home.jpg");  // the plug-in and its libraries are in memory now
  const auto peak = [] {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss >> 10;
  };
  const long before = peak();
  std::vector<fs::path> paths;
  // A PNG with a correct CRC; 2^31 itself is more than the format can express.
  paths.push_back(scratch.write("1.png", png(0x7fffffff, 0x7fffffff, 8, 2, std::string(90, 'x'), 30)));
  paths.push_back(scratch.write("2.png", png(0x80000000, 0x80000000, 8, 2, std::string(90, 'x'), 30)));
  paths.push_back(scratch.write("3.png", png(60000, 60000, 16, 6, std::string(90, 'x'), 30)));
  paths.push_back(scratch.write("4.png", png(0x7fffffff, 1, 8, 0, std::string(90, 'x'), 90)));
  // TIFFs: strips, one long row, tiles; uncompressed, LZW, deflate.
  for (const int compression : {1, 5, 8}) {
    Tiff t;
    t.compression = compression;
    const std::string code = std::to_string(compression);
    t.width = t.height = 0x7fffffff, t.rows_per_strip = 0x7fffffff;
    paths.push_back(scratch.write("s" + code + ".tif", tiff(t, std::string(100, 'x'))));
    t.height = 4;
    paths.push_back(scratch.write("w" + code + ".tif", tiff(t, std::string(100, 'x'))));
    t.width = t.height = 100000;
    paths.push_back(scratch.write("m" + code + ".tif", tiff(t, std::string(100, 'x'))));
  }
  paths.push_back(scratch.write("1.ppm", "P6 2000000000 2000000000 255\nxxxxxxxxx"));
  paths.push_back(scratch.write("2.pgm", "P2 2000000000 2000000000 255\n1 2 3"));
  paths.push_back(scratch.write("3.pgm", "P5 99999999999999999999 2 255\n1 2 3"));
  // JPEGs, one progressive: its decoder would hold 16-bit coefficients of all of it before the first row.
  std::string jpeg = bytes_in(shipped / "home.jpg");
  const std::size_t frame = jpeg.find("\xff\xc0");
  ASSERT_NE(frame, std::string::npos);
  jpeg.replace(frame + 5, 4, "\xff\xdc\xff\xdc");
  paths.push_back(scratch.write("1.jpg", jpeg.substr(0, 4000) + "\xff\xd9"));
  jpeg[frame + 1] = '\xc2';
  paths.push_back(scratch.write("2.jpg", jpeg.substr(0, 4000) + "\xff\xd9"));
  for (const fs::path& path : paths) expect_sentence<IoError>(path, "", [&] { read_picture(path); });
  EXPECT_LT(peak() - before, 100) << "MiB";
}

TEST_F(BadPictures, TheLimitIsHeld) {
  const fs::path path = shipped / "home.jpg";
  ReadOptions options;
  options.memory_limit = 100000;
  expect_sentence<OutOfMemory>(path, "more than the 100000 bytes that were allowed",
                               [&] { read_picture(path, options); });
  options.memory_limit = 16 << 20;
  EXPECT_EQ(read_picture(path, options).pixels.bytes(), 512u * 384u);
}

TEST_F(BadPictures, TruncatedAnywhereIsAnError) {
  const Array noise(Shape{64, 48, 3}, Type::u8), floats(Shape{64, 48}, Type::f32);
  const std::string bytes = random_bytes(noise.bytes(), 9);
  std::memcpy(const_cast<void*>(noise.data()), bytes.data(), bytes.size());
  std::memset(const_cast<void*>(floats.data()), 1, floats.bytes());
  for (const char* name : {"a.png", "a.jpg", "a.tif", "a.ppm", "a.exr"}) {
    const bool exr = std::string(name) == "a.exr";
    write_picture(scratch / name, exr ? floats.view() : noise.view());
    const std::string whole = bytes_in(scratch / name);
    for (const double share : {0.1, 0.3, 0.5, 0.7, 0.9, 0.99}) {
      SCOPED_TRACE(std::string(name) + " cut at " + std::to_string(share));
      const fs::path cut =
          scratch.write("cut" + fs::path(name).extension().string(),
                        whole.substr(0, static_cast<std::size_t>(share * static_cast<double>(whole.size()))));
      expect_sentence<IoError>(cut, "", [&] { read_picture(cut); });
    }
  }
  // A real JPEG, cut, with an end marker put back: the decoder must notice the missing data.
  const std::string jpeg = bytes_in(shipped / "home.jpg");
  const fs::path mended = scratch.write("mended.jpg", jpeg.substr(0, jpeg.size() / 2) + "\xff\xd9");
  expect_sentence<IoError>(mended, "is damaged or truncated", [&] { read_picture(mended); });
  const fs::path trailing = scratch.write("trailing.jpg", jpeg + "what a phone appends");
  EXPECT_EQ(read_picture(trailing).pixels.shape(), (Shape{512, 384}));
}

// A zlib stream of `n` zeros: a literal, and copies of 258 bytes from one byte before, in deflate's fixed codes.
std::string zlib_of_zeros(std::size_t n) {
  std::string out = "\x78\x01";
  int used = 0;
  const auto put = [&](unsigned code, int bits) {  // a Huffman code, its first bit first
    for (int i = bits - 1; i >= 0; --i, used = (used + 1) % 8) {
      if (used == 0) out += '\0';
      out.back() = static_cast<char>(static_cast<unsigned char>(out.back()) | (code >> i & 1) << used);
    }
  };
  put(1, 1), put(2, 2);  // the last block; of fixed codes: 01, the lower bit first
  put(0b00110000, 8);    // a zero
  const std::size_t copies = (n - 1) / 258;
  for (std::size_t i = 0; i < copies; ++i) put(0b11000101, 8), put(0, 5);
  put(0, 7);  // the end of the block
  return out + test::big((1 + 258 * copies) % 65521 << 16 | 1, 4);
}

// 100 texts of 7 MiB each in 5 MB, and 100,000 short ones. None is kept.
TEST_F(BadPictures, TextsOfAPngTakeNoMemory) {
  const std::string text = png_chunk("zTXt", std::string("k\0\0", 3) + zlib_of_zeros(7 << 20));
  std::string inflated, many;
  for (int i = 0; i < 100; ++i) inflated += text;
  const std::string small = png_chunk("tEXt", std::string("k\0v", 3));
  for (int i = 0; i < 100'000; ++i) many += small;
  const fs::path bombs = scratch.write("bombs.png", png(2, 2, 8, 0, "abcd", 2, inflated));
  const fs::path shorts = scratch.write("shorts.png", png(2, 2, 8, 0, "abcd", 2, many));
  const auto peak = [] {
    struct rusage usage {};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;  // in KiB
  };
  const auto before = peak();
  EXPECT_EQ(pixels_of(read_picture(bombs)), "abcd");
  EXPECT_EQ(pixels_of(read_picture(shorts)), "abcd");
  EXPECT_LT(peak() - before, 100 << 10);
}

TEST_F(BadPictures, DamagedPngsAreErrorsAndSilent) {
  std::string good = png(40, 30, 8, 2, random_bytes(3600, 10), 120);
  std::string flipped = good;
  flipped[good.size() / 2] ^= 1;
  const fs::path a = scratch.write("a.png", flipped);
  expect_sentence<IoError>(a, "is damaged", [&] { read_picture(a); });
  // Correct CRCs around too few rows; around nonsense; a profile that would make libpng print a warning.
  const fs::path b = scratch.write("b.png", png(40, 300, 8, 2, random_bytes(3600, 10), 120));
  expect_sentence<IoError>(b, "is damaged", [&] { read_picture(b); });
  const fs::path c = scratch.write("c.png", png(3, 1, 8, 9, "abcdefghi", 9));
  expect_sentence<IoError>(c, "is damaged", [&] { read_picture(c); });
  const fs::path d = scratch.write(
      "d.png",
      png(3, 1, 8, 2, "abcdefghi", 9, png_chunk("iCCP", std::string("x\0\0nonsense", 11)) + png_chunk("gAMA", "x")));
  EXPECT_EQ(pixels_of(read_all(d)), "abcdefghi");
}

}  // namespace
}  // namespace areal::media
