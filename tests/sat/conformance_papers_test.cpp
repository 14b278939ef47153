// The papers' algorithms on the device backends: every pair of (backend, row of the catalogue, type pair, border,
// shape, placement). Tests of cuda are skipped without a GPU.
#include <gtest/gtest.h>
#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <tuple>
#include "conformance/backends.hpp"
#include "conformance/pairwise.hpp"
#include "conformance/sat_case.hpp"
#include "conformance/shapes.hpp"

namespace areal::conformance {
namespace {

constexpr Backend device_backends[] = {Backend::cuda, Backend::simt};
constexpr Border borders[] = {Border::zero, Border::none, Border::exclusive};
constexpr double shares[] = {0.25, 0.02, 0.7};

/// Near tiles of 32: none, one, one and a bit, many; lines; levels of recursion (more than 33 tiles).
const std::vector<ShapeClass>& shapes() {
  static const std::vector<ShapeClass> all = {
      {"empty", 0, 0},    {"noColumns", 0, 7},  {"noRows", 9, 0},        {"one", 1, 1},           {"column", 1, 333},
      {"row", 333, 1},    {"primes", 13, 7},    {"tile", 32, 32},        {"underTile", 31, 33},   {"overTile", 65, 97},
      {"tiles", 128, 96}, {"random", 150, 101}, {"recursion", 70, 1100}, {"recursionX", 1090, 40}};
  return all;
}

struct Product {
  std::vector<std::string> ids = device_sat_ids(true);
  std::span<const TypePair> types = type_pairs_of(*find_algorithm("sat", ids.front()));
  std::vector<std::size_t> levels{std::size(device_backends), ids.size(),      types.size(),
                                  std::size(borders),         shapes().size(), std::size(placements)};
};
const Product& product() {
  static const Product instance;
  return instance;
}

SatCase case_of(const Choice& choice) {
  SatCase c;
  c.options.backend = device_backends[choice[0]];
  c.options.algorithm = product().ids[choice[1]];
  c.types = product().types[choice[2]];
  c.options.border = borders[choice[3]];
  c.image = {shapes()[choice[4]].width, shapes()[choice[4]].height};
  c.in = placements[choice[5]];
  c.out = placements[(choice[5] + choice[4]) % std::size(placements)];
  c.options.r = shares[choice[2] % std::size(shares)];
  c.options.scan = (choice[2] + choice[4]) % 2 == 0 ? WarpScan::kogge_stone : WarpScan::ladner_fischer;
  c.seed = base_seed();
  for (const std::size_t value : choice) c.seed = c.seed * 31 + value;
  return c;
}

std::string name_of_choice(const testing::TestParamInfo<Choice>& info) {
  const SatCase c = case_of(info.param);
  std::string name = std::string(name_of(c.options.backend)) + "_" + c.options.algorithm + "_" + name_of(c.types) +
                     "_" + std::string(name_of(c.options.border)) + "_" + shapes()[info.param[4]].name + "_" +
                     std::to_string(info.index);
  return without_dashes(name);
}

class PapersProduct : public testing::TestWithParam<Choice> {};
TEST_P(PapersProduct, KeepsTheContract) {
  const SatCase c = case_of(GetParam());
  if (missing(c.options.backend)) GTEST_SKIP() << name_of(c.options.backend) << " is not here";
  EXPECT_EQ(fault_of(c), "") << describe(c);
}
INSTANTIATE_TEST_SUITE_P(Sat, PapersProduct, testing::ValuesIn(covering_array(product().levels)), name_of_choice);

/// For compute-sanitizer, which is slow: every row on a few shapes, of partial tiles, of several in both directions
/// (triangles of hybrid-1r1w have a side of two), of a recursion of 2r1w.
struct Sanitized {
  const char* name;
  Shape image;
  const char* types;
  Border border;
  Placement in, out;
  WarpScan scan;
};
const Sanitized sanitized[] = {
    {"partial", {45, 37}, "16u64u", Border::zero, placements[2], placements[3], WarpScan::kogge_stone},
    {"several", {97, 100}, "32f64f", Border::none, placements[1], placements[0], WarpScan::ladner_fischer},
    {"deep", {1152, 64}, "8u32u", Border::none, placements[0], placements[0], WarpScan::kogge_stone}};

class PapersSanitize : public testing::TestWithParam<std::tuple<Backend, std::string, std::size_t>> {};
TEST_P(PapersSanitize, KeepsTheContract) {
  const Backend backend = std::get<0>(GetParam());
  if (missing(backend)) GTEST_SKIP() << name_of(backend) << " is not here";
  const Sanitized& shape = sanitized[std::get<2>(GetParam())];
  SatCase c;
  c.options.backend = backend, c.options.algorithm = std::get<1>(GetParam());
  c.options.border = shape.border, c.options.r = 0.4, c.options.scan = shape.scan;
  c.image = shape.image, c.types = type_pair(shape.types);
  c.in = shape.in, c.out = shape.out;
  c.seed = base_seed();
  EXPECT_EQ(fault_of(c), "") << describe(c);
}
std::string name_of_sanitized(const testing::TestParamInfo<PapersSanitize::ParamType>& info) {
  const auto& [backend, id, shape] = info.param;
  return without_dashes(std::string(name_of(backend)) + "_" + id + "_" + sanitized[shape].name);
}
INSTANTIATE_TEST_SUITE_P(Sanitize, PapersSanitize,
                         testing::Combine(testing::ValuesIn(device_backends), testing::ValuesIn(device_sat_ids(true)),
                                          testing::Range(std::size_t{0}, std::size(sanitized))),
                         name_of_sanitized);

TEST(Papers, TakeTheCommonTypes) {
  for (const std::string& id : device_sat_ids(true)) {
    PlanOptions options;
    options.algorithm = id, options.backend = Backend::simt;
    const std::span<const TypePair> common = type_pairs_of(*find_algorithm("sat", id));
    for (const TypePair types : type_pairs()) {
      const bool takes = std::find(common.begin(), common.end(), types) != common.end();
      const std::string name = name_of(types);
      EXPECT_EQ(takes, name != "8s64s" && name != "64u64u" && name != "64s64s" && name != "16f64f") << name;
      if (takes)
        EXPECT_NO_THROW(plan_of({9, 7}, types, options)) << id << " " << name;
      else
        EXPECT_THROW(plan_of({9, 7}, types, options), InvalidArgument) << id << " " << name;
    }
  }
}

TEST(Papers, DoPlainSumsOfOneChannel) {
  for (const std::string& id : device_sat_ids(true)) {
    PlanOptions options;
    options.algorithm = id, options.backend = Backend::simt;
    EXPECT_NO_THROW(plan_of({9, 7}, type_pair("8u32u"), options));
    EXPECT_THROW(plan_of({9, 7, 3}, type_pair("8u32u"), options), InvalidArgument) << id;
    EXPECT_THROW(plan_of({9, 7, 1, 2}, type_pair("8u32u"), options), InvalidArgument) << id;
    options.tilted = true;
    EXPECT_THROW(plan_of({9, 7}, type_pair("8u32u"), options), InvalidArgument) << id;
    options.tilted = false, options.squares = Type::u64;
    EXPECT_THROW(plan_of({9, 7}, type_pair("8u32u"), options), InvalidArgument) << id;
  }
}

TEST(Papers, TheShareOfTheTrianglesIsChecked) {
  PlanOptions options;
  options.algorithm = "hybrid-1r1w", options.backend = Backend::simt;
  for (const double r : {0.0, 1.0, -0.1, 7.0, std::numeric_limits<double>::quiet_NaN()}) {
    options.r = r;
    EXPECT_THROW(plan_of({9, 7}, type_pair("8u32u"), options), InvalidArgument) << r;
  }
  options.r = 0.3;
  EXPECT_EQ(plan_of({1024, 1024}, type_pair("8u32u"), options).reason(), "requested, with r 0.298828");
}

TEST(Papers, TheReasonSaysWhichWarpScan) {
  PlanOptions options;
  options.algorithm = "scanrow-brlt", options.backend = Backend::simt;
  EXPECT_EQ(plan_of({9, 7}, type_pair("8u32u"), options).reason(), "requested, with the warp scan kogge-stone");
  options.algorithm = "scanrow-column", options.scan = WarpScan::ladner_fischer;
  EXPECT_EQ(plan_of({9, 7}, type_pair("8u32u"), options).reason(), "requested, with the warp scan ladner-fischer");
  options.algorithm = "brlt-scanrow";
  EXPECT_EQ(plan_of({9, 7}, type_pair("8u32u"), options).reason(), "requested");
}

}  // namespace
}  // namespace areal::conformance
