// Chunked tables that are damaged, cut short or hostile: one sentence each, which names the path and what.

#include <sys/stat.h>
#include <algorithm>
#include "chunked_cases.hpp"
#include "deep_json.hpp"

namespace areal::test {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t tile = 64;

class ChunkedDamage : public ::testing::Test {
 protected:
  void SetUp() override {
    write_chunked_table(path, image.shape(), image.type, image.reader(), {.tile = tile});
    good = files_in(path);
    regions = random_regions(201, 300, image.width, image.height);
    regions.push_back({0, 0, image.width, image.height});
    regions.push_back({1, 1, image.width - 1, image.height - 1});
    for (std::int64_t y = 1; y < image.height; y += tile)  // a corner in each tile
      for (std::int64_t x = 1; x < image.width; x += tile) regions.push_back({x, y, 1, 1});
  }
  void put(const std::string& name, const std::string& bytes) const { scratch.write("t/" + name, bytes); }
  void restore(const std::string& name) const { put(name, good.at(name)); }
  static void expect_one_line(const std::string& what) {
    EXPECT_EQ(what.find('\n'), std::string::npos) << what;
    EXPECT_LT(what.size(), 400u + std::string(fs::temp_directory_path()).size()) << what;
  }
  /// The only finding of verify(), which begins with the object's path.
  std::string only_finding(const std::string& name) const {
    const std::vector<std::string> findings = ChunkedTable(path).verify();
    EXPECT_EQ(findings.size(), 1u) << name;
    if (findings.empty()) return {};
    EXPECT_TRUE(findings[0].starts_with((path / name).string() + ": ")) << findings[0];
    expect_one_line(findings[0]);
    return findings[0];
  }

  const TestImage image = random_image(200, 4200, 300);
  const Scratch scratch;
  const fs::path path = scratch / "t";
  std::map<std::string, std::string> good;
  std::vector<Region> regions;
};

TEST_F(ChunkedDamage, AFlippedByteOfEachObjectIsNamed) {
  std::mt19937 random(202);
  const std::size_t stored = 4 * tile * tile + 4;
  EXPECT_TRUE(ChunkedTable(path).verify().empty());
  for (const auto& [name, bytes] : good) {
    if (name.ends_with("zarr.json")) continue;
    const bool is_shard = name.starts_with("local/");
    std::vector<std::size_t> places{random() % bytes.size()};
    if (is_shard) places = {random() % stored, stored + random() % stored, bytes.size() - 1 - random() % 1000};
    for (const std::size_t at : places) {
      std::string bad = bytes;
      bad[at] = static_cast<char>(bad[at] ^ (1 << random() % 8));
      put(name, bad);
      const std::string finding = only_finding(name);
      EXPECT_TRUE(finding.ends_with(" is damaged, as its checksum tells")) << finding;
      if (is_shard) {
        const std::string shard_column = name.substr(name.rfind('/') + 1);
        const std::size_t columns = shard_column == "0" ? 64 : 2, tiles = at / stored;
        const std::string expected = at >= bytes.size() - 16 * 64 * 64 - 4
                                         ? "the index of shard (0, " + shard_column + ") of local"
                                         : "tile (" + std::to_string(tiles / columns) + ", " +
                                               std::to_string((shard_column == "0" ? 0 : 64) + tiles % columns) +
                                               ") of local";
        EXPECT_NE(finding.find(expected), std::string::npos) << finding << " lacks " << expected;
        EXPECT_EQ(sentence_of<IoError>([&] { ChunkedTable(path).sums(regions, {.threads = 1}); }), finding);
      } else {
        const std::string array = name.substr(0, name.find('/'));
        EXPECT_NE(finding.find(array + " of tile row "), std::string::npos) << finding;
      }
    }
    restore(name);
  }
  EXPECT_TRUE(ChunkedTable(path).verify().empty());
}

TEST_F(ChunkedDamage, AllFindingsInOrder) {
  for (const char* name : {"local/c/0/1", "top/c/3/0", "left/c/0/1"}) {
    std::string bad = good.at(name);
    bad[5] = static_cast<char>(bad[5] ^ 4);
    put(name, bad);
  }
  fs::remove(path / "corner/c/2/0");
  for (const int threads : {1, 0}) {
    const std::vector<std::string> findings = ChunkedTable(path).verify({.threads = threads});
    ASSERT_EQ(findings.size(), 4u);
    for (std::size_t i = 0; i < 4; ++i)
      EXPECT_NE(findings[i].find(
                    std::vector<std::string>{"tile (0, 64) of local is damaged", "left of tile row 1 is damaged",
                                             "corner of tile row 2 is missing", "top of tile row 3 is damaged"}[i]),
                std::string::npos)
          << findings[i];
    EXPECT_EQ(ChunkedTable(path).verify({.threads = threads, .most_findings = 2}).size(), 2u);
  }
}

TEST_F(ChunkedDamage, ObjectsThatAreLostOrCutShort) {
  for (const auto& [name, bytes] : good) {
    const bool is_metadata = name.ends_with("zarr.json");
    for (const std::size_t size : {bytes.size(), std::size_t{0}, std::size_t{1}, bytes.size() / 3, bytes.size() - 1}) {
      if (size == bytes.size())
        fs::remove(path / name);
      else
        put(name, bytes.substr(0, size));
      if (is_metadata) {
        expect_one_line(sentence_of<IoError>([&] { ChunkedTable table(path); }));
        continue;
      }
      const ChunkedTable table(path);
      EXPECT_GE(table.verify().size(), 1u) << name << " " << size;
      for (const bool checked : {true, false}) {
        // Sums notice unless what they read is there: numbers of carries before a last byte that is lost.
        try {
          const auto sums = table.sums(regions, {.threads = 1, .checked = checked});
          EXPECT_TRUE(size + 1 == bytes.size() && !name.starts_with("local")) << name << " " << size;
          EXPECT_EQ(sums[0], image.sum(regions[0]));
        } catch (const IoError& error) {
          expect_one_line(error.what());
          EXPECT_TRUE(std::string(error.what()).starts_with((path / name).string() + ": ")) << error.what();
        }
      }
    }
    restore(name);
  }
}

TEST_F(ChunkedDamage, HostileIndexes) {
  const std::string shard = good.at("local/c/0/0");
  const std::size_t index = shard.size() - 16 * 64 * 64 - 4;
  for (const std::size_t place : {std::size_t{0}, std::size_t{4 * 64 + 63}})
    for (const std::uint64_t wrong :
         {std::uint64_t{1}, std::uint64_t{1} << 31, std::uint64_t{1} << 62, (std::uint64_t{1} << 63) - 1,
          std::uint64_t{1} << 63, ~std::uint64_t{0}, ~std::uint64_t{0} - 16387, std::uint64_t{shard.size()}})
      for (const std::size_t field : {0, 8}) {
        std::string bad = shard;
        std::memcpy(bad.data() + index + 16 * place + field, &wrong, 8);
        const std::uint32_t crc = crc32c_by_definition(bad.substr(index, 16 * 64 * 64));
        std::memcpy(bad.data() + bad.size() - 4, &crc, 4);
        put("local/c/0/0", bad);
        only_finding("local/c/0/0");
        expect_one_line(sentence_of<IoError>([&] { ChunkedTable(path).sums(regions); }));
        if (field == 8 || wrong > shard.size())
          expect_one_line(sentence_of<IoError>([&] { ChunkedTable(path).sums(regions, {.checked = false}); }));
      }
}

struct Hostile {
  std::string file, from, to, sentence;
};

TEST_F(ChunkedDamage, HostileMetadata) {
  // The numbers and words of the metadata as they are written, one by one replaced.
  const std::vector<Hostile> cases{
      {"zarr.json", "\"complete\": true", "\"done\": true", "the table is not complete"},
      {"zarr.json", "\"complete\": true", "\"complete\": \"true\"", "the table is not complete"},
      {"zarr.json", "\"version\": 1", "\"version\": 2", "attribute version is 2: this areal reads version 1"},
      {"zarr.json", "\"version\": 1", "\"version\": true", "attribute version is true: this areal reads version 1"},
      {"zarr.json", "\"version\": 1", "\"version\": 1.0", "attribute version is 1.0"},
      {"zarr.json", "\"version\"", "\"versions\"", "it is not a chunked table: the group has no attribute version"},
      {"zarr.json", "\"none\"", "\"zero\"", "attribute border is \"zero\": chunked tables have \"none\""},
      {"zarr.json", "\"uint8\"", "\"float32\"", "attribute dtype is \"float32\": it may be bool, uint8, uint16"},
      {"zarr.json", "\"uint8\"", "[\"uint8\"]", "attribute dtype is [\"uint8\"]"},
      {"zarr.json", "\"group\"", "\"array\"", "it is not a Zarr group of format 3"},
      {"zarr.json", "\"zarr_format\": 3", "\"zarr_format\": 2", "it is not a Zarr group of format 3"},
      {"zarr.json", "{", "", "it is not JSON"},
      {"zarr.json", "\"none\"", "\"\xff\"", "it is not JSON"},
      {"zarr.json", "\"version\": 1", "\"version\": 1e999", "it is not JSON"},
      {"zarr.json", "\"version\"", "\"x\": " + std::string(100000, '['), "levels"},
      {"local/zarr.json", "300,\n  4200", "300", "local has no shape of two numbers"},
      {"local/zarr.json", "300,", "-300,", "local has no shape of two numbers"},
      {"local/zarr.json", "300,", "300.0,", "local has no shape of two numbers"},
      {"local/zarr.json", "300,", "9223372036854775808,", "a side may have 0 to 2^40 pixels"},
      {"local/zarr.json", "300,", "1099511627777,", "a side may have 0 to 2^40 pixels"},
      {"local/zarr.json", "4200", "4199", "top: shape is [5,4200], where the format has [5,4199]"},
      {"local/zarr.json", "300,\n  4200", "1099511627776,\n  1099511627776", "top: shape is [5,4200]"},
      {"local/zarr.json", "    64,\n     64", "    0,\n     0", "tile 0: of uint8 pixels it may be 64, 128"},
      {"local/zarr.json", "    64,\n     64", "    8192,\n     8192", "tile 8192: of uint8 pixels it may be 64, 128"},
      {"local/zarr.json", "    64,\n     64", "    64,\n     128", "local: codecs is"},
      {"local/zarr.json", "\"end\"", "\"start\"", "local: codecs is"},
      {"local/zarr.json", "\"little\"", "\"big\"", "local: codecs is"},
      {"local/zarr.json", "\"uint32\"", "\"uint64\"",
       "local: data_type is \"uint64\", where the format has \"uint32\""},
      {"local/zarr.json", "\"fill_value\": 0", "\"fill_value\": 0.0", "local: fill_value is 0.0"},
      {"top/zarr.json", "\"uint64\"", "\"int64\"", "top: data_type is \"int64\""},
      {"top/zarr.json", "   1,\n    4200", "   5,\n    4200", "top: chunk_grid is"},
      {"left/zarr.json", "\"/\"", "\".\"", "left: chunk_key_encoding is"},
      {"corner/zarr.json", "\"crc32c\"", "\"zstd\"", "corner: codecs is"},
      {"corner/zarr.json", "\"attributes\"", "\"must_understand\": {}, \"attributes\"",
       "corner: must_understand is {}"},
      {"corner/zarr.json", "\"fill_value\": 0", "\"fill_values\": 0", "corner: fill_value is null"},
  };
  for (const Hostile& hostile : cases) {
    std::string text = good.at(hostile.file);
    const std::size_t at = text.find(hostile.from);
    ASSERT_NE(at, std::string::npos) << hostile.from << " in\n" << text;
    put(hostile.file, text.replace(at, hostile.from.size(), hostile.to));
    const std::string what = sentence_of<IoError>([&] { ChunkedTable table(path); });
    EXPECT_TRUE(what.starts_with(path.string())) << what;
    EXPECT_NE(what.find(hostile.sentence), std::string::npos) << what << "\nlacks\n" << hostile.sentence;
    expect_one_line(what);
    restore(hostile.file);
  }
  for (const int levels : {33, 100'000})
    for (const std::string& deep : deep_json_texts(levels)) {
      put("zarr.json", deep);
      expect_sentence<IoError>(path / "zarr.json", "it nests more than 32 levels", [&] { ChunkedTable table(path); });
    }
  put("zarr.json", std::string(2 << 20, ' '));
  expect_sentence<IoError>(path / "zarr.json", "more than any need", [&] { ChunkedTable table(path); });
}

TEST_F(ChunkedDamage, MetadataOfOtherWriters) {
  for (const char* name : {"local/zarr.json", "top/zarr.json", "left/zarr.json", "corner/zarr.json"}) {
    std::string text = good.at(name);
    text.replace(text.find("\"attributes\": {}"), 16,
                 R"("attributes": {"unit": "count"}, "storage_transformers": [], "dimension_names": ["y", "x"])");
    text.replace(text.find("\"crc32c\""), 8, R"("crc32c", "configuration": {})");
    put(name, text);
  }
  EXPECT_EQ(ChunkedTable(path).sums({regions[0]})[0], image.sum(regions[0]));
}

TEST_F(ChunkedDamage, PathsThatAreNoTables) {
  expect_sentence<IoError>(scratch / "none" / "zarr.json", "the metadata is missing",
                           [&] { ChunkedTable table(scratch / "none"); });
  scratch.write("file", "x");
  expect_sentence<IoError>(scratch / "file" / "zarr.json", "the metadata is missing",
                           [&] { ChunkedTable table(scratch / "file"); });
  fs::create_directories(scratch / "folder" / "zarr.json");
  expect_sentence<IoError>(scratch / "folder" / "zarr.json", "it is no file",
                           [&] { ChunkedTable table(scratch / "folder"); });
  ASSERT_EQ(::mkfifo((scratch / "pipe").c_str(), 0600), 0);  // and does not wait for a writer
  fs::remove(path / "top/c/0/0");
  fs::create_symlink(scratch / "pipe", path / "top/c/0/0");
  expect_one_line(sentence_of<IoError>([&] { ChunkedTable(path).sums(regions); }));
}

// A table of 2^80 pixels of which nothing is there ends at once.
TEST_F(ChunkedDamage, AHugeEmptyTable) {
  const std::string side = "1099511627776", tiles = "17179869184";
  const auto replace_all = [](std::string text, const std::string& from, const std::string& to) {
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
      text.replace(at, from.size(), to);
    return text;
  };
  for (const char* name : {"local/zarr.json", "top/zarr.json", "left/zarr.json", "corner/zarr.json"}) {
    std::string text = replace_all(replace_all(good.at(name), "4200", side), "300", side);
    text = replace_all(replace_all(text, " 5,", " " + tiles + ","), " 66", " " + tiles);
    text = replace_all(text, "5\n", tiles + "\n");
    put(name, text);
  }
  const ChunkedTable table(path);
  EXPECT_EQ(table.shape().width, std::int64_t{1} << 40);
  EXPECT_EQ(table.verify({.most_findings = 3}).size(), 3u);
  const std::int64_t last = (std::int64_t{1} << 40) - 1;
  expect_one_line(sentence_of<IoError>([&] { table.sums({{last, last, 1, 1}}); }));
}

}  // namespace
}  // namespace areal::test
