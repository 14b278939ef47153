// Tables written in pieces, and arrays read by rows.
#include <algorithm>
#include <areal/array.hpp>
#include <areal/error.hpp>
#include <cstring>
#include <random>
#include "media/media.hpp"
#include "scratch.hpp"

namespace areal::media {
namespace {

using test::bytes_in;
using test::expect_sentence;
using test::Scratch;
using Names = std::vector<std::string>;

Array random_table(const Shape& shape, Type type) {
  Array table(shape, type);
  std::mt19937 random(5);
  for (std::size_t i = 0; i < table.bytes(); ++i) static_cast<char*>(table.data())[i] = static_cast<char>(random());
  return table;
}
TableFile description(const Shape& shape) {
  TableFile d;
  d.kind = "sum", d.border = Border::none, d.types = "8u64u", d.algorithm = "auto by tiles", d.source = "a.npy";
  d.image_width = shape.width, d.image_height = shape.height;
  return d;
}
ConstView part(const ConstView& table, std::int64_t x, std::int64_t y, std::int64_t width, std::int64_t height) {
  return ConstView(static_cast<const char*>(table.row(y)) + x * table.column_pitch(), table.type, {width, height},
                   table.row_pitch);
}

TEST(TableWriter, PiecesInAnyOrderAreTheFileOfTheWhole) {
  const Scratch scratch;
  const Shape shape{37, 23};
  const Array table = random_table(shape, Type::u64);
  write_table(scratch / "W.npy", table.view(), description(shape));
  struct Part {
    std::int64_t x, y, width, height;
  };
  const std::vector<std::vector<Part>> cuts{{{0, 0, 37, 23}},
                                            {{0, 9, 37, 14}, {0, 0, 37, 9}},
                                            {{20, 9, 17, 14}, {0, 0, 20, 9}, {20, 0, 17, 9}, {0, 9, 20, 14}}};
  for (const auto& parts : cuts) {
    TableWriter writer(scratch / "T.npy", shape, Type::u64, description(shape));
    for (const Part& p : parts) writer.write(p.x, p.y, part(table.view(), p.x, p.y, p.width, p.height));
    EXPECT_FALSE(fs::exists(scratch / "T.npy"));
    writer.finish();
    EXPECT_EQ(bytes_in(scratch / "T.npy"), bytes_in(scratch / "W.npy")) << parts.size();
    const TableFile back = read_table(scratch / "T.npy");
    EXPECT_EQ(back.algorithm, "auto by tiles");
    EXPECT_EQ(std::memcmp(back.table.data(), std::as_const(table).data(), table.bytes()), 0);
    fs::remove(scratch / "T.npy");
  }
}

TEST(ArrayWriter, ChannelsAndPlanesInPieces) {
  const Scratch scratch;
  for (const Layout layout : {Layout::interleaved, Layout::planar}) {
    const Shape shape{37, 23, 3, 1, layout};
    const Array whole = random_table(shape, Type::u16);
    write_npy(scratch / "W.npy", whole.view());
    ArrayWriter writer(scratch / "T.npy", shape, Type::u16);
    for (const std::int64_t y : {9, 0}) {
      const std::int64_t rows = y == 0 ? 9 : 14;
      if (layout == Layout::interleaved) {
        writer.write(0, y, ConstView(whole.view().row(y), Type::u16, {37, rows, 3}));
        continue;
      }
      for (const std::int64_t first : {1, 0}) {
        ConstView planes = whole.view();
        planes.data = planes.row(y, first);
        planes.shape.height = rows;
        planes.shape.channels = first == 0 ? 1 : 2;
        writer.write(0, y, planes, first);
      }
    }
    EXPECT_FALSE(fs::exists(scratch / "T.npy"));
    writer.finish();
    EXPECT_EQ(bytes_in(scratch / "T.npy"), bytes_in(scratch / "W.npy")) << static_cast<int>(layout);
    fs::remove(scratch / "T.npy");
  }
}

TEST(TableWriter, WithoutItsEndNothingAppears) {
  const Scratch scratch;
  const Shape shape{37, 23};
  const Array table = random_table(shape, Type::u32);
  {
    TableWriter writer(scratch / "T.npy", shape, Type::u32, description(shape));
    writer.write(0, 0, table.view());
  }
  EXPECT_EQ(scratch.names(), Names{});
  EXPECT_THROW(TableWriter(scratch / "T.tif", shape, Type::u32, description(shape)), InvalidArgument);
  EXPECT_THROW(TableWriter(scratch / "T.png", shape, Type::u32, description(shape)), InvalidArgument);
  EXPECT_EQ(scratch.names(), Names{});
}

TEST(MappedNpy, RowsAreThoseOfTheArray) {
  const Scratch scratch;
  for (const Shape& shape : {Shape{61, 43}, Shape{5, 7, 3}, Shape{1, 1}, Shape{0, 4}, Shape{4, 0}}) {
    const Array image = random_table(shape, Type::u16);
    write_npy(scratch / "a.npy", image.view());
    const auto mapped = map_npy(scratch / "a.npy");
    EXPECT_EQ(mapped->view().shape, shape);
    EXPECT_EQ(mapped->view().type, Type::u16);
    if (shape.empty()) continue;
    for (std::int64_t y = 0; y < shape.height; ++y)
      EXPECT_EQ(std::memcmp(mapped->view().row(y), std::as_const(image).view().row(y),
                            static_cast<std::size_t>(mapped->view().row_pitch)),
                0);
  }
}

TEST(MappedNpy, WhatItRefuses) {
  const Scratch scratch;
  const Array image = random_table({61, 43}, Type::u8);
  write_npy(scratch / "a.npy", image.view());
  EXPECT_TRUE(is_npy(scratch / "a.npy"));
  EXPECT_FALSE(is_npy(scratch / "absent.npy"));
  EXPECT_FALSE(is_npy(scratch.path()));
  fs::resize_file(scratch / "a.npy", fs::file_size(scratch / "a.npy") - 1);
  expect_sentence<IoError>(scratch / "a.npy", "truncated", [&] { map_npy(scratch / "a.npy"); });
  fs::resize_file(scratch / "a.npy", 4);
  EXPECT_FALSE(is_npy(scratch / "a.npy"));
  expect_sentence<IoError>(scratch / "a.npy", "is not a .npy file", [&] { map_npy(scratch / "a.npy"); });
  expect_sentence<IoError>(scratch / "absent.npy", "no such file", [&] { map_npy(scratch / "absent.npy"); });
  const Array batch = random_table({6, 4, 1, 3}, Type::u8);
  write_npy(scratch / "b.npy", batch.view());  // (3, 4, 6): channels of an image
  EXPECT_EQ(map_npy(scratch / "b.npy")->view().shape.channels, 6);
}

}  // namespace
}  // namespace areal::media
