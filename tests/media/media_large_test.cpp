// Large pictures: .npy and pictures that are read whole, and what a block may be.
#include <areal/error.hpp>
#include <cmath>
#include "large_blocks.hpp"
#include "picture_files.hpp"

namespace areal::media {
namespace {

using test::block_fault;
using test::blocks_fault;
using test::bytes_in;
using test::expect_sentence;
using test::luma_at;
using test::picture_of;
using test::value_at;

class Large : public test::SilentTest {};

TEST_F(Large, TheChecksCanFail) {
  write_npy(scratch / "a.npy", picture_of({40, 30}, Type::u8).view());
  const auto picture = open_large_picture(scratch / "a.npy");
  EXPECT_EQ(blocks_fault(*picture, value_at, 1), "");
  const auto one_off = [](std::int64_t x, std::int64_t y, std::int64_t c) {
    return value_at(x, y, c) + (x == 39 && y == 29 ? 1 : 0);
  };
  EXPECT_NE(blocks_fault(*picture, one_off, 1), "");
  EXPECT_NE(block_fault(*picture, one_off, 39, 29, 1, 1), "");
  EXPECT_EQ(block_fault(*picture, one_off, 0, 0, 39, 30), "");
}

TEST_F(Large, NpyOfEveryType) {
  for (const Type type : {Type::u8, Type::s8, Type::u16, Type::s16, Type::u32, Type::s32, Type::u64, Type::s64,
                          Type::f16, Type::f32, Type::f64}) {
    SCOPED_TRACE(name_of(type));
    Array image = picture_of({37, 23}, type);
    if (type == Type::s8)  // which holds no 250
      for (std::size_t i = 0; i < image.bytes(); ++i) image.as<std::int8_t>()[i] &= 127;
    write_npy(scratch / "a.npy", image.view());
    const auto picture = open_large_picture(scratch / "a.npy");
    EXPECT_EQ(picture->type(), type);
    EXPECT_EQ(picture->shape(), (Shape{37, 23}));
    EXPECT_EQ(blocks_fault(
                  *picture,
                  [&](std::int64_t x, std::int64_t y, std::int64_t c) {
                    const double v = value_at(x, y, c);
                    return type == Type::s8 ? static_cast<double>(static_cast<int>(v) & 127) : v;
                  },
                  2),
              "");
  }
}

TEST_F(Large, ChannelsOfNpy) {
  write_npy(scratch / "3.npy", picture_of({29, 31, 3}, Type::u16).view());
  write_npy(scratch / "4.npy", picture_of({29, 31, 4}, Type::u8).view());
  write_npy(scratch / "5.npy", picture_of({29, 31, 5}, Type::u8).view());
  const auto grey = open_large_picture(scratch / "3.npy");
  EXPECT_EQ(grey->shape(), (Shape{29, 31}));
  EXPECT_EQ(blocks_fault(*grey, luma_at, 3), "");
  EXPECT_NE(blocks_fault(*grey, value_at, 3), "");
  ReadOptions all;
  all.colour = Colour::all;
  EXPECT_EQ(blocks_fault(*open_large_picture(scratch / "3.npy", all), value_at, 4), "");
  const auto colours = open_large_picture(scratch / "4.npy", all);
  EXPECT_EQ(colours->shape().channels, 4);  // arrays have channels, no alpha
  EXPECT_EQ(colours->notes(), std::vector<std::string>{});
  EXPECT_EQ(blocks_fault(*colours, value_at, 5), "");
  ReadOptions one;
  one.colour = Colour::channel;
  one.channel = 4;
  EXPECT_EQ(blocks_fault(
                *open_large_picture(scratch / "5.npy", one),
                [](std::int64_t x, std::int64_t y, std::int64_t) { return value_at(x, y, 4); }, 7),
            "");
  expect_sentence<InvalidArgument>(scratch / "5.npy", "choose one channel",
                                   [&] { open_large_picture(scratch / "5.npy"); });
  one.channel = 5;
  expect_sentence<InvalidArgument>(scratch / "5.npy", "channel 5 does not exist: there are 5",
                                   [&] { open_large_picture(scratch / "5.npy", one); });
}

TEST_F(Large, ASparseNpyLargerThanMemory) {
  // 1,000,000 x 1,000,000: a terabyte, of which the first and the last row are there.
  const std::int64_t side = 1000000;
  write_npy(scratch / "s.npy", picture_of({1, 1}, Type::u8).view());
  std::string head = bytes_in(scratch / "s.npy").substr(0, 128);
  const std::string was = "(1, 1), }                  ", is = "(1000000, 1000000), }      ";
  const std::size_t at = head.find(was);
  ASSERT_NE(at, std::string::npos);
  head.replace(at, was.size(), is);
  const fs::path path = scratch.write("s.npy", head.substr(0, head.find('\n') + 1));
  const auto begin = static_cast<std::int64_t>(fs::file_size(path));
  std::error_code error;
  fs::resize_file(path, static_cast<std::uintmax_t>(begin + side * side), error);
  if (error) GTEST_SKIP() << "this file system holds no sparse file of a terabyte";
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(begin + side * side - 3);
  file << "abc";
  file.close();
  const auto picture = open_large_picture(path);
  EXPECT_EQ(block_fault(
                *picture,
                [&](std::int64_t x, std::int64_t y, std::int64_t) {
                  return y == side - 1 && x >= side - 3 ? static_cast<double>('a' + (x - side + 3)) : 0.;
                },
                side - 70, side - 50, 70, 50),
            "");
  EXPECT_LT(picture->memory(), 8u << 20);
}

TEST_F(Large, OtherPicturesAreReadWhole) {
  const fs::path path = scratch / "a.png";
  write_picture(path, picture_of({50, 41, 3}, Type::u8).view());
  const auto grey = open_large_picture(path);
  EXPECT_EQ(grey->block(), (BlockSize{50, 41}));
  EXPECT_EQ(blocks_fault(*grey, luma_at, 8), "");
  ReadOptions options;
  options.memory_limit = 1000;
  expect_sentence<OutOfMemory>(path, "more than the 1000 bytes that were allowed",
                               [&] { open_large_picture(path, options); });
}

TEST_F(Large, BadBlocksAreRefused) {
  const fs::path path = scratch / "a.npy";
  write_npy(path, picture_of({40, 30}, Type::u8).view());
  const auto picture = open_large_picture(path);
  std::vector<std::uint8_t> pixels(5000);
  const auto refused = [&](std::int64_t x, std::int64_t y, const View& block, const char* words) {
    expect_sentence<InvalidArgument>(path, words, [&] { picture->read(x, y, block); });
  };
  refused(1, 0, View(pixels.data(), 40, 30), "a block of 40x30 at 1,0 leaves the picture of 40x30");
  refused(0, -1, View(pixels.data(), 4, 3), "leaves the picture");
  refused(INT64_MAX, INT64_MAX, View(pixels.data(), 4, 3), "leaves the picture");
  refused(0, 0, View(pixels.data(), 41, 3), "leaves the picture");
  refused(0, 0, View(pixels.data(), Type::u16, {4, 3}), "a block is of 16u, the picture of 8u");
  refused(0, 0, View(pixels.data(), Type::u8, {4, 3, 3}), "a block has 3 channels");
  refused(0, 0, View(nullptr, Type::u8, {4, 3}), "a block has no memory");
  refused(0, 0, View(pixels.data(), 4, 3).in({MemoryPlace::cuda, 0}), "must be in host memory");
  picture->read(40, 30, View(nullptr, Type::u8, {0, 0}));
  EXPECT_EQ(block_fault(*picture, value_at, 5, 6, 7, 8), "");
}

TEST_F(Large, TruncatedNpyIsAnError) {
  const fs::path path = scratch / "a.npy";
  write_npy(path, picture_of({40, 30}, Type::u8).view());
  const std::string whole = bytes_in(path);
  for (std::size_t length = 0; length < whole.size(); length += 7) {
    const fs::path cut = scratch.write("cut.npy", whole.substr(0, length));
    expect_sentence<IoError>(cut, "", [&] { open_large_picture(cut); });
  }
  const auto picture = open_large_picture(path);
  fs::resize_file(path, whole.size() - 1);  // after it was opened
  EXPECT_EQ(block_fault(*picture, value_at, 0, 0, 40, 29), "");
  std::vector<std::uint8_t> pixels(40);
  expect_sentence<IoError>(path, "was cut short", [&] { picture->read(0, 29, View(pixels.data(), 40, 1)); });
}

TEST_F(Large, FilesThatAreNoPictures) {
  expect_sentence<IoError>(scratch / "none", "no such file", [&] { open_large_picture(scratch / "none"); });
  const fs::path text = scratch.write("a.tif", "hello, this is a text");
  expect_sentence<IoError>(text, "is not a picture that areal reads", [&] { open_large_picture(text); });
  write_npy(scratch / "b.npy", picture_of({4, 3, 3, 2}, Type::u8).view());
  expect_sentence<InvalidArgument>(scratch / "b.npy", "holds 2 images", [&] { open_large_picture(scratch / "b.npy"); });
}

}  // namespace
}  // namespace areal::media
