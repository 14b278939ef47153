// relay on both devices: one image or several, bytes of one channel, rows of whole vectors of 16, tables with and
// without a border. That the kernel was launched is asserted, too. The kernel itself, with fewer warps and more shapes,
// is in simt_relay_test.cpp.
#include <gtest/gtest.h>
#include <string>
#include <utility>
#include <vector>
#include "conformance/backends.hpp"
#include "conformance/sat_case.hpp"
#include "conformance/shapes.hpp"

namespace areal::conformance {
namespace {

/// The launches of a plan, as their kernels are called.
bool launches_relay(const SatCase& c) {
  bool found = false;
  SatCase told = c;
  told.options.on_launch = [&](const LaunchCounts& launch) {
    found = found || launch.kernel.find("Relay") != std::string::npos;
  };
  EXPECT_EQ(fault_of(told), "") << describe(told);
  return found;
}

SatCase case_of(Backend backend, TypePair types, Shape image, Border border) {
  SatCase c;
  c.options.backend = backend;
  c.options.algorithm = "relay";
  c.options.border = border;
  c.types = types;
  c.image = image;
  c.in = c.out = placements[0];
  c.seed = base_seed();
  return c;
}

constexpr TypePair pairs[] = {{Type::u8, Type::u32}, {Type::u8, Type::s32}, {Type::u8, Type::f32}};

class RelayOn : public testing::TestWithParam<Backend> {
 protected:
  void SetUp() override {
    if (missing(GetParam())) GTEST_SKIP() << name_of(GetParam()) << " is not here";
  }
};

/// Each shape with and without a border, by one of the type pairs in turn.
void keeps_the_contract(Backend backend, const std::vector<Shape>& shapes, bool reverse) {
  std::size_t i = 0;
  for (const Shape& shape : shapes)
    for (const Border border : {Border::none, Border::zero}) {
      SatCase c = case_of(backend, pairs[i++ % std::size(pairs)], shape, border);
      c.options.reverse = reverse;
      if (i % 4 > 1) c.in = placements[1];
      EXPECT_TRUE(launches_relay(c)) << describe(c);
    }
}

// Parts of a unit, one and several; several strips, bands and images.
TEST_P(RelayOn, KeepsTheContract) {
  for (const bool reverse : {false, true})
    keeps_the_contract(GetParam(), {{16, 1}, {256, 64}, {272, 65}, {32, 300}, {1040, 70}, {528, 257}, {272, 130, 1, 3}},
                       reverse);
}

// More units than blocks, and than rings hold; units of 32 rows and of 64.
TEST_P(RelayOn, KeepsTheContractOfLargeImages) {
  if (GetParam() != Backend::cuda) return;  // simt_relay_test.cpp has small rings and few blocks
  keeps_the_contract(GetParam(),
                     {{16, 9000},
                      {1920, 1080},
                      {2048, 2048},
                      {3840, 2160},
                      {4096, 4096},
                      {3008, 5377},
                      {25600, 100},
                      {1600, 5000},
                      {272, 30000},
                      {640, 480, 1, 64},
                      {1920, 1080, 1, 9},
                      {16, 1, 1, 5000},
                      {80, 700, 1, 300},
                      {4096, 300, 1, 7},
                      {8192, 6000},
                      {2560, 2000, 1, 10}},
                     false);
}
TEST_P(RelayOn, KeepsTheContractOfLargeImagesReversed) {
  if (GetParam() != Backend::cuda) return;
  keeps_the_contract(GetParam(),
                     {{16, 9000}, {1920, 1080}, {4096, 4096}, {272, 30000}, {640, 480, 1, 64}, {8192, 6000}}, true);
}

TEST_P(RelayOn, RefusesTheRest) {
  SatCase odd = case_of(GetParam(), pairs[0], {272, 50}, Border::none), several = odd, moved = odd, wider = odd,
          signs = odd, masked = odd;
  odd.image = {264, 50};
  several.image = {272, 20, 3};
  moved.in = placements[2];
  wider.types = {Type::u8, Type::f64};
  signs.types = {Type::s8, Type::s32};
  masked.options.mask = true;
  const std::pair<SatCase, const char*> refused[] = {
      {odd, "it takes widths that are multiples of 16, this image is 264 wide"},
      {several, "it takes images of one channel"},
      {moved, "it takes rows of pixels that begin at multiples of 16 bytes, and entries at multiples of 4"},
      {wider, "it takes pixels of 8u with sums of 32 bits; these types are 8u64f"},
      {signs, "it takes pixels of 8u with sums of 32 bits; these types are 8s32s"},
      {masked, "it takes no mask and leaves no pixels out"}};
  for (const auto& [c, why] : refused)
    EXPECT_EQ(fault_of(c), std::string("threw: algorithm relay: ") + why) << describe(c);
}

INSTANTIATE_TEST_SUITE_P(Sat, RelayOn, testing::Values(Backend::cuda, Backend::simt),
                         [](const auto& of) { return std::string(name_of(of.param)); });

}  // namespace
}  // namespace areal::conformance
