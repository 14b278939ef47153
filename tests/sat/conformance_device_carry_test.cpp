// Pieces of larger tables on the device backends: every pair of values of the factors of `combination`, and of the row
// of the catalogue, over random grids of pieces.
#include <gtest/gtest.h>
#include <tuple>
#include "conformance/backends.hpp"
#include "conformance/combination.hpp"
#include "conformance/pieces.hpp"

namespace areal::conformance {
namespace {

/// Pieces of one tile and less, and of several tiles (128 or 256 columns, 64 to 256 rows).
constexpr Size sizes[] = {{0, 0}, {0, 3}, {5, 0}, {1, 1}, {37, 11}, {320, 40}, {3, 200}, {270, 300}};

std::vector<Backend> device_backends() {
  std::vector<Backend> found;
  for (const Backend backend : {Backend::cuda, Backend::simt})
    if (!missing(backend)) found.push_back(backend);
  return found;
}
std::vector<std::size_t> levels() {
  std::vector<std::size_t> all = combination_levels(sizes);
  all.push_back(device_sat_ids().size());
  return all;
}
SatCase case_of(const Choice& choice) {
  SatCase c = combination(choice, sizes);
  c.options.tilted = c.options.volume = false;
  c.options.algorithm = device_sat_ids()[choice.back()];
  std::int64_t& less = c.seed % 2 == 0 ? c.image.channels : c.image.batch;  // the simulated machine takes long
  while (less > 1 && c.image.channels * c.image.batch > 2) --less;
  return c;
}

std::string name_of_choice(const testing::TestParamInfo<std::tuple<Backend, Choice>>& info) {
  return std::string(name_of(std::get<0>(info.param))) + "_" + std::to_string(info.index);
}

class DeviceCarry : public testing::TestWithParam<std::tuple<Backend, Choice>> {};
TEST_P(DeviceCarry, PiecesAreTheWholeTable) {
  SatCase c = case_of(std::get<1>(GetParam()));
  c.options.backend = std::get<0>(GetParam());
  EXPECT_EQ(unless_refused(c.options, fault_of_pieces(c)), "") << describe(c);
}
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(DeviceCarry);
INSTANTIATE_TEST_SUITE_P(Sat, DeviceCarry,
                         testing::Combine(testing::ValuesIn(device_backends()),
                                          testing::ValuesIn(covering_array(levels()))),
                         name_of_choice);

// Every kernel of every type pair, several tiles each way and pieces that begin anywhere.
TEST(DeviceCarryTiles, OfEveryTypePair) {
  for (const Backend backend : device_backends())
    for (const TypePair types : type_pairs())
      for (const std::string& id : device_sat_ids()) {
        SatCase c;
        c.types = types;
        c.image = id == "thin" ? Shape{4500, 20} : Shape{300, 270};
        c.options.algorithm = id;
        c.options.backend = backend;
        for (c.seed = base_seed(); random_pieces(c.image, c.seed).size() < 4; ++c.seed) {
        }
        c.options.border = c.seed % 2 == 0 ? Border::zero : Border::none;
        EXPECT_EQ(unless_refused(c.options, fault_of_pieces(c)), "") << describe(c);
      }
}

TEST(DeviceCarryTiles, WithSquaresOfEveryType) {
  for (const Backend backend : device_backends())
    for (const TypePair types : type_pairs())
      for (const Type squares : {Type::u32, Type::u64, Type::f64, Type::f32}) {
        if (!has_squares(types.input, squares)) continue;
        SatCase c;
        c.types = types;
        c.image = {300, 150};
        c.options.squares = squares;
        c.options.backend = backend;
        for (c.seed = base_seed() + 7; random_pieces(c.image, c.seed).size() < 4; ++c.seed) {
        }
        EXPECT_EQ(fault_of_pieces(c), "") << describe(c);
      }
}

}  // namespace
}  // namespace areal::conformance
