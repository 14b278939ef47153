// Files that need no library: .npy, raw, regions; and that nothing else is loaded for them.
#include <areal/error.hpp>
#include <cstring>
#include "media/media.hpp"
#include "scratch.hpp"

namespace areal::media {
namespace {

using test::expect_sentence;
using test::Scratch;
using test::sentence_of;
using namespace std::string_literals;

// What numpy 1.24 and 2.1 write: the bytes below were saved by numpy.save.
std::string npy(const std::string& dictionary, const std::string& data, int major = 1) {
  std::string text = dictionary;
  const std::size_t before = major == 1 ? 10 : 12;
  while ((before + text.size() + 1) % 64 != 0) text += ' ';
  text += '\n';
  std::string out = "\x93NUMPY"s + static_cast<char>(major) + '\0';
  for (int i = 0; i < (major == 1 ? 2 : 4); ++i) out += static_cast<char>(text.size() >> (8 * i) & 255);
  return out + text + data;
}
std::string header(const std::string& descr, const std::string& shape, const std::string& fortran = "False") {
  return "{'descr': " + descr + ", 'fortran_order': " + fortran + ", 'shape': " + shape + ", }";
}

TEST(Npy, ReadsWhatNumpyWrites) {
  const Scratch scratch;
  const std::string saved =
      "\x93NUMPY\x01\0v\0{'descr': '|u1', 'fortran_order': False, 'shape': (3, 4), }"
      "                                                          \n\0\1\2\3\4\5\6\7\x08\x09\x0a\x0b"s;
  ASSERT_EQ(saved.size(), 128u + 12u);
  const Array a = read_npy(scratch.write("a.npy", saved));
  EXPECT_EQ(a.type(), Type::u8);
  EXPECT_EQ(a.shape(), (Shape{4, 3}));
  for (int i = 0; i < 12; ++i) EXPECT_EQ(a.as<std::uint8_t>()[i], i);
  // The output is numpy's, byte for byte.
  write_npy(scratch / "b.npy", a.view());
  EXPECT_EQ(test::bytes_in(scratch / "b.npy"), saved);
  EXPECT_EQ(scratch.names().size(), 2u);
}

TEST(Npy, EveryTypeVersionAndSpelling) {
  const Scratch scratch;
  const std::pair<const char*, Type> rows[] = {{"'|u1'", Type::u8},  {"'|i1'", Type::s8},  {"'<u2'", Type::u16},
                                               {"'<i2'", Type::s16}, {"'<u4'", Type::u32}, {"'<i4'", Type::s32},
                                               {"'<u8'", Type::u64}, {"'<i8'", Type::s64}, {"'<f2'", Type::f16},
                                               {"'<f4'", Type::f32}, {"'<f8'", Type::f64}, {"'|b1'", Type::u8}};
  for (const auto& [descr, type] : rows)
    for (const int major : {1, 2, 3}) {
      std::string data(6 * size_of(type), '\0');
      for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<char>(i * 37 + 1);
      const Array a = read_npy(scratch.write("a.npy", npy(header(descr, "(2, 3)"), data, major)));
      EXPECT_EQ(a.type(), type) << descr;
      EXPECT_EQ(a.shape(), (Shape{3, 2}));
      EXPECT_EQ(std::memcmp(a.data(), data.data(), data.size()), 0);
    }
  // Other orders of keys, other quotes, no last comma, Python 2's longs.
  const std::string other = "{\"shape\":(2L,3L),'fortran_order':False , 'descr':'<u1'}";
  EXPECT_EQ(read_npy(scratch.write("a.npy", npy(other, "abcdef"))).shape(), (Shape{3, 2}));
}

TEST(Npy, AxesGiveTheShape) {
  const Scratch scratch;
  const fs::path three = scratch.write("3.npy", npy(header("'|u1'", "(2, 3, 4)"), std::string(24, 'x')));
  EXPECT_EQ(read_npy(three).shape(), (Shape{3, 2, 4}));
  EXPECT_EQ(read_npy(three, Axes::chw).shape(), (Shape{4, 3, 2, 1, Layout::planar}));
  EXPECT_EQ(read_npy(three, Axes::nhw).shape(), (Shape{4, 3, 1, 2}));
  const fs::path four = scratch.write("4.npy", npy(header("'|u1'", "(2, 3, 4, 5)"), std::string(120, 'x')));
  EXPECT_EQ(read_npy(four).shape(), (Shape{4, 3, 5, 2}));
  EXPECT_EQ(read_npy(four, Axes::chw).shape(), (Shape{5, 4, 3, 2, Layout::planar}));
  const fs::path none = scratch.write("0.npy", npy(header("'<f8'", "(0, 7)"), ""));
  EXPECT_EQ(read_npy(none).shape(), (Shape{7, 0}));
}

TEST(Npy, WritesAnyPitchAndLayout) {
  const Scratch scratch;
  // 3 x 2, a pitch of 7 bytes at an odd address; the bytes between rows are poison.
  const std::string memory = "?abc????def????";
  write_npy(scratch / "a.npy", ConstView(memory.data() + 1, Type::u8, Shape{3, 2}, 7));
  EXPECT_EQ(test::bytes_in(scratch / "a.npy").substr(128), "abcdef");
  Array planar(Shape{3, 2, 2, 2, Layout::planar}, Type::u16);
  for (int i = 0; i < 24; ++i) planar.as<std::uint16_t>()[i] = static_cast<std::uint16_t>(i * 1000);
  write_npy(scratch / "p.npy", planar.view());
  EXPECT_NE(test::bytes_in(scratch / "p.npy").find("'shape': (2, 2, 2, 3)"), std::string::npos);
  const Array back = read_npy(scratch / "p.npy", Axes::chw);
  EXPECT_EQ(back.shape(), planar.shape());
  EXPECT_EQ(std::memcmp(back.data(), planar.data(), planar.bytes()), 0);
  static_cast<std::uint16_t*>(planar.data())[5] ^= 1;  // the comparison can fail
  EXPECT_NE(std::memcmp(back.data(), planar.data(), planar.bytes()), 0);
}

TEST(Npy, RefusesWhatItCannotReadExactly) {
  const Scratch scratch;
  const std::string six(6, 'x'), many(48, 'x');
  const struct {
    std::string bytes;
    const char* words;
  } rows[] = {
      {"", "is empty"},
      {"not an array", "is not a .npy file"},
      {"\x93NUM", "is not a .npy file"},
      {"\x93NUMPY\x01"s, "is truncated"},
      {"\x93NUMPY\x04\0v\0"s, "version 4.0"},
      {"\x93NUMPY\x01\1v\0"s, "version 1.1"},
      {"\x93NUMPY\x02\0\xff\xff\xff\xff{"s, "header of 4294967295 bytes"},
      {"\x93NUMPY\x01\0\xff\xff{}"s, "is truncated"},
      {npy(header("'>i4'", "(2, 3)"), many), "big-endian"},
      {npy(header("'|O'", "(2, 3)"), many), "Python objects"},
      {npy(header("[('a', '<i4'), ('b', '<f4')]", "(2, 3)"), many), "structured"},
      {npy(header("'<c8'", "(2, 3)"), many), "'<c8'"},
      {npy(header("'<U4'", "(2, 3)"), many), "'<U4'"},
      {npy(header("'=i4'", "(2, 3)"), many), "'=i4'"},
      {npy(header("'|u1'", "(2, 3)", "True"), six), "Fortran order"},
      {npy(header("'|u1'", "(6,)"), six), "1 dimensions"},
      {npy(header("'|u1'", "()"), "x"), "0 dimensions"},
      {npy(header("'|u1'", "(6)"), six), "damaged header"},
      {npy(header("'|u1'", "(-2, -3)"), six), "negative length (-2)"},
      {npy(header("'|u1'", "(2, 99999999999999999999)"), six), "does not fit 63 bits"},
      {npy(header("'<f8'", "(4294967296, 4294967296)"), many), "do not fit 63 bits"},
      {npy(header("'|u1'", "(2, 4)"), six), "declares 8 bytes of data, 6 are there"},
      {npy(header("'|u1'", "(1099511627776, 4)"), six), "declares 4398046511104 bytes of data, 6 are there"},
      {npy(header("'|u1'", "(2, 2)"), six), "has 2 bytes after the 4"},
      {npy("{'descr': '|u1', 'fortran_order': False}", six), "must give descr, fortran_order and shape"},
      {npy("{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3), 'x': 1}", six), "unknown or repeated key"},
      {npy("{'descr': '|u1', 'fortran_order': 0, 'shape': (2, 3)}", six), "True or False"},
      {npy(header("'|u1'", "(2, 3)") + "; import os", six), "text after the dictionary"},
      {npy("{'descr': 'a\nb\x80', 'fortran_order': False, 'shape': (2, 3)}", six), "'a b\\x80'"},
  };
  for (const auto& row : rows) {
    const fs::path path = scratch.write("a.npy", row.bytes);
    SCOPED_TRACE(row.words);
    expect_sentence<IoError>(path, row.words, [&] { read_npy(path); });
  }
  expect_sentence<IoError>(scratch / "none.npy", "no such file", [&] { read_npy(scratch / "none.npy"); });
  expect_sentence<IoError>(scratch.path(), "is a folder", [&] { read_npy(scratch.path()); });
  const fs::path small = scratch.write("a.npy", npy(header("'|u1'", "(2, 3)"), six));
  expect_sentence<OutOfMemory>(small, "takes 6 bytes of memory, more than the 5",
                               [&] { read_npy(small, Axes::hwc, 5); });
  EXPECT_EQ(read_npy(small, Axes::hwc, 6).bytes(), 6u);
}

TEST(Npy, StreamsFollowOneAnother) {
  const std::string bytes = npy(header("'|u1'", "(1, 2)"), "ab") + npy(header("'<u2'", "(2, 1)"), "cdef", 3);
  const auto read_all = [](std::string text) {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(::fmemopen(text.data(), text.size(), "rb"),
                                                               &std::fclose);
    std::vector<Shape> shapes;
    for (Array a = read_npy(file.get(), "-"); a.data(); a = read_npy(file.get(), "-")) shapes.push_back(a.shape());
    EXPECT_TRUE(std::feof(file.get()));
    return shapes;
  };
  EXPECT_EQ(read_all(bytes), (std::vector<Shape>{{2, 1}, {1, 2}}));
  EXPECT_NE(sentence_of<IoError>([&] { read_all(bytes + "x"); }).find("-: does not continue"), std::string::npos);
  EXPECT_NE(sentence_of<IoError>([&] { read_all(bytes.substr(0, bytes.size() - 1)); }).find("-: is truncated"),
            std::string::npos);
  // A stream has no size to check a header against: only the limit applies.
  const std::string liar = npy(header("'|u1'", "(1099511627776, 1024)"), "ab");
  EXPECT_NE(sentence_of<OutOfMemory>([&] { read_all(liar); }).find("takes 1125899906842624 bytes"), std::string::npos);
}

TEST(Raw, HoldsTheSizeToTheFile) {
  const Scratch scratch;
  const fs::path path = scratch.write("a.raw", "abcdefghijkl");
  const Array a = read_raw(path, Shape{3, 2}, Type::u16);
  EXPECT_EQ(std::memcmp(a.data(), "abcdefghijkl", 12), 0);
  expect_sentence<IoError>(path, "has 12 bytes, but 3x3x16u are 18", [&] { read_raw(path, Shape{3, 3}, Type::u16); });
  expect_sentence<IoError>(path, "has 12 bytes, but 3x1x16u are 6", [&] { read_raw(path, Shape{3, 1}, Type::u16); });
  sentence_of<InvalidArgument>([&] { read_raw(path, Shape{-3, 1}, Type::u16); });
  sentence_of<InvalidArgument>([&] { read_raw(path, Shape{INT64_MAX, 2}, Type::u16); });
}

TEST(RegionsCsv, ReadsEveryForm) {
  const auto regions = parse_regions_csv(
      "\xef\xbb\xbfX, Y ,W,H,Name\r\n# a comment\n\n1,2,3,4\r\n  5 ,\t6,7,8, door \n-1,-2,0,+9,\"a, "
      "\"\"b\"\"\"\n1,1,1,1,",
      "F");
  ASSERT_EQ(regions.size(), 4u);
  EXPECT_EQ(regions[0].region, (Region{1, 2, 3, 4}));
  EXPECT_EQ(regions[1].region, (Region{5, 6, 7, 8}));
  EXPECT_EQ(regions[1].name, "door");
  EXPECT_EQ(regions[2].region, (Region{-1, -2, 0, 9}));
  EXPECT_EQ(regions[2].name, "a, \"b\"");
  EXPECT_EQ(regions[3].name, "");
  EXPECT_TRUE(parse_regions_csv("", "F").empty());
  EXPECT_TRUE(parse_regions_csv("x,y,width,height\n", "F").empty());
  EXPECT_EQ(parse_region("10,20,30,40").region, (Region{10, 20, 30, 40}));
  const Scratch scratch;
  EXPECT_EQ(read_regions_csv(scratch.write("r.csv", "0,0,1,1\n")).size(), 1u);
}

TEST(RegionsCsv, NamesTheBadLine) {
  const std::pair<std::string, const char*> rows[] = {
      {"1,2,3,4\n1,2,3\n",
       "F.csv: line 2: has 3 fields, it must have x,y,width,height and at most a name, separated by commas"},
      {"1,2,3,4,n,5",
       "F.csv: line 1: has 6 fields, it must have x,y,width,height and at most a name, separated by commas"},
      {"\n#\n1,2,3,x", "F.csv: line 3: height is 'x', it must be a whole number"},
      {"1,2,3,4.5", "F.csv: line 1: height is '4.5', it must be a whole number"},
      {"1,,3,4", "F.csv: line 1: y is '', it must be a whole number"},
      {"+-1,2,3,4", "F.csv: line 1: x is '+-1', it must be a whole number"},
      {"1,2,-3,4", "F.csv: line 1: width is -3, it may not be negative"},
      {"99999999999999999999,2,3,4", "F.csv: line 1: x is '99999999999999999999', which does not fit 64 bits"},
      {"0,9223372036854775807,3,1", "F.csv: line 1: y + height does not fit 64 bits"},
      {"1;2;3;4", "F.csv: line 1: has 1 field, it must have x,y,width,height and at most a name, separated by commas"},
      {"a,b,c,d\n1,2,3,4", "F.csv: line 1: x is 'a', it must be a whole number"},
      {"1,2,3,4\nx,y,width,height", "F.csv: line 2: x is 'x', it must be a whole number"},
      {"1,2,3,4,\"n", "F.csv: line 1: a quote is not closed"},
      {"1,2,3,4,\"n\"m", "F.csv: line 1: text follows a closing quote"},
      {"1,2,3,4\n1,2,3,\x01\x80", "F.csv: line 2: height is '\\x01\\x80', it must be a whole number"}};
  for (const auto& row : rows)
    EXPECT_EQ(sentence_of<InvalidArgument>([&] { parse_regions_csv(row.first, "F.csv"); }), row.second);
  EXPECT_EQ(sentence_of<InvalidArgument>([] { parse_region("1,2,3"); }),
            "region '1,2,3': has 3 fields, it must have x,y,width,height, separated by commas");
  EXPECT_EQ(sentence_of<InvalidArgument>([] { parse_region("1,2,3,4,n"); }),
            "region '1,2,3,4,n': has 5 fields, it must have x,y,width,height, separated by commas");
}

TEST(PlugIns, AreNotLoadedForPlainFiles) {
  const std::string maps = test::bytes_in("/proc/self/maps");
  ASSERT_NE(maps.find("libareal"), std::string::npos) << "maps could be read";
  EXPECT_EQ(maps.find("libOpenImageIO"), std::string::npos);
  EXPECT_EQ(maps.find("libavcodec"), std::string::npos);
}

TEST(PlugIns, AMissingOneIsSaidInOneSentence) {
  const Scratch scratch;
  ::setenv("AREAL_PLUGIN_DIR", scratch.path().c_str(), 1);
  const fs::path picture = scratch.write("a.png", "x");
  std::string what = sentence_of<Unavailable>([&] { read_picture(picture); });
  EXPECT_NE(what.find("areal_pictures.so is not in " + scratch.path().string()), std::string::npos) << what;
  EXPECT_NE(what.find("libopenimageio-dev"), std::string::npos) << what;
  what = sentence_of<Unavailable>([&] { open_video(picture); });
  EXPECT_NE(what.find("areal_video.so"), std::string::npos) << what;
  EXPECT_NE(what.find("libavformat-dev"), std::string::npos) << what;
  // A file with that name that is not a library: the loader's message, in one line.
  scratch.write("areal_pictures.so", "not a library");
  what = sentence_of<Unavailable>([&] { read_picture(picture); });
  EXPECT_NE(what.find("areal_pictures.so needs OpenImageIO"), std::string::npos) << what;
  EXPECT_EQ(what.find('\n'), std::string::npos);
  ::unsetenv("AREAL_PLUGIN_DIR");
  // A missing file is reported before any plug-in is searched for.
  expect_sentence<IoError>(scratch / "none.png", "no such file", [&] { read_picture(scratch / "none.png"); });
}

}  // namespace
}  // namespace areal::media
