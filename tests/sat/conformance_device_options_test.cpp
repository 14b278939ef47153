// Options together on the device backends: every pair of values of the factors of `combination`, and of the row of the
// catalogue, on each available backend.
#include <gtest/gtest.h>
#include <algorithm>
#include <areal/info.hpp>
#include <tuple>
#include "conformance/combination.hpp"
#include "conformance/in_place.hpp"

namespace areal::conformance {
namespace {

using test::is_full;

/// Near the kernels' tiles (128 or 256 columns, 64 to 256 rows; tilted ones 128 columns, 32 rows).
constexpr Size sizes[] = {{0, 0}, {0, 3}, {5, 0}, {1, 1}, {37, 11}, {127, 33}, {129, 35}, {280, 9}, {3, 200}};

std::vector<Backend> device_backends() {
  std::vector<Backend> found;
  for (const BackendInfo& row : backends())
    if (row.backend != Backend::cpu && row.available) found.push_back(row.backend);
  return found;
}

std::vector<std::size_t> levels() {
  std::vector<std::size_t> all = combination_levels(sizes);
  all.push_back(device_sat_ids().size());
  return all;
}

SatCase case_of(const Choice& choice) {
  SatCase c = combination(choice, sizes);
  c.options.algorithm = device_sat_ids()[choice.back()];
  // The simulated machine takes long: few planes.
  std::int64_t& less = c.seed % 2 == 0 ? c.image.channels : c.image.batch;
  while (less > 1 && c.image.channels * c.image.batch > 3) --less;
  return c;
}

std::string name_of_choice(const testing::TestParamInfo<std::tuple<Backend, Choice>>& info) {
  return std::string(name_of(std::get<0>(info.param))) + "_" + std::to_string(info.index);
}

class DeviceCombination : public testing::TestWithParam<std::tuple<Backend, Choice>> {};
TEST_P(DeviceCombination, KeepsTheContract) {
  SatCase c = case_of(std::get<1>(GetParam()));
  c.options.backend = std::get<0>(GetParam());
  EXPECT_EQ(unless_refused(c.options, fault_of(c)), "") << describe(c);
}
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(DeviceCombination);
INSTANTIATE_TEST_SUITE_P(Sat, DeviceCombination,
                         testing::Combine(testing::ValuesIn(device_backends()),
                                          testing::ValuesIn(covering_array(levels()))),
                         name_of_choice);

TEST(DeviceOptions, VolumesOfEveryDepth) {
  for (const Backend backend : device_backends())
    for (const char* types : {"8u32u", "32f64f"})
      for (const Border border : {Border::zero, Border::none, Border::exclusive})
        for (const std::int64_t depth : {0, 1, 6}) {
          SatCase c;
          c.types = type_pair(types);
          c.image = {37, 19, 1, depth};
          c.options.backend = backend;
          c.options.border = border;
          c.options.volume = c.options.mask = true;
          c.seed = base_seed() + static_cast<std::uint64_t>(depth);
          EXPECT_EQ(fault_of(c), "") << describe(c);
        }
}

// For every type pair, several tiles each way: whole ones and parts, and enough side by side for several groups. On the
// simulated machine whole ones and parts take turns.
TEST(DeviceOptions, SquaresOfEveryTypeOverManyTiles) {
  int turn = 0;
  for (const Backend backend : device_backends())
    for (const TypePair types : type_pairs())
      for (const Type squares : {Type::u32, Type::u64, Type::f64, Type::f32}) {
        if (!has_squares(types.input, squares)) continue;
        ++turn;
        for (const auto& [width, height] : {Size{300, 139}, {256, 128}, {2700, 5}}) {
          if (width == 2700 && types != type_pair("8u32u") && types != type_pair("32f64f")) continue;
          if (backend == Backend::simt && !is_full() && width < 2700 && (turn % 2 == 0) != (width == 256)) continue;
          SatCase c;
          c.types = types;
          c.image = {width, height};
          c.options.backend = backend;
          c.options.border = width == 256 ? Border::none : Border::zero;
          c.options.squares = squares;
          c.seed = base_seed() + static_cast<std::uint64_t>(height);
          EXPECT_EQ(fault_of(c), "") << describe(c);
        }
      }
}

TEST(DeviceOptions, LookbackAloneMakesSquares) {
  for (const Backend backend : device_backends())
    for (const char* id : {"auto", "lookback"}) {
      const SatPlan plan =
          plan_of(Shape{300, 3}, type_pair("8u32u"), {.algorithm = id, .backend = backend, .squares = Type::u64});
      EXPECT_EQ(plan.algorithm(), "lookback") << id;
      EXPECT_NE(plan.reason(), "") << id;
    }
}

TEST(DeviceOptions, TiltedOverManyStrips) {
  for (const Backend backend : device_backends())
    for (const char* types : {"8u32u", "64f64f"})
      for (const auto& [width, height] : {Size{33, 260}, {260, 65}}) {
        SatCase c;
        c.types = type_pair(types);
        c.image = {width, height};
        c.options.backend = backend;
        c.options.tilted = true;
        c.seed = base_seed();
        EXPECT_EQ(fault_of(c), "") << describe(c);
      }
}

// Unread channels lie beside sums that are written: pixels excluded by NaN must have been found before.
TEST(DeviceOptions, InPlaceOnTheSimulatedMachine) {
  const std::vector<Backend> here = device_backends();
  if (std::find(here.begin(), here.end(), Backend::simt) == here.end()) GTEST_SKIP() << "no simulated machine";
  for (const std::string& id : device_sat_ids())
    for (const char* name : in_place_pairs)
      for (const bool volume : {false, true}) {
        InPlace p{Shape{132, 9, 3, 2}, type_pair(name), {.algorithm = id}, placements[0]};
        p.options.backend = Backend::simt;
        p.options.volume = volume;
        p.options.mask = true;
        p.options.squares = Type::f64;
        if (id != "lookback") p.options.squares.reset();
        p.options.ignore_nan = is_float(p.types.input);
        EXPECT_EQ(unless_refused(p.options, fault_in_place(p)), "") << id << " " << name << " volume " << volume;
      }
}

}  // namespace
}  // namespace areal::conformance
