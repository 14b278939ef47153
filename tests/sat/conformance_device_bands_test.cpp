// bands on both devices: one channel, aligned rows of whole vectors. The suite of all algorithms has few such images.
// That the kernel was launched is asserted, too. The kernel itself, with fewer warps and more shapes, is in
// simt_bands_test.cpp.
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
bool launches_bands(const SatCase& c) {
  bool found = false;
  SatCase told = c;
  told.options.on_launch = [&](const LaunchCounts& launch) {
    found = found || launch.kernel.find("Bands") != std::string::npos;
  };
  EXPECT_EQ(fault_of(told), "") << describe(told);
  return found;
}

SatCase case_of(Backend backend, TypePair types, Shape image) {
  SatCase c;
  c.options.backend = backend;
  c.options.algorithm = "bands";
  c.options.border = Border::none;
  c.types = types;
  c.image = image;
  c.in = c.out = placements[0];
  c.seed = base_seed();
  return c;
}

constexpr TypePair pairs[] = {{Type::u32, Type::u32}, {Type::s32, Type::s32}, {Type::f32, Type::f32}};

class BandsOn : public testing::TestWithParam<Backend> {
 protected:
  void SetUp() override {
    if (missing(GetParam())) GTEST_SKIP() << name_of(GetParam()) << " is not here";
  }
};

// Bands of one row to all that a writer has, fewer of them than blocks and several for each cluster; parts of a step,
// one step, several; rounds of prefixes.
TEST_P(BandsOn, KeepsTheContract) {
  const bool gpu = GetParam() == Backend::cuda;
  std::vector<Shape> shapes{{4, 1}, {128, 2}, {132, 7}, {644, 5}, {260, 9}, {124, 113}};
  if (gpu)
    for (const Shape more : {Shape{4, 9000}, Shape{128, 111}, Shape{1920, 1080}, Shape{2052, 1791}, Shape{4096, 4096},
                             Shape{3000, 5377}, Shape{640, 9001}, Shape{100, 40000}, Shape{40000, 100}})
      shapes.push_back(more);
  for (std::size_t i = 0; i < shapes.size(); ++i)
    for (std::size_t t = 0; t < std::size(pairs); ++t) {
      if (!gpu && i % std::size(pairs) != t) continue;  // which takes long
      SatCase c = case_of(GetParam(), pairs[t], shapes[i]);
      if (i % 2 == 1) c.in = placements[1];
      EXPECT_TRUE(launches_bands(c)) << describe(c);
    }
}

constexpr TypePair bytes{Type::u8, Type::u32}, byte_floats{Type::u8, Type::f32}, shorts{Type::u16, Type::u32},
    floats{Type::f32, Type::f32}, wide_floats{Type::f32, Type::f64}, doubles{Type::f64, Type::f64};

void keeps_the_contract(Backend backend, TypePair types, Shape image, bool reverse = false) {
  SatCase c = case_of(backend, types, image);
  c.options.reverse = reverse;
  EXPECT_TRUE(launches_bands(c)) << describe(c);
}

// The other types.
TEST_P(BandsOn, KeepsTheContractOfEveryKind) {
  keeps_the_contract(GetParam(), bytes, {272, 5});
  keeps_the_contract(GetParam(), {Type::u8, Type::s32}, {32, 9});
  keeps_the_contract(GetParam(), byte_floats, {16, 3});
  keeps_the_contract(GetParam(), shorts, {136, 3});
  keeps_the_contract(GetParam(), wide_floats, {68, 3});
  keeps_the_contract(GetParam(), doubles, {66, 3});
  if (GetParam() != Backend::cuda) return;
  for (const Shape image : {Shape{16, 4000}, Shape{128, 113}, Shape{1920, 1080}, Shape{4096, 4096}, Shape{3008, 5377},
                            Shape{40000, 100}, Shape{64, 20000}})
    for (const TypePair types : {bytes, byte_floats, shorts, floats, wide_floats, doubles})
      keeps_the_contract(GetParam(), types, image);
}

// From the last row and column on.
TEST_P(BandsOn, KeepsTheContractReversed) {
  keeps_the_contract(GetParam(), floats, {140, 3}, true);
  keeps_the_contract(GetParam(), bytes, {272, 5}, true);
  keeps_the_contract(GetParam(), byte_floats, {16, 3}, true);
  keeps_the_contract(GetParam(), shorts, {136, 3}, true);
  keeps_the_contract(GetParam(), wide_floats, {68, 3}, true);
  keeps_the_contract(GetParam(), doubles, {66, 3}, true);
  if (GetParam() != Backend::cuda) return;
  for (const TypePair types : {bytes, byte_floats, shorts, floats, wide_floats, doubles})
    for (const Shape image : {Shape{128, 113}, Shape{1920, 1080}, Shape{1024, 4097}, Shape{40000, 100}})
      keeps_the_contract(GetParam(), types, image, true);
  keeps_the_contract(GetParam(), floats, {4096, 4096}, true);
}

TEST_P(BandsOn, RefusesTheRest) {
  SatCase border = case_of(GetParam(), pairs[0], {132, 50}), odd = border, several = border, moved = border,
          signs = border;
  border.options.border = Border::zero;
  signs.types = {Type::s8, Type::s32};
  odd.image = {130, 50};
  several.image = {132, 20, 1, 3};
  moved.in = placements[2];
  SatCase masked = case_of(GetParam(), pairs[2], {132, 30});
  masked.options.mask = masked.options.ignore_nan = true;
  masked.fill = Fill::holes;
  const std::pair<SatCase, const char*> refused[] = {
      {border, "it takes no border (border none)"},
      {signs,
       "it takes pixels of 8u, 16u and 32 bits with sums of 32 bits, and of 32f and 64f with sums of 64f; these types "
       "are 8s32s"},
      {odd, "it takes widths that are multiples of 4, this image is 130 wide"},
      {several, "it takes one image of one channel"},
      {moved, "it takes rows of pixels and of entries that begin at multiples of 16 bytes"},
      {masked, "it takes no mask and leaves no pixels out"}};
  for (const auto& [c, why] : refused)
    EXPECT_EQ(fault_of(c), std::string("threw: algorithm bands: ") + why) << describe(c);
}

INSTANTIATE_TEST_SUITE_P(Sat, BandsOn, testing::Values(Backend::cuda, Backend::simt),
                         [](const auto& of) { return std::string(name_of(of.param)); });

}  // namespace
}  // namespace areal::conformance
