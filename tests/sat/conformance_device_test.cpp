// The device backends, cuda and simt: every pair of (backend, row of the catalogue, type pair, border, shape class,
// channels and layouts, batch, placement). The whole product of backend, row, type pair, border and shape if
// AREAL_TEST_FULL=1. Tests of cuda are skipped without a GPU.
#include <gtest/gtest.h>
#include "conformance/backends.hpp"
#include "conformance/pairwise.hpp"
#include "conformance/sat_case.hpp"
#include "conformance/shapes.hpp"

namespace areal::conformance {
namespace {

constexpr Backend device_backends[] = {Backend::cuda, Backend::simt};
constexpr Border borders[] = {Border::zero, Border::none, Border::exclusive};
/// Channels, the image's layout, the tables' layout.
struct Channels {
  std::int64_t count;
  Layout image, tables;
};
constexpr Channels channels[] = {{1, Layout::interleaved, Layout::planar},
                                 {3, Layout::interleaved, Layout::planar},
                                 {4, Layout::interleaved, Layout::interleaved},
                                 {2, Layout::planar, Layout::planar},
                                 {2, Layout::planar, Layout::interleaved}};

/// The classes of the CPU's suite, and some about the tiles of the kernels: 128 or 256 columns, 64 to 256 rows.
std::vector<ShapeClass> device_shapes() {
  std::vector<ShapeClass> shapes = shape_classes();
  for (const ShapeClass& more : std::initializer_list<ShapeClass>{{"tile128", 128, 128},
                                                                  {"tile256", 256, 256},
                                                                  {"underTile", 127, 63},
                                                                  {"overTile", 129, 257},
                                                                  {"fourTiles", 257, 131},
                                                                  {"groups", 2600, 20},
                                                                  {"groupsOver", 4500, 9},
                                                                  {"tilesDown", 40, 1300},
                                                                  {"ribbonDown", 3, 9000}})
    shapes.push_back(more);
  return shapes;
}

struct Product {
  std::vector<std::string> ids = device_sat_ids();
  std::vector<ShapeClass> shapes = device_shapes();
  std::vector<std::size_t> levels{
      std::size(device_backends), ids.size(), type_pairs().size(),  std::size(borders), shapes.size(),
      std::size(channels),        2,          std::size(placements)};
};
const Product& product() {
  static const Product instance;
  return instance;
}

std::vector<Choice> choices() {
  const std::vector<std::size_t>& levels = product().levels;
  if (!test::is_full()) return covering_array(levels);
  std::vector<Choice> all = full_product({levels[0], levels[1], levels[2], levels[3], levels[4]});
  for (std::size_t i = 0; i < all.size(); ++i)  // the others take turns
    for (std::size_t f = 5; f < levels.size(); ++f) all[i].push_back((i * (f + 2) + i / levels[4]) % levels[f]);
  return all;
}

SatCase case_of(const Choice& choice) {
  const Product& p = product();
  SatCase c;
  c.options.backend = device_backends[choice[0]];
  c.options.algorithm = p.ids[choice[1]];
  c.types = type_pairs()[choice[2]];
  c.options.border = borders[choice[3]];
  const Channels& of = channels[choice[5]];
  c.image = Shape{p.shapes[choice[4]].width, p.shapes[choice[4]].height, of.count,
                  static_cast<std::int64_t>(choice[6]) * 2 + 1, of.image};
  if (c.options.backend == Backend::simt) {                                                   // which takes long
    if (c.image.width * c.image.height > 100'000) c.image.width = 290, c.image.height = 135;  // still several tiles
    if (c.options.algorithm != "thin") c.image.height = std::min<std::int64_t>(c.image.height, 3001);  // as `tall`
    if (c.image.width * c.image.height > 5'000) c.image.channels = c.image.batch = 1;
  }
  c.options.tables = of.tables;
  c.in = placements[choice[7]];
  c.out = placements[(choice[7] + choice[4]) % std::size(placements)];
  c.seed = base_seed();
  for (const std::size_t value : choice) c.seed = c.seed * 31 + value;
  return c;
}

std::string name_of_choice(const testing::TestParamInfo<Choice>& info) {
  const SatCase c = case_of(info.param);
  std::string name = std::string(name_of(c.options.backend)) + "_" + c.options.algorithm + "_" + name_of(c.types) +
                     "_" + std::string(name_of(c.options.border)) + "_" + product().shapes[info.param[4]].name + "_" +
                     std::to_string(info.index);
  return without_dashes(name);
}

class DeviceProduct : public testing::TestWithParam<Choice> {};
TEST_P(DeviceProduct, KeepsTheContract) {
  const SatCase c = case_of(GetParam());
  if (missing(c.options.backend)) GTEST_SKIP() << name_of(c.options.backend) << " is not here";
  EXPECT_EQ(unless_refused(c.options, fault_of(c)), "") << describe(c);
}
INSTANTIATE_TEST_SUITE_P(Sat, DeviceProduct, testing::ValuesIn(choices()), name_of_choice);

// Four of the largest tiles, of 256 columns and 256 rows (bytes) or 128 (16 bits): each publishes different values.
// Nearly all of their pixels are the largest, so an overflow of a tile's own sums shows.
TEST(DeviceSat, FourOfTheLargestTiles) {
  for (const Backend backend : device_backends) {
    if (missing(backend)) continue;
    for (const std::string id : {"lookback", "lookback-diagonal"})
      for (const TypePair types : type_pairs()) {
        const std::size_t in = size_of(types.input), out = size_of(types.table);
        if (is_float(types.input) || in > 2 || (id == "lookback" && out < 8)) continue;  // smaller: some of the product
        SatCase c;
        c.types = types;
        c.image = {261, in == 1 ? 259 : 131};
        c.options.backend = backend;
        c.options.algorithm = id;
        c.fill = Fill::most;
        c.seed = base_seed();
        EXPECT_EQ(fault_of(c), "") << describe(c);
      }
  }
}

TEST(Catalogue, HasTheRowsOfTheDevices) {
  for (const char* id : {"lookback", "lookback-diagonal", "all-partials", "thin"}) {
    const Algorithm* row = find_algorithm("sat", id);
    ASSERT_NE(row, nullptr) << id;
    EXPECT_TRUE(row->cuda && row->simt) << id;
  }
}

}  // namespace
}  // namespace areal::conformance
