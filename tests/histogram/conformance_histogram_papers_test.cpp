// The papers' integral histograms on the device backends: every pair of (backend, row of the catalogue, pixel type,
// binning, counter, border, shape, placement, tile), and every block that a tile may have. Tests of cuda are skipped
// without a GPU. The group `Sanitize` is small enough for tools that slow a GPU down a thousandfold.
#include <gtest/gtest.h>
#include <areal/catalog.hpp>
#include <areal/error.hpp>
#include <areal/histogram.hpp>
#include "conformance/backends.hpp"
#include "conformance/pairwise.hpp"
#include "conformance/shapes.hpp"
#include "histogram_oracle.hpp"
#include "histogram_plan_options.hpp"

namespace areal::conformance {
namespace {

using oracle::Guarded;
using oracle::Rule;

constexpr Backend device_backends[] = {Backend::cuda, Backend::simt};
constexpr Type types[] = {Type::u8,  Type::s8,  Type::u16, Type::s16, Type::u32, Type::s32,
                          Type::u64, Type::s64, Type::f16, Type::f32, Type::f64};
constexpr Type counters[] = {Type::u32, Type::u64, Type::u16};
constexpr Border borders[] = {Border::none, Border::zero, Border::exclusive};
constexpr int tiles[] = {32, 16, 64};
struct Placement {
  int misalign, gap;
};
constexpr Placement placements[] = {{0, 0}, {8, 24}, {1, 3}, {2, 7}};

const std::vector<std::string>& ids() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> found;
    for (const Algorithm& row : algorithms())
      if (row.family == "histogram" && row.cuda && row.plain_only) found.emplace_back(row.id);
    return found;
  }();
  return all;
}

/// None, one, lines, primes, sizes near tiles and pieces; and rows and columns of several blocks.
const std::vector<ShapeClass>& shapes() {
  static const std::vector<ShapeClass> all = {{"empty", 0, 0},    {"noColumns", 0, 7}, {"noRows", 9, 0},
                                              {"one", 1, 1},      {"column", 1, 333},  {"row", 333, 1},
                                              {"primes", 13, 7},  {"tile", 32, 32},    {"tiles", 65, 97},
                                              {"random", 70, 41}, {"wide", 2100, 2},   {"tall", 1, 4099}};
  return all;
}
constexpr std::size_t long_shapes = 2;  // the last ones

/// Binnings of every kind for images of that type.
Rule rule_of(std::size_t kind, Type type) {
  const bool small = size_of(type) <= 2;
  switch (kind) {
    case 0:
      return oracle::uniform(2, 3, 201, true);
    case 1:
      return oracle::uniform(5, 0, 90);
    case 2:
      return oracle::edges({-3, 0.5, 17, 90, 91, 250}, true);
    case 3:
      return is_float(type) ? oracle::edges({-1, 7, 7.5, 30}) : oracle::labels(32, 3);
    default:
      return is_float(type) || !small ? oracle::uniform(1, 10, 100) : oracle::lookup({-1, 0, 2, 2, 1, 0, -1, 4, 3});
  }
}
constexpr std::size_t rules = 5;
constexpr std::size_t few_bins = 3;  // the first ones

struct Product {
  std::vector<std::size_t> levels{
      std::size(device_backends), ids().size(),    std::size(types),      rules,           std::size(counters),
      std::size(borders),         shapes().size(), std::size(placements), std::size(tiles)};
};
const Product& product() {
  static const Product instance;
  return instance;
}

struct Case {
  HistogramPlanOptions options;
  Shape image;
  Type type;
  Rule rule;
  Placement in, out;
  std::uint64_t seed;
};
Case case_of(const Choice& choice) {
  const ShapeClass& shape = shapes()[choice[6]];
  // On the simulated machine a long line of many bins takes long.
  const bool long_shape = choice[6] + long_shapes >= shapes().size();
  Case c{{},
         {shape.width, shape.height},
         types[choice[2]],
         rule_of(long_shape ? 0 : choice[3], types[choice[2]]),
         placements[choice[7]],
         placements[(choice[7] + choice[6]) % std::size(placements)],
         base_seed()};
  c.options.backend = device_backends[choice[0]];
  c.options.algorithm = ids()[choice[1]];
  c.options.counter = counters[choice[4]];
  c.options.border = borders[choice[5]];
  c.options.tile = tiles[choice[8]];
  for (const std::size_t value : choice) c.seed = c.seed * 31 + value;
  return c;
}

std::string name_of_choice(const testing::TestParamInfo<Choice>& info) {
  const Case c = case_of(info.param);
  std::string name = std::string(name_of(c.options.backend)) + "_" + c.options.algorithm + "_" +
                     std::string(name_of(c.type)) + "_" + std::string(name_of(c.options.counter)) + "_" +
                     std::string(name_of(c.options.border)) + "_" + shapes()[info.param[6]].name + "_" +
                     std::to_string(info.index);
  return without_dashes(name);
}

std::string difference(const ConstView& got, const std::vector<double>& expected) {
  return got.type == Type::u16 ? oracle::difference_as<std::uint16_t>(got, expected, 0)
                               : oracle::difference(got, expected);
}

void expect_contract(const Case& c) {
  SCOPED_TRACE(testing::Message() << c.image.width << "x" << c.image.height << " " << name_of(c.type) << ", "
                                  << c.rule.name << ", tile " << c.options.tile << " by " << c.options.tile_threads
                                  << ", in " << c.in.misalign << " " << c.in.gap << ", out " << c.out.misalign << " "
                                  << c.out.gap << ", seed " << c.seed);
  std::mt19937_64 random(c.seed);
  Guarded image(c.image, c.type, c.in.misalign, c.in.gap);
  oracle::fill_random(image.view, random, c.type == Type::s8 ? -20 : 0, 110);
  ReadyHistogram runner(plan_of(c.image, c.type, c.rule.binning, c.options));
  EXPECT_EQ(runner.plan.algorithm(), c.options.algorithm);
  Guarded first(runner.plan.tensor_shape(), c.options.counter, c.out.misalign, c.out.gap);
  runner.execute({image.view, first.view});
  EXPECT_EQ(difference(first.view, oracle::tensor(c.rule, image.view, nullptr, c.options.border)), "");
  // Once more on the same workspace.
  Guarded second(runner.plan.tensor_shape(), c.options.counter, c.out.misalign, c.out.gap);
  runner.execute({image.view, second.view});
  EXPECT_TRUE(second.same(first));
}

class HistogramPapersProduct : public testing::TestWithParam<Choice> {};
TEST_P(HistogramPapersProduct, KeepsTheContract) {
  const Case c = case_of(GetParam());
  if (missing(c.options.backend)) GTEST_SKIP() << name_of(c.options.backend) << " is not here";
  expect_contract(c);
}
INSTANTIATE_TEST_SUITE_P(Histogram, HistogramPapersProduct, testing::ValuesIn(covering_array(product().levels)),
                         name_of_choice);

/// Every row on three shapes: smaller than a tile or block; several tiles in both directions, cut off by the image; and
/// lines longer than a block of the scans holds. Counters, borders, placements and tiles take turns. Several tiles have
/// sides of 32 and 16, with a border that keeps the image's odd size.
std::vector<Choice> sanitized() {
  const auto shape = [](std::string_view name) {
    const auto& all = shapes();
    const auto found = std::find_if(all.begin(), all.end(), [&](const ShapeClass& s) { return s.name == name; });
    return static_cast<std::size_t>(found - all.begin());
  };
  std::vector<Choice> choices;
  for (std::size_t backend = 0; backend < std::size(device_backends); ++backend)
    for (std::size_t row = 0; row < ids().size(); ++row)
      for (const std::size_t of : {shape("primes"), shape("tiles"), shape("wide")}) {
        const std::size_t turn = row + of;
        const bool several = of == shape("tiles");
        choices.push_back({backend, row, turn % std::size(types), turn % few_bins, turn % std::size(counters),
                           several ? row % 2 : turn % std::size(borders), of, turn % std::size(placements),
                           several ? turn % 2 : turn % std::size(tiles)});
      }
  return choices;
}
INSTANTIATE_TEST_SUITE_P(Sanitize, HistogramPapersProduct, testing::ValuesIn(sanitized()), name_of_choice);

/// Backend, algorithm, tile, threads of a block on it.
using Block = std::tuple<Backend, std::string, int, int>;
std::vector<Block> blocks() {
  std::vector<Block> all;
  for (const Backend backend : device_backends)
    for (const char* id : {"cw-tis", "wf-tis"})
      for (const int tile : tiles)
        for (const int threads : research::tile_threads(tile)) all.emplace_back(backend, id, tile, threads);
  return all;
}
std::string name_of_block(const testing::TestParamInfo<Block>& info) {
  const auto& [backend, id, tile, threads] = info.param;
  return without_dashes(std::string(name_of(backend)) + "_" + id + "_" + std::to_string(tile) + "_by_" +
                        std::to_string(threads));
}

class HistogramPapersBlocks : public testing::TestWithParam<Block> {};
TEST_P(HistogramPapersBlocks, KeepTheContract) {
  const auto& [backend, id, tile, threads] = GetParam();
  if (missing(backend)) GTEST_SKIP() << name_of(backend) << " is not here";
  // Smaller than a tile, exactly one or several, and several that the image cuts off, in both directions.
  for (const Shape& shape : {Shape{13, 7}, Shape{64, 64}, Shape{150, 97}}) {
    const bool apart = shape.width == 13;
    Case c{
        {},         shape, Type::u8, oracle::uniform(3, 0, 110), placements[apart ? 2 : 0], placements[apart ? 3 : 1],
        base_seed()};
    c.options.backend = backend, c.options.algorithm = id, c.options.tile = tile, c.options.tile_threads = threads;
    c.options.border = apart ? Border::zero : Border::none;
    c.seed += static_cast<std::uint64_t>(shape.width * 2000 + threads);
    int seen = 0;
    c.options.on_launch = [&seen, expected = threads](const LaunchCounts& launch) {
      if (!launch.kernel.starts_with("Tiled")) return;
      ++seen;
      EXPECT_EQ(launch.threads, expected);
    };
    expect_contract(c);
    EXPECT_GT(seen, 0);
  }
}
INSTANTIATE_TEST_SUITE_P(Histogram, HistogramPapersBlocks, testing::ValuesIn(blocks()), name_of_block);
// The most and the fewest threads on the largest tile.
INSTANTIATE_TEST_SUITE_P(Sanitize, HistogramPapersBlocks,
                         testing::Combine(testing::Values(Backend::cuda), testing::Values("cw-tis", "wf-tis"),
                                          testing::Values(64), testing::Values(128, 1024)),
                         name_of_block);

TEST(HistogramPapers, AFlippedElementIsFound) {
  if (missing(Backend::simt)) GTEST_SKIP() << "simt is not here";
  const Rule rule = oracle::uniform(3, 0, 256);
  std::mt19937_64 random(1);
  Guarded image({40, 9}, Type::u8, 0, 0), tensor({40, 9, 3, 1, Layout::planar}, Type::u32, 0, 0);
  oracle::fill_random(image.view, random, 0, 255);
  HistogramPlanOptions options;
  options.algorithm = "wf-tis", options.backend = Backend::simt;
  ReadyHistogram(plan_of({40, 9}, Type::u8, rule.binning, options)).execute({image.view, tensor.view});
  const std::vector<double> expected = oracle::tensor(rule, image.view, nullptr, Border::none);
  ASSERT_EQ(difference(tensor.view, expected), "");
  static_cast<std::uint32_t*>(tensor.view.data)[40 * 9 * 2 + 41] ^= 1;
  EXPECT_NE(difference(tensor.view, expected), "");
}

TEST(HistogramPapers, AreInTheCatalogue) {
  const std::vector<std::string> expected = {
      "cw-b", "cw-sts", "cw-tis", "wf-tis", "harris", "lee-choe-multiple", "lee-choe-shared", "lee-choe"};
  EXPECT_EQ(ids(), expected);
}

TEST(HistogramPapers, CountOneImageOfOneChannelWithoutWeights) {
  if (missing(Backend::simt)) GTEST_SKIP() << "simt is not here";
  const Binning binning = Binning::uniform(4, 0, 256);
  for (const std::string& id : ids()) {
    HistogramPlanOptions options;
    options.algorithm = id, options.backend = Backend::simt;
    EXPECT_NO_THROW(plan_of({9, 7}, Type::u8, binning, options)) << id;
    EXPECT_THROW(plan_of({9, 7, 1, 2}, Type::u8, binning, options), InvalidArgument) << id;
    EXPECT_THROW(plan_of({9, 7, 2}, Type::u8, Binning::joint({binning, binning}), options), InvalidArgument) << id;
    options.weighted = true, options.counter = Type::f32;
    EXPECT_THROW(plan_of({9, 7}, Type::u8, binning, options), InvalidArgument) << id;
    options.weighted = false, options.counter = Type::u32, options.backend = Backend::cpu;
    EXPECT_THROW(plan_of({9, 7}, Type::u8, binning, options), InvalidArgument) << id;
  }
}

TEST(HistogramPapers, TilesHaveThreeSides) {
  for (const int tile : {0, -16, 8, 17, 33, 128}) {
    HistogramPlanOptions options;
    options.tile = tile;
    EXPECT_THROW(plan_of({9, 7}, Type::u8, Binning::uniform(4, 0, 256), options), InvalidArgument) << tile;
  }
  for (const int side : {0, -16, 8, 17, 33, 128}) EXPECT_TRUE(research::tile_threads(side).empty()) << side;
  if (missing(Backend::simt)) GTEST_SKIP() << "simt is not here";
  // The requested algorithm is the one that runs.
  for (const auto& [tile, strips] : {std::pair{16, 9}, {32, 5}, {64, 3}}) {
    std::vector<std::uint8_t> pixels(70 * 62);
    std::vector<std::uint32_t> counts(70 * 62);
    int launches = 0;
    HistogramPlanOptions options;
    options.algorithm = "cw-tis", options.backend = Backend::simt, options.tile = tile;
    options.on_launch = [&](const LaunchCounts&) { ++launches; };
    const HistogramPlan plan = plan_of({70, 62}, Type::u8, Binning::uniform(1, 0, 256), options);
    ReadyHistogram(plan).execute(
        {ConstView(pixels.data(), 70, 62), View(counts.data(), Type::u32, plan.tensor_shape())});
    EXPECT_EQ(launches, 1 + strips);
  }
}

TEST(HistogramPapers, BlocksHaveTheThreadsThatAreCompiled) {
  const auto refusal = [](int tile, int threads, Type counter) {
    HistogramPlanOptions options;
    options.tile = tile, options.tile_threads = threads, options.counter = counter;
    try {
      const HistogramPlan plan = plan_of({9, 7}, Type::u8, Binning::uniform(4, 0, 256), options);
    } catch (const InvalidArgument& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  for (const int tile : tiles)
    for (const int threads : {-1, 1, 32, 63, 64, 96, 128, 256, 512, 1024, 2048}) {
      const bool fits = tile == 16 ? threads == 64 || threads == 128 || threads == 256
                                   : threads == 128 || threads == 256 || threads == 512 || threads == 1024;
      EXPECT_EQ(refusal(tile, threads, Type::u32).empty(), fits) << tile << " " << threads;
      const bool usual = threads == (tile == 16 ? 256 : 512);
      EXPECT_EQ(refusal(tile, threads, Type::u64).empty(), usual) << tile << " " << threads;
    }
  EXPECT_EQ(refusal(64, 64, Type::u32), "tile_threads 64: it may be 128, 256, 512 or 1024 on tiles of 64");
  EXPECT_EQ(refusal(16, 512, Type::u64), "tile_threads 512: it may be 64, 128 or 256 on tiles of 16");
  EXPECT_EQ(
      refusal(32, 1024, Type::u64),
      "tile_threads 1024 with counter 64u: it may be 512 on tiles of 32; only counters of 32u have blocks of 128, "
      "256, 512 or 1024");
}

}  // namespace
}  // namespace areal::conformance
