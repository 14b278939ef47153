// Chunked tables against a reader of the specification: what is written, what is answered, what memory it takes.

#include <areal/sat.hpp>
#include <areal/type_pair.hpp>
#include <atomic>
#include <set>
#include "chunked/crc32c.hpp"
#include "chunked_cases.hpp"

namespace areal::test {
namespace {

namespace fs = std::filesystem;

void write(const fs::path& path, const TestImage& image, ChunkedWriteOptions options = {}) {
  options.sync = false;  // command_durable_test has that; here it would only take time
  write_chunked_table(path, image.shape(), image.type, image.reader(), options);
}

TEST(ChunkedChecksum, IsCastagnolis) {
  EXPECT_EQ(crc32c_by_definition("123456789"), 0xE3069283u);  // RFC 3720, B.4 and the catalogue of CRCs
  std::mt19937 random(1);
  std::string bytes(1000, '\0');
  for (char& c : bytes) c = static_cast<char>(random());
  for (std::size_t begin : {0, 1, 3, 8})
    for (std::size_t size = 0; begin + size < bytes.size(); size += size < 40 ? 1 : 131) {
      const std::uint32_t expected = crc32c_by_definition(bytes.substr(begin, size));
      ASSERT_EQ(chunked::crc32c(bytes.data() + begin, size), expected) << begin << " " << size;
      ASSERT_EQ(chunked::crc32c_by_table(bytes.data() + begin, size), expected) << begin << " " << size;
      const std::size_t half = size / 3;
      const std::uint32_t first = chunked::crc32c(bytes.data() + begin, half);
      ASSERT_EQ(chunked::crc32c(bytes.data() + begin + half, size - half, first), expected);
      ASSERT_EQ(chunked::crc32c_by_table(bytes.data() + begin + half, size - half, first), expected);
    }
}

TEST(ChunkedTable, TheCheckFindsOneWrongNumber) {
  const TestImage image = random_image(2, 200, 150);
  const Scratch scratch;
  write(scratch / "t", image, {.tile = 64});
  ASSERT_EQ(differences(scratch / "t", 64, image), 0u);
  for (const char* name : {"local/c/0/0", "top/c/1/0", "left/c/0/2", "corner/c/2/0"}) {
    const std::string good = whole_file(scratch / "t" / name);
    std::string bad = good;
    bad[9] = static_cast<char>(bad[9] + 1);
    scratch.write(std::string("t/") + name, bad);
    EXPECT_GE(differences(scratch / "t", 64, image), 2u) << name;  // an entry and a checksum
    scratch.write(std::string("t/") + name, good);
  }
  EXPECT_EQ(differences(scratch / "t", 64, image), 0u);
}

void check_table(const TestImage& image, std::int64_t tile, unsigned seed, std::uint64_t memory = 0) {
  SCOPED_TRACE(testing::Message() << image.width << "x" << image.height << " " << name_of(image.type) << " tile "
                                  << tile << " seed " << seed);
  const Scratch scratch;
  write(scratch / "t", image, {.tile = tile, .memory = memory});
  ASSERT_EQ(differences(scratch / "t", tile, image), 0u);
  const ChunkedTable table(scratch / "t");
  EXPECT_EQ(table.shape(), image.shape());
  EXPECT_EQ(table.type(), image.type);
  EXPECT_EQ(table.tile(), tile);
  EXPECT_EQ(table.verify(), std::vector<std::string>());
  const std::vector<Region> regions = random_regions(seed, 40, image.width, image.height);
  std::vector<std::uint64_t> expected;
  for (const Region& region : regions) expected.push_back(image.sum(region));
  for (const bool checked : {true, false})
    for (const int threads : {1, 0}) EXPECT_EQ(table.sums(regions, {.threads = threads, .checked = checked}), expected);
  EXPECT_EQ(table.sums(regions, {.memory = static_cast<std::uint64_t>(4 * tile * tile) + (1 << 20)}), expected);
}

TEST(ChunkedTable, OfAnyShape) {
  unsigned seed = 10;
  for (const auto& [width, height] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {1, 1}, {1, 64}, {64, 1}, {1, 131}, {131, 1}, {63, 65}, {64, 64}, {128, 192}, {127, 251}, {257, 129}}) {
    check_table(random_image(seed, width, height), 64, seed);
    check_table(random_image(seed, width, height, Type::u16), 128, seed);
    ++seed;
  }
  check_table(random_image(seed, 300, 200), 4096, seed);
}

TEST(ChunkedTable, OfSeveralShards) {
  check_table(random_image(30, 4099, 67), 64, 30);
  check_table(random_image(31, 67, 4099), 64, 31, 3 << 20);
  check_table(random_image(32, 4097, 70, Type::u16), 256, 32);
  check_table(random_image(33, 70, 8193), 1024, 33);
  check_table(random_image(34, 4096, 40), 512, 34);
}

TEST(ChunkedTable, WithoutPixels) {
  const Scratch scratch;
  for (const auto& [width, height] : {std::pair<std::int64_t, std::int64_t>{0, 0}, {0, 7}, {7, 0}}) {
    const std::string name = std::to_string(width) + "x" + std::to_string(height);
    const TestImage image{width, height, Type::u8, {}};
    write(scratch / name, image);
    std::set<std::string> names;
    for (const auto& [file, bytes] : files_in(scratch / name)) names.insert(file);
    EXPECT_EQ(names, (std::set<std::string>{"zarr.json", "local/zarr.json", "top/zarr.json", "left/zarr.json",
                                            "corner/zarr.json"}));
    const ChunkedTable table(scratch / name);
    EXPECT_EQ(table.shape(), image.shape());
    EXPECT_EQ(table.sums({{0, 0, width, height}}), std::vector<std::uint64_t>{0});
    EXPECT_TRUE(table.verify().empty());
  }
}

// 255 * 4096^2 and 65535 * 256^2 are the largest sums that a tile can have, and fit 32 bits.
TEST(ChunkedTable, LocalTablesAtTheirLimit) {
  static_assert(255ull * 4096 * 4096 == 4278190080ull && 4278190080ull < (1ull << 32));
  static_assert(65535ull * 256 * 256 == 4294901760ull && 4294901760ull < (1ull << 32));
  for (const auto& [type, tile, most] : {std::tuple{Type::u8, 4096, 255u}, {Type::u16, 256, 65535u}}) {
    const Shape shape{4096 + 3, tile};
    const Scratch scratch;
    write_chunked_table(scratch / "t", shape, type,
                        [](std::int64_t, std::int64_t, const View& block) {
                          for (std::int64_t y = 0; y < block.shape.height; ++y)
                            std::memset(block.row(y), 0xFF,
                                        static_cast<std::size_t>(block.shape.width) * size_of(block.type));
                          return block;
                        },
                        {.tile = tile});
    const std::string shard = whole_file(scratch / "t" / "local/c/0/0");
    const auto last = static_cast<std::size_t>(4 * tile) * static_cast<std::size_t>(tile) - 4;
    EXPECT_EQ(number_at<std::uint32_t>(shard, last), static_cast<std::uint64_t>(most) * tile * tile);
    const ChunkedTable table(scratch / "t");
    const std::vector<Region> regions{{0, 0, shape.width, shape.height}, {1, 1, 4096, tile - 1}, {0, 0, tile, tile}};
    std::vector<std::uint64_t> expected;
    for (const Region& r : regions) expected.push_back(static_cast<std::uint64_t>(most) * r.width * r.height);
    EXPECT_EQ(table.sums(regions), expected);
    // One more pixel a side would wrap.
    EXPECT_GT(static_cast<std::uint64_t>(most) * (2 * tile) * (2 * tile), std::uint64_t{1} << 32);
  }
}

// Entries of the table wrap where its carries are near 2^64; sums of regions stay what they are. No image that a test
// can write is so large, so the carries are shifted: all entries of `top`, `left` and `corner` by one number d change T
// by d, which every sum of a region that does not touch the first row or column leaves out.
TEST(ChunkedTable, SumsAreExactWhereEntriesWrap) {
  const TestImage image = random_image(40, 300, 260);
  const Scratch scratch;
  write(scratch / "t", image, {.tile = 64});
  const std::uint64_t shift = ~std::uint64_t{0} - 3'000'000;
  for (const char* array : {"top/", "left/", "corner/"})
    for (auto [name, bytes] : files_in(scratch / "t")) {
      if (!name.starts_with(array) || name.ends_with("zarr.json")) continue;
      for (std::size_t at = 0; at + 12 <= bytes.size(); at += 8) {
        const std::uint64_t value = number_at<std::uint64_t>(bytes, at) + shift;
        std::memcpy(bytes.data() + at, &value, 8);
      }
      const std::uint32_t crc = crc32c_by_definition(bytes.substr(0, bytes.size() - 4));
      std::memcpy(bytes.data() + bytes.size() - 4, &crc, 4);
      scratch.write("t/" + name, bytes);
    }
  const ChunkedTable table(scratch / "t");
  EXPECT_TRUE(table.verify().empty());
  std::vector<Region> regions;
  for (const Region& r : random_regions(41, 200, 299, 259)) regions.push_back({r.x + 1, r.y + 1, r.width, r.height});
  std::vector<std::uint64_t> expected;
  for (const Region& r : regions) expected.push_back(image.sum(r));
  EXPECT_EQ(table.sums(regions), expected);
  const std::uint64_t whole = table.sums({{0, 0, 300, 260}})[0];
  EXPECT_EQ(whole, image.sum({0, 0, 300, 260}) + shift);
  EXPECT_LT(whole, shift);  // it did wrap
}

// The squares of 8-bit pixels are an image of 16 bits, so that two tables give variances.
TEST(ChunkedTable, SquaresOfBytesAreATableOf16Bits) {
  const std::int64_t width = 700, height = 530;
  const auto pixel = [](std::int64_t x, std::int64_t y) { return x < 300 ? 255 : (7 * x + 11 * y + x * y) % 256; };
  const Scratch scratch;
  write_chunked_table(scratch / "t2", {width, height}, Type::u16,
                      [&](std::int64_t x, std::int64_t y, const View& block) {
                        for (std::int64_t v = 0; v < block.shape.height; ++v)
                          for (std::int64_t u = 0; u < block.shape.width; ++u)
                            static_cast<std::uint16_t*>(block.row(v))[u] =
                                static_cast<std::uint16_t>(pixel(x + u, y + v) * pixel(x + u, y + v));
                        return block;
                      });
  const ChunkedTable squares(scratch / "t2");
  std::mt19937 random(20261123);
  std::vector<Region> regions{{0, 0, 256, 256}, {0, 0, width, height}};
  for (int i = 0; i < 40; ++i) {
    const auto x = static_cast<std::int64_t>(random() % 700), y = static_cast<std::int64_t>(random() % 530);
    regions.push_back({x, y, static_cast<std::int64_t>(random()) % (width - x) + 1,
                       static_cast<std::int64_t>(random()) % (height - y) + 1});
  }
  const std::vector<std::uint64_t> sums = squares.sums(regions);
  for (std::size_t i = 0; i < regions.size(); ++i) {
    std::uint64_t right = 0;
    for (std::int64_t y = regions[i].y; y < regions[i].y + regions[i].height; ++y)
      for (std::int64_t x = regions[i].x; x < regions[i].x + regions[i].width; ++x)
        right += static_cast<std::uint64_t>(pixel(x, y) * pixel(x, y));
    EXPECT_EQ(sums[i], right) << i;
  }
}

// Blocks of the image's own memory, whose rows have gaps.
TEST(ChunkedTable, AnImageInMemoryIsNotCopied) {
  const TestImage image = random_image(51, 700, 300);
  std::vector<std::uint8_t> own(703 * 300);
  for (std::int64_t y = 0; y < 300; ++y)
    for (std::int64_t x = 0; x < 700; ++x)
      own[static_cast<std::size_t>(y * 703 + x)] = static_cast<std::uint8_t>(image.at(x, y));
  const Scratch scratch;
  write_chunked_table(scratch / "t", image.shape(), Type::u8,
                      [&](std::int64_t x, std::int64_t y, const View& block) {
                        return ConstView(own.data() + y * 703 + x, Type::u8, block.shape, 703);
                      },
                      {.tile = 64});
  const ChunkedTable table(scratch / "t");
  const std::vector<Region> regions{{0, 0, 700, 300}, {65, 3, 600, 297}, {699, 299, 1, 1}};
  const std::vector<std::uint64_t> sums = table.sums(regions);
  for (std::size_t i = 0; i < regions.size(); ++i) EXPECT_EQ(sums[i], image.sum(regions[i])) << i;
}

TEST(ChunkedTable, EveryPixelIsReadOnceInOrder) {
  const TestImage image = random_image(50, 4500, 300);
  std::vector<int> reads(image.pixels.size());
  std::atomic<int> inside = 0;
  std::int64_t last_shard = 0;
  const ImageReader plain = image.reader();
  const Scratch scratch;
  std::vector<std::int64_t> told;
  write_chunked_table(scratch / "t", image.shape(), image.type,
                      [&](std::int64_t x, std::int64_t y, const View& block) {
                        EXPECT_EQ(++inside, 1);
                        EXPECT_GE(x / 4096, last_shard);
                        last_shard = x / 4096;
                        for (std::int64_t v = y; v < y + block.shape.height; ++v)
                          for (std::int64_t u = x; u < x + block.shape.width; ++u)
                            ++reads[static_cast<std::size_t>(v * 4500 + u)];
                        const ConstView read = plain(x, y, block);
                        --inside;
                        return read;
                      },
                      {.tile = 128, .progress = [&](std::int64_t done, std::int64_t total) {
                         told.push_back(done);
                         EXPECT_EQ(total, 5);
                         return true;
                       }});
  EXPECT_TRUE(std::all_of(reads.begin(), reads.end(), [](int n) { return n == 1; }));
  EXPECT_EQ(told, (std::vector<std::int64_t>{1, 2, 3, 4, 5}));
  EXPECT_EQ(differences(scratch / "t", 128, image), 0u);
}

TEST(ChunkedTable, BytesDoNotDependOnThreadsAndMemory) {
  const TestImage image = random_image(51, 4200, 1100);
  const Scratch scratch;
  write(scratch / "a", image, {.tile = 64, .threads = 1});
  write(scratch / "b", image, {.tile = 64});
  const std::uint64_t least = least_chunked_memory(image.shape(), image.type, 64);
  write(scratch / "c", image, {.tile = 64, .memory = least});
  EXPECT_EQ(files_in(scratch / "a"), files_in(scratch / "b"));
  EXPECT_EQ(files_in(scratch / "a"), files_in(scratch / "c"));
  try {
    write(scratch / "d", image, {.tile = 64, .memory = least - 1});
    ADD_FAILURE();
  } catch (const OutOfMemory& error) {
    EXPECT_EQ(error.bytes(), least);
    EXPECT_NE(std::string(error.what()).find(std::to_string(least)), std::string::npos);
  }
  EXPECT_FALSE(fs::exists(scratch / "d"));
}

// 16 bytes per column and 1024 per row of tiles of a shard, for any height: docs/chunked-tables.md.
TEST(ChunkedTable, MemoryDoesNotGrowWithTheHeight) {
  for (const std::int64_t tile : {64, 1024, 4096}) {
    const Shape low{1 << 20, 4096}, high{1 << 20, std::int64_t{1} << 40};
    EXPECT_EQ(least_chunked_memory(low, Type::u8, tile), least_chunked_memory(high, Type::u8, tile));
    const auto carries = static_cast<std::uint64_t>(low.width) * static_cast<std::uint64_t>(8 + 32768 / tile);
    const auto block = static_cast<std::uint64_t>(5 * tile * tile);
    EXPECT_LE(least_chunked_memory(low, Type::u8, tile), carries + block + (3 << 20)) << tile;
  }
}

TEST(ChunkedTable, RegionsOutside) {
  const TestImage image = random_image(60, 150, 170);
  const Scratch scratch;
  write(scratch / "t", image, {.tile = 64});
  const ChunkedTable table(scratch / "t");
  const std::int64_t most = INT64_MAX, least = INT64_MIN;
  for (const Region& bad : {Region{140, 0, 11, 1},
                            {0, 160, 1, 11},
                            {-1, 0, 3, 3},
                            {0, 0, most, 1},
                            {most, 0, 1, 1},
                            {151, 0, 0, 0},
                            {least, least, most, most}}) {
    const std::string what = sentence_of<InvalidArgument>([&] { table.sums({Region{0, 0, 1, 1}, bad}); });
    EXPECT_TRUE(what.starts_with("region 1 (x ") && what.ends_with("reaches outside the image of 150x170")) << what;
  }
  for (const Region& bad : {Region{0, 0, -1, 1}, {5, 5, 1, least}})
    EXPECT_NE(sentence_of<InvalidArgument>([&] {
                table.sums({bad}, {.outside = Outside::clip});
              }).find("an extent may not be negative"),
              std::string::npos);
  const std::vector<Region> regions{{-9, -9, most, most},    {-5, 3, 5, 9},  {-5, 3, 6, 9},
                                    {149, 169, 9, 9},        {150, 0, 3, 3}, {least, least, most, most},
                                    {most, most, most, most}};
  const std::uint64_t whole = image.sum({0, 0, 150, 170});
  EXPECT_EQ(table.sums(regions, {.outside = Outside::clip}),
            (std::vector<std::uint64_t>{whole, 0, image.sum({0, 3, 1, 9}), image.at(149, 169), 0, 0, 0}));
  std::vector<std::uint64_t> few(1);
  EXPECT_NE(sentence_of<InvalidArgument>([&] { table.sums(regions, Span<std::uint64_t>(few)); }).find("out: 1 numbers"),
            std::string::npos);
}

TEST(ChunkedTable, ManyRegionsInSmallMemory) {
  const TestImage image = random_image(61, 4300, 500);
  const Scratch scratch;
  write(scratch / "t", image, {.tile = 64});
  const ChunkedTable table(scratch / "t");
  const std::vector<Region> regions = random_regions(62, 20000, 4300, 500);
  const std::vector<std::uint64_t> sums = table.sums(regions);
  const std::vector<std::uint64_t> all = image.table();
  const auto entry = [&](std::int64_t x, std::int64_t y) {
    return x < 0 || y < 0 ? 0 : all[static_cast<std::size_t>(y * 4300 + x)];
  };
  for (std::size_t i = 0; i < regions.size(); ++i) {
    const Region& r = regions[i];
    const std::int64_t right = r.x + r.width - 1, bottom = r.y + r.height - 1;
    const std::uint64_t expected =
        entry(right, bottom) - entry(r.x - 1, bottom) - entry(right, r.y - 1) + entry(r.x - 1, r.y - 1);
    ASSERT_EQ(sums[i], r.width == 0 || r.height == 0 ? 0 : expected) << i;
  }
  EXPECT_EQ(table.sums(regions, {.threads = 1, .memory = 1 << 20, .checked = false}), sums);
  try {
    table.sums(regions, {.memory = 1000});
    ADD_FAILURE();
  } catch (const OutOfMemory& error) {
    EXPECT_EQ(table.sums(Span<const Region>(regions.data(), 3), {.memory = error.bytes()}),
              std::vector<std::uint64_t>(sums.begin(), sums.begin() + 3));
  }
}

TEST(ChunkedTable, BadArguments) {
  const TestImage image = random_image(63, 10, 10);
  const Scratch scratch;
  const auto refused = [&](const Shape& shape, Type type, std::int64_t tile) {
    return sentence_of<InvalidArgument>(
        [&] { write_chunked_table(scratch / "t", shape, type, image.reader(), {.tile = tile}); });
  };
  EXPECT_EQ(refused({10, 10}, Type::u8, 100),
            "tile 100: of uint8 pixels it may be 64, 128, 256, 512, 1024, 2048, 4096");
  EXPECT_EQ(refused({10, 10}, Type::u16, 512), "tile 512: of uint16 pixels it may be 64, 128, 256");
  EXPECT_EQ(refused({10, 10}, Type::u8, -64),
            "tile -64: of uint8 pixels it may be 64, 128, 256, 512, 1024, 2048, 4096");
  EXPECT_NE(refused({10, 10}, Type::f32, 64).find("pixels of 32f; chunked tables are of 8u and 16u"),
            std::string::npos);
  EXPECT_NE(refused({10, 10, 3}, Type::u8, 64).find("3 channels"), std::string::npos);
  EXPECT_NE(refused({(std::int64_t{1} << 40) + 1, 10}, Type::u8, 64).find("0 to 2^40 pixels"), std::string::npos);
  EXPECT_NE(refused({-1, 10}, Type::u8, 64).find("0 to 2^40 pixels"), std::string::npos);
  EXPECT_NE(sentence_of<InvalidArgument>([&] {
              write_chunked_table(scratch / "t", {10, 10}, Type::u8, {});
            }).find("read: there is none"),
            std::string::npos);
  EXPECT_FALSE(fs::exists(scratch / "t"));
  // An image whose carries alone fit no memory.
  EXPECT_THROW(write_chunked_table(scratch / "t", {std::int64_t{1} << 40, 10}, Type::u8, image.reader()), OutOfMemory);
  EXPECT_FALSE(fs::exists(scratch / "t"));
}

}  // namespace
}  // namespace areal::test
