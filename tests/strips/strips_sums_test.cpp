// Answers about regions without a table, against sums and counts pixel by pixel.
#include <areal/error.hpp>
#include <areal/region.hpp>
#include <cmath>
#include "bench/harness/seeded_image.hpp"
#include "strip_cases.hpp"

namespace areal::strip_cases {
namespace {

const std::vector<Worker> cpu{{.backend = Backend::cpu, .threads = 2}};

TEST(StripSums, TheCheckCanFail) {
  const Shape shape{30, 40};
  const Values image = conformance::random_image(Type::u8, shape, Fill::wild, 1);
  const std::vector<Region> regions = random_regions(shape, 20, 1);
  StripSums sums(shape, Type::u8, regions, {}, {.workers = cpu, .height = 9});
  sums.run(reader_of(image));
  ASSERT_EQ(sums_fault(sums, image, regions, false), "");
  EXPECT_EQ(sums_fault(sums, image, regions, false, [](std::vector<double>& of) { of[7] += 1; }).rfind("sum 7 is", 0),
            0u);
  Values other = image;
  other.integer[other.at(29, 39)] ^= 1;
  EXPECT_EQ(sums_fault(sums, other, regions, false).rfind("sum 0 is", 0), 0u);
}

TEST(StripSums, EveryTypeHeightAndSquares) {
  for (const Type type : {Type::u8, Type::s8, Type::u16, Type::s16, Type::u32, Type::s32, Type::u64, Type::s64,
                          Type::f16, Type::f32, Type::f64})
    for (const std::int64_t height : {1, 13, 64, 0}) {
      const bool squares = type != Type::u64 && type != Type::s64;
      EXPECT_EQ(sums_fault({61, 83}, type, Fill::wild, squares, {.workers = cpu, .height = height}), "")
          << name_of(type) << ", height " << height;
    }
  for (const Shape& shape :
       {Shape{0, 0}, {0, 4}, {5, 0}, {1, 1}, {1, 200}, {200, 1}, {40, 30, 3, 1}, {40, 30, 3, 1, Layout::planar}})
    EXPECT_EQ(sums_fault(shape, Type::u8, Fill::wild, true, {.workers = cpu, .height = 7}), "")
        << shape.width << "x" << shape.height;
}

// Of 32 bits while they hold a strip, of 64 where a strip is fixed that they do not.
TEST(StripSums, StripsOfThirtyTwoBitsAreAtTheirLimit) {
  const std::int64_t width = 70000, most = 4294967295 / 255 / width;  // rows
  ASSERT_EQ(most, 240);
  const auto all_of = [&](std::int64_t rows, std::int64_t height) {
    const Shape shape{width, rows};
    const Region regions[] = {{0, 0, width, rows}, {1, 0, width - 1, rows}, {0, 1, width, rows - 1}};
    StripSums sums(shape, Type::u8, regions, {}, {.workers = cpu, .memory = 1 << 28, .height = height});
    sums.run([](std::int64_t, std::int64_t, const View& block) {
      std::memset(block.data, 255, static_cast<std::size_t>(block.shape.width * block.shape.height));
      return block;
    });
    const auto got = sums.sums<std::uint64_t>();
    for (std::size_t i = 0; i < got.size(); ++i)
      EXPECT_EQ(got[i], 255u * static_cast<std::uint64_t>(regions[i].width * regions[i].height)) << i;
    return sums.strip_height();
  };
  EXPECT_EQ(all_of(250, most), most);
  EXPECT_EQ(all_of(250, 250), 250);
}

// Images that are wider than a panel, in strips that begin and end anywhere in one.
TEST(StripSums, PanelsOfAnyStripAndThreads) {
  const Shape shape{2503, 150};
  for (const Type type : {Type::u8, Type::s8, Type::u16, Type::s16})
    for (const int threads : {1, 3})
      for (const std::int64_t height : {37, 0})
        EXPECT_EQ(sums_fault(shape, type, Fill::wild, false,
                             {.workers = {{.backend = Backend::cpu, .threads = threads}}, .height = height}),
                  "")
            << name_of(type) << ", " << threads << " threads, height " << height;
}

TEST(StripSums, PanelsOfSixteenBitsAreAtTheirLimit) {
  const Shape shape{3000, 200};
  for (const Type type : {Type::u16, Type::s16}) {
    const Region regions[] = {{0, 0, 3000, 200}, {1, 1, 2999, 199}, {2047, 63, 2, 2}, {1023, 0, 953, 200}};
    StripSums sums(shape, type, regions, {}, {.workers = cpu});
    sums.run([&](std::int64_t, std::int64_t, const View& block) {
      auto* const to = static_cast<std::uint16_t*>(block.data);
      std::fill_n(to, block.shape.width * block.shape.height, type == Type::u16 ? 65535 : 32768);
      return block;
    });
    const auto got = sums.sums<double>();
    for (std::size_t i = 0; i < got.size(); ++i)
      EXPECT_EQ(got[i],
                (type == Type::u16 ? 65535.0 : -32768.0) * static_cast<double>(regions[i].width * regions[i].height))
          << name_of(type) << ", region " << i;
  }
}

TEST(StripSums, MeansAndVariances) {
  const Shape shape{45, 60};
  for (const Type type : {Type::u8, Type::s16, Type::f32}) {
    const Values image = conformance::random_image(type, shape, Fill::exact, 11);
    const std::vector<Region> regions = random_regions(shape, 30, 2);
    StripSums sums(shape, type, regions, {.squares = true}, {.workers = cpu, .height = 11});
    sums.run(reader_of(image));
    const auto means = sums.means(), variances = sums.variances(), deviations = sums.standard_deviations();
    for (std::size_t i = 0; i < regions.size(); ++i) {
      const long double n = static_cast<long double>(regions[i].width * regions[i].height);
      if (n == 0) {
        EXPECT_TRUE(std::isnan(means[i]) && std::isnan(variances[i]) && std::isnan(deviations[i])) << i;
        EXPECT_EQ(sums.sums()[i], 0) << i;
        continue;
      }
      const long double mean = plain_sum(image, regions[i], 0, false).real / n,
                        variance = plain_sum(image, regions[i], 0, true).real / n - mean * mean;
      EXPECT_NEAR(means[i], static_cast<double>(mean), 1e-12) << i;
      EXPECT_NEAR(variances[i], static_cast<double>(variance), 1e-11) << i;
      EXPECT_NEAR(deviations[i], std::sqrt(static_cast<double>(variance)), 1e-5) << i;
    }
  }
}

// Of 32-bit integers, the squares of a few pixels exceed 64 bits: 12000 values 100000 apart, against Python's integers.
TEST(StripSums, DeviationsOfIntegersOf32BitsDoNotWrap) {
  Values image(Type::s32, {120, 100});
  for (std::size_t i = 0; i < image.size(); ++i) image.integer[i] = i * 100000;
  StripSums sums({120, 100}, Type::s32, {{0, 0, 50, 40}}, {.squares = true}, {.workers = cpu, .height = 7});
  sums.run(reader_of(image));
  EXPECT_NEAR(sums.standard_deviations()[0], 138528273.28744122, 1e-5);
}

// Each region's sum is that of its own pixels: NaN and infinities of others do not touch it.
TEST(StripSums, NanAndInfinityStayInTheirRegions) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  for (const Type type : {Type::f16, Type::f32, Type::f64})
    for (const std::int64_t channels : {1, 3})
      for (const std::int64_t height : {1, 7, 100}) {
        const Shape shape{31, 40, channels};
        Values image = conformance::random_image(type, shape, Fill::exact, 17);
        image.real[image.at(4, 9)] = nan, image.real[image.at(30, 9)] = inf;
        image.real[image.at(5, 20, channels - 1)] = -inf, image.real[image.at(0, 39)] = -inf;
        image.real[image.at(30, 39)] = nan;
        std::vector<Region> regions = random_regions(shape, 80, 23);
        regions.insert(regions.end(), {{0, 0, 31, 40}, {4, 9, 1, 1}, {5, 10, 26, 10}, {0, 10, 5, 29}, {30, 9, 1, 1}});
        for (const bool pushes : {false, true}) {
          StripSums sums(shape, type, regions, {.squares = true}, {.workers = cpu, .height = height});
          if (pushes) {
            sums.begin();
            const conformance::Buffer whole(image, conformance::placements[0]);
            sums.push(0, 0, whole.view());
            sums.finish();
          } else {
            sums.run(reader_of(image));
          }
          const auto got = sums.sums(), squares = sums.squares(), means = sums.means(), variances = sums.variances();
          for (std::size_t i = 0; i < got.size(); ++i) {
            const auto c = static_cast<std::int64_t>(i) % channels;
            const Region& region = regions[i / static_cast<std::size_t>(channels)];
            const long double want = plain_sum(image, region, c, false).real;
            const long double squared = plain_sum(image, region, c, true).real;
            const auto same = [](double a, long double b) {
              return std::isnan(a)   ? std::isnan(b)
                     : std::isinf(b) ? a == static_cast<double>(b)
                                     : std::fabs(a - b) <= 1e-9L * (1 + std::fabs(b));
            };
            EXPECT_TRUE(same(got[i], want))
                << name_of(type) << ", strips of " << height << ", answer " << i << ": " << got[i];
            EXPECT_TRUE(same(squares[i], squared)) << name_of(type) << ", squares " << i << ": " << squares[i];
            const bool finite = std::isfinite(squared) && region.width * region.height > 0;
            EXPECT_EQ(std::isfinite(variances[i]), finite) << name_of(type) << ", variance " << i;
            EXPECT_EQ(std::isfinite(means[i]), finite) << name_of(type) << ", mean " << i;
          }
        }
      }
}

TEST(StripSums, RegionsOutside) {
  const Shape shape{20, 30};
  const Values image = conformance::random_image(Type::u8, shape, Fill::wild, 2);
  const Region regions[] = {{-5, -5, 10, 10}, {15, 25, 100, 100}, {40, 40, 5, 5}, {2, 3, 4, 5}};
  const auto clipped = strip_sums<std::uint64_t>(reader_of(image), shape, Type::u8, regions, {},
                                                 {.workers = cpu, .height = 8, .outside = Outside::clip});
  const Region inside[] = {{0, 0, 5, 5}, {15, 25, 5, 5}, {0, 0, 0, 0}, {2, 3, 4, 5}};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(clipped[i], plain_sum(image, inside[i], 0, false).integer) << i;
  EXPECT_NE(refusal([&] { strip_sums(reader_of(image), shape, Type::u8, regions); }).find("region 0 (x -5"),
            std::string::npos);
  EXPECT_NE(refusal([&] {
              strip_sums(reader_of(image), shape, Type::u8, {{1, 1, -1, 2}}, {}, {.outside = Outside::clip});
            }).find("negative"),
            std::string::npos);
}

TEST(StripSums, PushedByStripsAndTiles) {
  const Shape shape{67, 90};
  const Values image = conformance::random_image(Type::u16, shape, Fill::wild, 9);
  const std::vector<Region> regions = random_regions(shape, 40, 3);
  StripSums sums(shape, Type::u16, regions, {.squares = true},
                 {.workers = cpu, .height = 17, .pushed_width = 20, .pushed_height = 25});
  EXPECT_NE(refusal([&] { sums.push(0, 0, {}); }).find("begin"), std::string::npos);
  for (int turn = 0; turn < 2; ++turn) {
    sums.begin();
    EXPECT_NE(refusal([&] { sums.sums(); }).find("has not passed"), std::string::npos);
    for (std::int64_t y = 0; y < 90; y += turn == 0 ? 10 : 25)
      for (std::int64_t x = 0; x < 67; x += turn == 0 ? 67 : 20) {
        const std::int64_t w = turn == 0 ? 67 : std::min<std::int64_t>(20, 67 - x),
                           h = turn == 0 ? 10 : std::min<std::int64_t>(25, 90 - y);
        const conformance::Buffer block(part_of(image, x, y, w, h), conformance::placements[3]);
        sums.push(x, y, block.view());
      }
    sums.finish();
    EXPECT_EQ(sums_fault(sums, image, regions, true), "") << turn;
  }
}

TEST(StripSums, AnswersOfAnotherTypeAreRefused) {
  const Shape shape{4, 4};
  const Region whole[] = {{0, 0, 4, 4}};
  const auto of = [&](Type type) {
    StripSums sums(shape, type, whole, {}, {.workers = cpu});
    sums.run(reader_of(conformance::random_image(type, shape, Fill::exact, 1)));
    return sums;
  };
  EXPECT_NE(refusal([&] { of(Type::s8).sums<std::uint64_t>(); }).find("are 64s, not 64u"), std::string::npos);
  EXPECT_NE(refusal([&] { of(Type::u8).sums<std::int64_t>(); }).find("are 64u, not 64s"), std::string::npos);
  EXPECT_NE(refusal([&] { of(Type::f32).sums<std::int64_t>(); }).find("request them as double"), std::string::npos);
  EXPECT_NE(refusal([&] { of(Type::u8).squares(); }).find("not asked for"), std::string::npos);
  EXPECT_NE(refusal([&] { of(Type::u8).variances(); }).find("not asked for"), std::string::npos);
}

// A large image of which no pixel is kept: sums come from counts of its two summands.
TEST(StripSums, ImagesThatAreNeverWhole) {
  const bench::SeededImage image(20011, 3001, conformance::base_seed());
  const Shape shape{image.width(), image.height()};
  const std::vector<Region> regions = random_regions(shape, 500, conformance::base_seed());
  const auto sums =
      strip_sums<std::uint64_t>(image.reader(), shape, Type::u8, regions, {}, {.workers = cpu, .memory = 2 << 20});
  for (std::size_t i = 0; i < regions.size(); ++i) EXPECT_EQ(sums[i], image.sum(regions[i])) << i;
}

TEST(SeededImage, ItsSumsAreThoseOfItsPixels) {
  const bench::SeededImage image(61, 47, 3);
  Values pixels(Type::u8, {61, 47});
  std::vector<std::uint8_t> all(61 * 47);
  image.reader()(0, 0, View(all.data(), 61, 47));
  std::copy(all.begin(), all.end(), pixels.integer.begin());
  for (const Region& region : random_regions(pixels.shape, 50, 4))
    EXPECT_EQ(image.sum(region), plain_sum(pixels, region, 0, false).integer);
  std::uint8_t one = 0;
  image.reader()(40, 30, View(&one, 1, 1));
  EXPECT_EQ(one, all[30 * 61 + 40]);
}

std::string counts_fault(const Shape& shape, std::int64_t bins, const PieceOptions& how, int spoilt = -1) {
  const Values image = conformance::random_image(Type::u8, shape, Fill::wild, conformance::base_seed());
  const std::vector<Region> regions = random_regions(shape, 40, 7);
  auto counts = strip_counts(reader_of(image), shape, Type::u8, Binning::uniform(bins, 0, 256), regions, how);
  if (counts.size() != regions.size() * static_cast<std::size_t>(bins)) return "the answers' number is wrong";
  if (spoilt >= 0) ++counts[static_cast<std::size_t>(spoilt)];
  for (std::size_t i = 0; i < regions.size(); ++i) {
    std::vector<std::uint64_t> want(static_cast<std::size_t>(bins));
    for (std::int64_t y = regions[i].y; y < regions[i].y + regions[i].height; ++y)
      for (std::int64_t x = regions[i].x; x < regions[i].x + regions[i].width; ++x)
        ++want[image.integer[image.at(x, y)] * static_cast<std::uint64_t>(bins) / 256];
    for (std::size_t b = 0; b < want.size(); ++b)
      if (counts[i * want.size() + b] != want[b]) return "region " + std::to_string(i) + ", bin " + std::to_string(b);
  }
  return {};
}

TEST(StripCounts, EqualTheDefinition) {
  EXPECT_EQ(counts_fault({60, 50}, 8, {}, 8 * 5 + 3), "region 5, bin 3");  // it can fail
  for (const std::int64_t height : {0, 1, 7, 64})
    EXPECT_EQ(counts_fault({131, 90}, 16, {.workers = cpu, .height = height}), "") << height;
  for (const Shape& shape : {Shape{0, 0}, {0, 4}, {5, 0}, {1, 1}, {1, 200}, {1300, 1}, {1300, 20}})
    EXPECT_EQ(counts_fault(shape, 4, {.workers = cpu, .height = 3}), "") << shape.width << "x" << shape.height;
}

TEST(StripCounts, GroupsOfBinsReadTheImageAgain) {
  const Shape shape{400, 60};
  const PieceOptions little{.workers = cpu, .memory = 60000};
  EXPECT_EQ(counts_fault(shape, 64, little), "");
  int reads = 0;
  strip_counts(
      [&](std::int64_t, std::int64_t y, const View& block) {
        reads += y == 0;
        std::memset(block.data, 1, static_cast<std::size_t>(block.shape.width * block.shape.height));
        return block;
      },
      shape, Type::u8, Binning::uniform(64, 0, 256), {{0, 0, 400, 60}}, little);
  EXPECT_GT(reads, 1);
  EXPECT_THROW(counts_fault(shape, 64, {.workers = cpu, .memory = 2000}), OutOfMemory);
  EXPECT_NE(refusal([&] { counts_fault(shape, 4, {.workers = {{.backend = Backend::simt}}}); }).find("are the CPU's"),
            std::string::npos);
}

}  // namespace
}  // namespace areal::strip_cases
