// Zarr arrays and OME-Zarr pictures: versions, codecs, shards, axes, levels, and what is damaged or hostile.
#include <areal/error.hpp>
#include <cstdlib>
#include <limits>
#include "deep_json.hpp"
#include "large_blocks.hpp"
#include "media/zarr/metadata.hpp"
#include "scratch.hpp"
#include "zarr_files.hpp"

namespace areal::media {
namespace {

using test::block_fault;
using test::blocks_fault;
using test::bytes_in;
using test::expect_sentence;
using test::luma_at;
using test::metadata_of;
using test::Position;
using test::Scratch;
using test::value_at;
using test::write_file;
using test::write_zarr;
using test::Zarr;

double flat(const Position& at) { return value_at(at[1], at[0], 0); }
double tczyx(const Position& at) { return value_at(at[4] + 3 * at[2] + 11 * at[0], at[3], at[1]); }

class ZarrPictures : public test::SilentTest {
 protected:
  fs::path fresh(const char* name = "a.zarr") {
    fs::remove_all(scratch / name);
    return scratch / name;
  }
};

TEST_F(ZarrPictures, TheChecksCanFail) {
  const fs::path path = fresh();
  write_zarr(path, {.shape = {70, 100}, .chunk = {16, 32}}, flat);
  const auto picture = open_large_picture(path);
  EXPECT_EQ(picture->shape(), (Shape{100, 70}));
  EXPECT_EQ(picture->block(), (BlockSize{32, 16}));
  EXPECT_EQ(blocks_fault(*picture, value_at, 1), "");
  const auto one_off = [](std::int64_t x, std::int64_t y, std::int64_t c) {
    return value_at(x, y, c) + (x == 99 && y == 69 ? 1 : 0);
  };
  EXPECT_NE(blocks_fault(*picture, one_off, 1), "");
}

TEST_F(ZarrPictures, EveryCodecOfBothVersions) {
  std::vector<Zarr> cases;
  for (const char* codec : {"", "gzip", "zlib", "zstd", "blosc"})
    for (const char separator : {'.', '/'}) {
      Zarr z{.version = 2, .shape = {70, 100}, .chunk = {16, 32}, .type = Type::u16, .separator = separator};
      if (*codec) z.codecs = {codec};
      z.big_endian = separator == '/';
      cases.push_back(z);
    }
  const std::vector<std::vector<std::string>> chains = {
      {},         {"gzip"},           {"zstd"},           {"blosc"},
      {"crc32c"}, {"zstd", "crc32c"}, {"crc32c", "gzip"}, {"crc32c", "blosc", "crc32c"}};
  for (const auto& chain : chains) {
    cases.push_back({.shape = {70, 100}, .chunk = {16, 32}, .type = Type::f32, .codecs = chain});
    cases.push_back({.shape = {70, 100}, .chunk = {16, 32}, .shard = {48, 64}, .codecs = chain});
  }
  cases.push_back({.shape = {70, 100}, .chunk = {16, 32}, .shard = {32, 128}, .codecs = {"zstd"}, .index_first = true});
  cases.push_back({.shape = {70, 100}, .chunk = {16, 32}, .shard = {32, 128}, .index_checked = false});
  cases.push_back({.shape = {70, 100}, .chunk = {80, 128}, .big_endian = true, .codecs = {"blosc"}, .separator = '.'});
  cases.push_back({.shape = {70, 100}, .chunk = {1, 100}, .type = Type::s16, .separator = '.', .keys_of_v2 = true});
  unsigned seed = 1;
  for (const Zarr& z : cases) {
    const fs::path path = fresh();
    SCOPED_TRACE(metadata_of(z));
    write_zarr(path, z, flat);
    const auto picture = open_large_picture(path);
    EXPECT_EQ(picture->type(), z.type);
    ASSERT_EQ(blocks_fault(*picture, value_at, seed++, 20), "");
  }
}

TEST_F(ZarrPictures, EveryType) {
  for (const Type type : {Type::u8, Type::s8, Type::u16, Type::s16, Type::u32, Type::s32, Type::u64, Type::s64,
                          Type::f16, Type::f32, Type::f64})
    for (const int version : {2, 3}) {
      SCOPED_TRACE(std::string(name_of(type)) + " version " + std::to_string(version));
      const fs::path path = fresh();
      const auto half = [](const Position& at) { return std::floor(flat(at) / 2); };
      write_zarr(path,
                 {.version = version,
                  .shape = {20, 30},
                  .chunk = {7, 9},
                  .type = type,
                  .big_endian = version == 3,
                  .codecs = {"gzip"}},
                 half);
      const auto picture = open_large_picture(path);
      EXPECT_EQ(picture->type(), type);
      EXPECT_EQ(blocks_fault(
                    *picture,
                    [&](auto x, auto y, auto) {
                      return half({y, x});
                    },
                    9, 10),
                "");
    }
}

TEST_F(ZarrPictures, MissingChunksAreTheFillValue) {
  for (const bool sharded : {false, true}) {
    Zarr z{.shape = {70, 100}, .chunk = {16, 32}, .type = Type::s16, .big_endian = true, .fill = "-300"};
    if (sharded) z.shard = {32, 64};
    z.missing = {{1, 1}, {4, 3}};
    const fs::path path = fresh();
    write_zarr(path, z, flat);
    if (sharded) fs::remove(path / "c/0/0");  // all of a shard
    const auto picture = open_large_picture(path);
    const auto expected = [&](std::int64_t x, std::int64_t y, std::int64_t) {
      const bool gone = z.missing.contains({y / 16, x / 32}) || (sharded && x < 64 && y < 32);
      return gone ? -300. : value_at(x, y, 0);
    };
    EXPECT_EQ(blocks_fault(*picture, expected, 3), "") << sharded;
  }
  struct Row {
    Type type;
    const char* fill;
    double value;
  };
  for (const Row& row :
       {Row{Type::f32, "\"Infinity\"", std::numeric_limits<double>::infinity()}, Row{Type::f64, "-1.25", -1.25},
        Row{Type::f32, "\"0x3fc00000\"", 1.5}, Row{Type::u64, "255", 255}, Row{Type::f16, "0.5", 0.5}}) {
    const fs::path path = fresh();
    write_file(path / "zarr.json", metadata_of({.shape = {5, 6}, .chunk = {2, 2}, .type = row.type, .fill = row.fill}));
    EXPECT_EQ(blocks_fault(
                  *open_large_picture(path), [&](auto, auto, auto) { return row.value; }, 4, 3),
              "")
        << row.fill;
  }
}

TEST_F(ZarrPictures, AxesAndChannels) {
  Zarr z{.shape = {2, 3, 4, 30, 40},
         .chunk = {1, 2, 3, 16, 16},
         .codecs = {"zstd"},
         .names = "[\"t\", \"c\", \"z\", \"y\", \"x\"]"};
  const fs::path path = fresh();
  write_zarr(path, z, tczyx);
  ReadOptions options;
  options.colour = Colour::all;
  options.t = 1;
  options.z = 3;
  const auto all = open_large_picture(path, options);
  EXPECT_EQ(all->shape(), (Shape{40, 30, 3}));
  EXPECT_EQ(all->notes(), (std::vector<std::string>{"t 1 of 2 was read", "z 3 of 4 was read"}));
  const auto there = [](auto x, auto y, auto c) { return value_at(x + 20, y, c); };
  EXPECT_EQ(blocks_fault(*all, there, 1), "");
  options.colour = Colour::luma;
  EXPECT_EQ(blocks_fault(
                *open_large_picture(path, options), [](auto x, auto y, auto) { return luma_at(x + 20, y, 0); }, 2),
            "");
  options.colour = Colour::channel;
  options.channel = 2;
  EXPECT_EQ(blocks_fault(
                *open_large_picture(path, options), [](auto x, auto y, auto) { return value_at(x + 20, y, 2); }, 3),
            "");
  options.channel = 3;
  expect_sentence<InvalidArgument>(path, "channel 3 does not exist", [&] { open_large_picture(path, options); });
  options.t = 2;
  expect_sentence<InvalidArgument>(path, "t 2 does not exist: the picture has 2",
                                   [&] { open_large_picture(path, options); });
  options.t = 0, options.z = -1;
  expect_sentence<InvalidArgument>(path, "z -1 does not exist", [&] { open_large_picture(path, options); });

  // Colours in the last axis, as .npy has them; named by version 2 attributes; x before y.
  write_zarr(fresh(), {.shape = {30, 40, 3}, .chunk = {16, 16, 3}, .type = Type::u16},
             [](const Position& at) { return value_at(at[1], at[0], at[2]); });
  EXPECT_EQ(blocks_fault(*open_large_picture(path), luma_at, 5), "");
  write_zarr(fresh(), {.version = 2, .shape = {3, 30, 40}, .chunk = {1, 16, 16}},
             [](const Position& at) { return value_at(at[2], at[1], at[0]); });
  expect_sentence<IoError>(path, "has 3 axes, whose names do not say which are y and x",
                           [&] { open_large_picture(path); });
  write_file(path / ".zattrs", R"({"_ARRAY_DIMENSIONS": ["channel", "y", "x"]})");
  EXPECT_EQ(blocks_fault(*open_large_picture(path), luma_at, 6), "");
  write_zarr(fresh(), {.shape = {40, 30}, .chunk = {16, 16}, .names = "[\"x\", \"y\"]"},
             [](const Position& at) { return value_at(at[0], at[1], 0); });
  EXPECT_EQ(blocks_fault(*open_large_picture(path), value_at, 7), "");
}

TEST_F(ZarrPictures, PixelsHaveTheSizeThatOmeZarrStates) {
  const auto size_of_level = [&](const std::string& axes, const std::string& more, const std::string& scales,
                                 int level) {
    const fs::path path = fresh("s.ome.zarr");
    write_file(path / ".zgroup", R"({"zarr_format": 2})");
    write_file(path / ".zattrs", R"({"multiscales": [{"axes": [)" + axes + "]" + more +
                                     R"(, "datasets": [{"path": "0", )" + scales +
                                     R"(}, {"path": "0", "coordinateTransformations": [{"type": "scale", )" +
                                     R"("scale": [4, 6]}, {"type": "translation", "translation": [1, 1]}]}]}]})");
    write_zarr(path / "0", {.version = 2, .shape = {10, 20}, .chunk = {10, 20}}, flat);
    ReadOptions options;
    options.level = level;
    return open_large_picture(path, options)->pixel_size();
  };
  const std::string axes = R"({"name": "y", "unit": "micrometer"}, {"name": "x", "unit": "nanometer"})";
  const std::string scale = R"("coordinateTransformations": [{"type": "scale", "scale": [0.5, 250]}])";
  const auto first = size_of_level(axes, "", scale, 0), second = size_of_level(axes, "", scale, 1);
  ASSERT_TRUE(first && second);
  EXPECT_NEAR(first->x, 0.25, 1e-12);
  EXPECT_NEAR(first->y, 0.5, 1e-12);
  EXPECT_NEAR(second->x, 0.006, 1e-12);
  EXPECT_NEAR(second->y, 4, 1e-12);
  const auto of_all =
      size_of_level(axes, R"(, "coordinateTransformations": [{"type": "scale", "scale": [2, 3]}])", scale, 0);
  ASSERT_TRUE(of_all);
  EXPECT_NEAR(of_all->x, 0.75, 1e-12);
  EXPECT_NEAR(of_all->y, 1, 1e-12);
  for (const char* bad :
       {R"("coordinateTransformations": [{"type": "scale", "scale": [0.5]}])",
        R"("coordinateTransformations": [{"type": "scale", "scale": ["a", 1]}])",
        R"("coordinateTransformations": [{"type": "scale", "scale": [0, 1]}])", R"("coordinateTransformations": 7)"})
    EXPECT_EQ(size_of_level(axes, "", bad, 0).has_value(), std::string_view(bad).ends_with("7")) << bad;
  EXPECT_FALSE(size_of_level(R"({"name": "y"}, {"name": "x", "unit": "micrometer"})", "", scale, 0));
  EXPECT_FALSE(size_of_level(R"("y", "x")", "", scale, 0));
}

TEST_F(ZarrPictures, LevelsOfOmeZarr) {
  for (const int version : {2, 3}) {
    const fs::path path = fresh("p.ome.zarr");
    const std::string multiscales =
        R"("multiscales": [{"axes": [{"name": "c", "type": "channel"}, {"name": "y"}, {"name": "x"}], "datasets": [{"path": "0"}, {"path": "half/1"}, {"path": "2"}]}])";
    if (version == 2) {
      write_file(path / ".zgroup", R"({"zarr_format": 2})");
      write_file(path / ".zattrs", "{" + multiscales + "}");
    } else {
      write_file(path / "zarr.json",
                 R"({"zarr_format": 3, "node_type": "group", "attributes": {"ome": {)" + multiscales + "}}}");
    }
    const auto value = [](const Position& at) { return value_at(at[2], at[1], at[0]); };
    write_zarr(path / "0", {.version = version, .shape = {3, 60, 80}, .chunk = {1, 16, 16}, .codecs = {"blosc"}},
               value);
    write_zarr(path / "half/1", {.version = version, .shape = {3, 30, 40}, .chunk = {3, 16, 16}}, value);
    EXPECT_EQ(open_large_picture(path)->shape(), (Shape{80, 60}));
    EXPECT_EQ(blocks_fault(*open_large_picture(path), luma_at, 1), "");
    ReadOptions options;
    options.level = 1;
    EXPECT_EQ(open_large_picture(path, options)->shape(), (Shape{40, 30}));
    EXPECT_EQ(blocks_fault(*open_large_picture(path, options), luma_at, 2), "");
    options.level = 2;
    expect_sentence<IoError>(path, "has no array at its level 2", [&] { open_large_picture(path, options); });
    options.level = 3;
    expect_sentence<InvalidArgument>(path, "level 3 does not exist: the picture has 3 levels",
                                     [&] { open_large_picture(path, options); });
    // On its own a level has no names of axes.
    expect_sentence<IoError>(path / "half/1", "whose names do not say", [&] { open_large_picture(path / "half/1"); });
  }
}

TEST_F(ZarrPictures, AChunkIsDecodedOnce) {
  const fs::path path = fresh();
  write_zarr(path, {.shape = {200, 300}, .chunk = {32, 32}, .shard = {64, 64}, .codecs = {"zstd"}}, flat);
  const auto picture = open_large_picture(path);
  std::vector<std::uint8_t> row(300 * 3);
  for (std::int64_t y = 0; y < 200; y += 3)
    picture->read(0, y, View(row.data(), 300, std::min<std::int64_t>(3, 200 - y)));
  EXPECT_EQ(picture->tiles_decoded(), 7u * 10u);
  for (const int threads : {1, 3, 64}) {
    ReadOptions options;
    options.threads = threads;
    EXPECT_EQ(blocks_fault(*open_large_picture(path, options), value_at, 5, 10), "");
  }
  ReadOptions options;
  options.memory_limit = 1000;
  expect_sentence<OutOfMemory>(path, "more than the 1000 bytes that were allowed",
                               [&] { open_large_picture(path, options); });
}

TEST_F(ZarrPictures, TruncatedAndFlippedChunks) {
  std::mt19937 random(5);
  for (const char* codec : {"", "gzip", "zstd", "blosc", "crc32c"})
    for (const bool sharded : {false, true}) {
      SCOPED_TRACE(std::string(codec) + (sharded ? " sharded" : ""));
      Zarr z{.shape = {40, 40}, .chunk = {20, 20}};
      if (sharded) z.shard = {40, 40};
      if (*codec) z.codecs = {codec};
      const fs::path path = fresh(), chunk = path / "c/0/0";
      write_zarr(path, z, flat);
      const std::string whole = bytes_in(chunk);
      const auto picture_fault = [&] { return block_fault(*open_large_picture(path), value_at, 0, 0, 40, 40); };
      ASSERT_EQ(picture_fault(), "");
      for (std::size_t length = 0; length < whole.size(); length += 1 + whole.size() / 23) {
        write_file(chunk, whole.substr(0, length));
        expect_sentence<IoError>(path, "chunk c/0/0", [&] { picture_fault(); });
      }
      int wrong = 0;
      for (int i = 0; i < 60; ++i) {
        std::string flipped = whole;
        const std::size_t at = random() % whole.size();
        flipped[at] = static_cast<char>(flipped[at] ^ 1 << random() % 8);
        write_file(chunk, flipped);
        try {
          if (!picture_fault().empty()) ++wrong;  // without a checksum nobody can tell
        } catch (const IoError& error) {
          EXPECT_TRUE(std::string(error.what()).starts_with(path.string() + ": chunk c/0/0")) << error.what();
        }
      }
      if (std::string(codec) == "crc32c" || std::string(codec) == "gzip") {
        EXPECT_EQ(wrong, 0);
      } else if (!*codec) {
        EXPECT_GT(wrong, 0) << "the bytes are looked at";
      }
    }
}

TEST_F(ZarrPictures, ABombIsBounded) {
  // A chunk that says 400 bytes and holds 100 MB, and one of another chunk's size.
  for (const char* codec : {"gzip", "zstd", "blosc"}) {
    const fs::path path = fresh();
    const Zarr z{.shape = {20, 20}, .chunk = {20, 20}, .codecs = {codec}};
    write_zarr(path, z, flat);
    for (const std::size_t bytes : {std::size_t{100} << 20, std::size_t{399}, std::size_t{401}}) {
      write_file(path / "c/0/0", test::coded(std::string(bytes, '\0'), codec, 1));
      std::vector<std::uint8_t> block(400);
      const auto picture = open_large_picture(path);
      expect_sentence<IoError>(path, "chunk c/0/0", [&] { picture->read(0, 0, View(block.data(), 20, 20)); });
    }
  }
}

TEST_F(ZarrPictures, MetadataThatAreNotRead) {
  const fs::path path = fresh();
  const std::string good = metadata_of({.shape = {20, 30}, .chunk = {8, 8}, .shard = {16, 16}, .codecs = {"zstd"}});
  const std::string good2 = metadata_of({.version = 2, .shape = {20, 30}, .chunk = {8, 8}, .codecs = {"zlib"}});
  const auto with = [&](std::string text, const std::string& was, const std::string& is) {
    const std::size_t at = text.find(was);
    EXPECT_NE(at, std::string::npos) << was;
    return text.replace(at, was.size(), is);
  };
  const auto refused = [&](const char* file, const std::string& text, const char* words) {
    fs::remove_all(path);
    write_file(path / file, text);
    expect_sentence<IoError>(path, words, [&] { open_large_picture(path); });
  };
  write_file(path / "zarr.json", good);
  EXPECT_EQ(open_large_picture(path)->shape(), (Shape{30, 20}));
  refused("zarr.json", "", "is not JSON");
  refused("zarr.json", "[1]", "holds [1] instead of an object");
  for (const std::string& deep : test::deep_json_texts(33)) refused("zarr.json", deep, "nests more than 32 levels");
  for (const std::string& deep : test::deep_json_texts(100'000))
    refused("zarr.json", deep, "nests more than 32 levels");
  for (const std::string& deep : test::deep_json_texts(32)) refused("zarr.json", deep, "is not of Zarr version 3");
  refused("zarr.json", std::string(100'000, '['), "nests more than 32 levels");
  refused("zarr.json", with(good, "\"fill_value\": 0", "\"fill_value\": " + test::deep_json_texts(100'000)[1]),
          "nests more than 32 levels");  // printing it would recurse
  for (std::size_t length = 0; length < good.size(); length += 11) refused("zarr.json", good.substr(0, length), "");
  refused("zarr.json", with(good, "\"zarr_format\": 3", "\"zarr_format\": 4"), "is not of Zarr version 3");
  refused("zarr.json", with(good, "uint8", "complex64"), "elements of type 'complex64'");
  refused("zarr.json", with(good, "[20, 30]", "[20, -30]"), "a bad length: -30");
  refused("zarr.json", with(good, "[20, 30]", "[20, 1e3]"), "a bad length");
  refused("zarr.json", with(good, "[20, 30]", "[20, 18446744073709551615]"), "a bad length");
  refused("zarr.json", with(good, "[20, 30]", "[20, 9223372036854775807]"), "an axis of 9223372036854775807 elements");
  refused("zarr.json", with(good, "[20, 30]", "[20, 30, 1]"), "shape of 3 axes, and chunks of 2");
  refused("zarr.json", with(good, "[16, 16]", "[0, 16]"), "a bad length: 0");
  refused("zarr.json", with(good, "[16, 16]", "[4611686018427387904, 16]"), "chunks of more than 2^40 bytes");
  refused("zarr.json", with(good, "[16, 16]", "[20, 16]"), "not divided evenly");
  refused("zarr.json", with(good, "\"zstd\"", "\"zfp\""), "the codec 'zfp'");
  refused("zarr.json", with(good, "{\"name\": \"zstd\"", "{\"name\": \"gzip\"}, {\"name\": \"zstd\""),
          "compressed twice");
  refused("zarr.json", with(good, "\"fill_value\": 0", "\"fill_value\": 256"),
          "a fill value that its type cannot hold: 256");
  refused("zarr.json", with(good, "\"fill_value\": 0", "\"fill_value\": \"x\\n\""), "a fill value");
  refused("zarr.json", with(good, "\"array\"", "\"node\""), "neither an array nor a group");
  refused("zarr.json", with(good, "\"array\"", "\"group\""), "name an array or a picture inside it");
  refused(".zarray", with(good2, "\"C\"", "\"F\""), "Fortran order");
  refused(".zarray", with(good2, "|u1", "<u3"), "elements of type '<u3'");
  refused(".zarray", with(good2, "|u1", "|O"), "elements of type '|O'");
  refused(".zarray", with(good2, "\"zlib\"", "\"lzma\""), "compressed by 'lzma'");
  refused(".zarray", with(good2, "\"filters\": null", "\"filters\": [{\"id\": \"delta\"}]"), "has filters");
  refused(".zattrs", R"({"multiscales": [{"datasets": [{"path": "../../secret"}]}]})", "lies outside it");
  refused(".zattrs", R"({"multiscales": [{"datasets": [{"path": "/etc"}]}]})", "lies outside it");
  refused(".zattrs", R"({"multiscales": [{"datasets": [{"path": "none"}]}]})", "has no array at its level none");
  fs::remove_all(path);
  fs::create_directories(path);
  expect_sentence<IoError>(path, "is a folder that holds no Zarr array", [&] { open_large_picture(path); });
  // A shard whose index would be larger than memory.
  write_file(path / "zarr.json", with(with(good, "[16, 16]", "[1048576, 1048576]"), "[8, 8]", "[1, 2]"));
  expect_sentence<OutOfMemory>(path, "bytes of memory", [&] { open_large_picture(path); });
}

TEST_F(ZarrPictures, WithoutThePlugIn) {
  const fs::path path = fresh();
  write_zarr(path, {.shape = {20, 20}, .chunk = {20, 20}, .codecs = {"zstd"}}, flat);
  // In another process, which looks for the plug-in anew: this one has it already.
  const std::string program = fs::read_symlink("/proc/self/exe").string();
  const std::string command = "AREAL_PLUGIN_DIR=/nowhere AREAL_TEST_ZARR=" + path.string() + " " + program +
                              " --gtest_filter=AnotherProcess.* >/dev/null";
  EXPECT_EQ(std::system(command.c_str()), 0);
}

TEST(AnotherProcess, HasNoPlugIn) {
  const char* path = std::getenv("AREAL_TEST_ZARR");
  if (!path) return;  // asked for above alone
  expect_sentence<Unavailable>(path, "areal_codecs.so is not in /nowhere", [&] { open_large_picture(path); });
}

}  // namespace
}  // namespace areal::media
