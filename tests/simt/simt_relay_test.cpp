// relay with few warps, short units and rings: sizes on both sides of units, strips and bands, tables with and without
// a border, aligned and not, several launches on one workspace. The suite of conformance has the kernels that plans
// launch.
#include <gtest/gtest.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>
#include "formulas/reversed.hpp"
#include "kernels/sat/relay/relay.hpp"
#include "simt/launcher.hpp"
#include "simt_kernels.hpp"

namespace areal::simt {
namespace {

template <class T_, bool aligned_, int rows_, int band_, bool reverse_>
struct Few {
  using T = T_;
  static constexpr bool aligned = aligned_, reverse = reverse_;
  static constexpr int unit_rows = rows_, band = band_, slots = 4, summers = 1, writers = 2, columns_carriers = 2,
                       together = 4, units_at_once = 3, few_units = 2;
};
template <class T, int rows, int band, bool reverse = false>
using Plan = kernels::RelayPlan<Few<T, true, rows, band, reverse>, Few<T, false, rows, band, reverse>>;

struct Case {
  std::int64_t width, height;
  Border border = Border::none;
  std::int64_t out_more = 0;   // of a row, in entries
  int blocks = 3;              // that the machine holds
  bool flipped = false;        // an entry, after the launch
  std::uint32_t launches = 0;  // that the workspace has seen
  int more = 3;                // launches, each of other images
  std::int64_t images = 1;
};
std::string words(const Case& c, std::uint64_t seed) {
  return (c.images == 1 ? "" : std::to_string(c.images) + " of ") + std::to_string(c.width) + "x" +
         std::to_string(c.height) + (c.border == Border::none ? "" : " border zero") + " pitch +" +
         std::to_string(c.out_more) + ", " + std::to_string(c.blocks) + " blocks, seed " + std::to_string(seed);
}

/// The tables by their definition, from the first row and column on or from the last, each below the one before; what
/// lies between their rows is a mark.
template <class T>
std::vector<T> table_of(const Case& c, bool reverse, const std::uint8_t* image, std::int64_t in_pitch,
                        std::int64_t columns, std::int64_t rows, std::int64_t pitch) {
  const std::int64_t edge = c.border == Border::none ? 0 : 1;
  std::vector<T> expected(static_cast<std::size_t>(c.images * rows * pitch), T(123));
  for (std::int64_t n = 0; n < c.images; ++n, image += in_pitch * c.height) {
    std::vector<double> above(static_cast<std::size_t>(c.width));
    for (std::int64_t y = 0; y < rows; ++y) {
      double run = 0;
      for (std::int64_t x = 0; x < columns; ++x) {
        const std::int64_t to = reverse ? (rows - 1 - y) * pitch + columns - 1 - x : y * pitch + x;
        T& entry = expected[static_cast<std::size_t>(n * rows * pitch + to)];
        entry = 0;
        if (y < edge || x < edge) continue;
        const std::int64_t iy = y - edge, ix = x - edge;
        run += reverse ? image[(c.height - 1 - iy) * in_pitch + c.width - 1 - ix] : image[iy * in_pitch + ix];
        entry = static_cast<T>(above[static_cast<std::size_t>(x - edge)] += run);
      }
    }
  }
  return expected;
}

/// Empty, or what is wrong after some launches on one workspace.
template <class P>
std::string fault_of(const Case& c, std::uint64_t seed) {
  using T = typename P::Kernel::T;
  static constexpr bool reverse = P::Kernel::reverse;
  const std::int64_t edge = c.border == Border::none ? 0 : 1, in_pitch = (c.width + 15) / 16 * 16;
  const std::int64_t columns = c.width + edge, rows = c.height + edge, pitch = columns + c.out_more;
  const std::int64_t image_bytes = in_pitch * c.height * c.images;
  std::vector<std::uint8_t> pixels(static_cast<std::size_t>(image_bytes + 16));
  auto* const image = reinterpret_cast<std::uint8_t*>((reinterpret_cast<std::uintptr_t>(pixels.data()) + 15) / 16 * 16);
  std::vector<T> memory(static_cast<std::size_t>(c.images * rows * pitch + 4), T(123));
  T* const table = reinterpret_cast<T*>((reinterpret_cast<std::uintptr_t>(memory.data()) + 15) / 16 * 16);
  const Shape shape{c.width, c.height, 1, c.images};
  const P plan(shape, c.border);
  std::vector<std::uint8_t> workspace(plan.workspace_bytes, 0);
  if (plan.supported) {
    const P placed(shape, c.border, workspace.data());
    std::fill_n(placed.args.launches, kernels::relay_most_blocks * P::Kernel::warps, c.launches);
  }

  Options options;
  options.seed = seed;
  options.together = c.blocks;
  if (seed % 3 == 0) options.start = StartOrder::random;
  Launcher launcher(options);
  launcher.add({"image", image, static_cast<std::size_t>(image_bytes), true, false});
  launcher.add({"table", memory.data(), memory.size() * sizeof(T), false});
  if (!workspace.empty()) launcher.add({"workspace", workspace.data(), workspace.size(), true});
  ConstView in(image, Type::u8, shape, in_pitch, 0, 0);
  View out(table, std::is_integral_v<T> ? Type::u32 : Type::f32, Shape{columns, rows, 1, c.images},
           pitch * static_cast<std::int64_t>(sizeof(T)), 0, 0);
  if (reverse) in = formulas::upside_down(in, false), out = formulas::upside_down(out, false);
  auto random = static_cast<std::uint32_t>(seed);
  for (int launch = 0; launch < c.more; ++launch) {
    for (std::int64_t i = 0; i < image_bytes; ++i) {
      random = random * 1664525u + 1013904223u;
      image[i] = (seed + static_cast<std::uint64_t>(launch)) % 3 == 0 ? 255 : static_cast<std::uint8_t>(random >> 9);
    }
    const std::vector<T> expected = table_of<T>(c, reverse, image, in_pitch, columns, rows, pitch);
    for (auto& e : memory) e = T(123);
    if (!kernels::relay_fits<P>({}, in, {out}).empty()) return "does not fit";
    if (!kernels::relay<P>(launcher, c.border, in, {out}, workspace.data())) return "not launched";
    if (c.flipped) table[columns - 1] += 1;
    for (std::size_t i = 0; i < expected.size(); ++i)
      if (table[i] != expected[i])
        return "launch " + std::to_string(launch) + ": entry " + std::to_string(i) + " is " + std::to_string(table[i]) +
               ", not " + std::to_string(expected[i]);
  }
  return {};
}

template <class P>
void compare(const std::vector<Case>& cases) {
  std::uint64_t seed = 1;
  for (const Case& c : cases) {
    EXPECT_EQ(fault_of<P>(c, seed), "") << words(c, seed);
    ++seed;
  }
}

TEST(SimtRelay, ThisSuiteCanFail) {
  using P = Plan<std::uint32_t, 32, 2>;
  EXPECT_EQ(fault_of<P>({272, 40}, 1), "");
  Case flipped{272, 40};
  flipped.flipped = true;
  EXPECT_NE(fault_of<P>(flipped, 1), "");
}

// What the launch before left is never taken for this launch's: around the ends of each tag, and of the counter.
TEST(SimtRelay, TagsTellLaunchesApart) {
  using P = Plan<std::uint32_t, 32, 2>;
  for (const std::uint32_t launches : {0u, 12u, 252u, 65532u, 0xfffffffdu}) {
    Case c{272, 100};
    c.launches = launches, c.more = launches == 0 ? 20 : 5;
    EXPECT_EQ(fault_of<P>(c, 5), "") << launches;
  }
}

TEST(SimtRelay, WhatItDoesNotTakeIsRefused) {
  using P = Plan<std::uint32_t, 32, 2>;
  const auto takes = [](const Shape& image, Border border, int together) {
    Options options;
    options.together = together;
    Launcher launcher(options);
    return kernels::relay_takes<P>(launcher,
                                   {"relay", kernels::TableKind::pixels, {Type::u8, Type::u32}, image, border});
  };
  EXPECT_EQ(takes({272, 40}, Border::none, 2), "");
  EXPECT_EQ(takes({273, 40}, Border::exclusive, 2), "");
  EXPECT_EQ(takes({272, 40}, Border::none, 1),
            "it takes a block for each 256 columns, and the device holds 1 at once; this image is 272 wide");
  EXPECT_EQ(takes({264, 40}, Border::zero, 2), "it takes widths that are multiples of 16, this image is 264 wide");
  EXPECT_EQ(takes({272, 40}, Border::exclusive, 2),
            "it takes widths that are multiples of 16, plus 1 with border exclusive, this image is 272 wide");
  EXPECT_EQ(
      takes({kernels::relay_longest + 16, 1}, Border::none, 999),
      "it takes images of 1 to 65536 pixels a side, and at most 2147475455 units of 256 columns; the batch is 1 of "
      "65552x1");
  EXPECT_TRUE((P{{16, 1, 1, kernels::relay_most_units}, Border::none}.supported));
  EXPECT_FALSE((P{{16, 1, 1, kernels::relay_most_units + 1}, Border::none}.supported));
  Case crowded{272, 40};
  for (const int blocks : {0, 1}) {  // there are two strips
    crowded.blocks = blocks;
    EXPECT_EQ(fault_of<P>(crowded, 1), "not launched");
  }
}

// One unit and parts of one, more than a ring holds of them, several bands, strips for several rounds of their
// carriers.
const std::vector<Case> shapes{{16, 1},
                               {256, 32},
                               {272, 33},
                               {528, 63},
                               {256, 300, Border::none, 0, 2},
                               {1552, 64, Border::none, 0, 7},
                               {16, 700},
                               {2064, 70, Border::none, 0, 9},
                               {800, 130, Border::none, 4, 4},
                               {512, 257, Border::none, 0, 5},
                               {512, 640, Border::none, 0, 2}};

TEST(SimtRelay, OfUnitsOf32Rows) {
  compare<Plan<std::uint32_t, 32, 2>>(shapes);
  compare<Plan<std::uint32_t, 32, 1>>({{272, 100}, {528, 400, Border::none, 0, 3}});
}
TEST(SimtRelay, OfUnitsOf64Rows) { compare<Plan<std::uint32_t, 64, 2>>(shapes); }
TEST(SimtRelay, OfFloats) { compare<Plan<float, 64, 2>>({{272, 130}, {16, 1}, {528, 120}}); }

// Several images: of one unit, of one band and of several, with fewer strips than blocks and as many, so that a block
// carries the columns of none, of one and of many strips.
TEST(SimtRelay, OfSeveralImages) {
  std::vector<Case> cases;
  for (const Border border : {Border::none, Border::zero})
    for (const auto& [width, height, images, blocks] : {std::tuple{16, 1, 5, 3},
                                                        {256, 32, 9, 2},
                                                        {272, 100, 4, 3},
                                                        {272, 300, 3, 2},
                                                        {528, 257, 5, 4},
                                                        {16, 400, 7, 5},
                                                        {800, 130, 2, 4}}) {
      Case c{width, height, border};
      c.images = images, c.blocks = blocks;
      cases.push_back(c);
    }
  compare<Plan<std::uint32_t, 32, 2>>(cases);
  compare<Plan<float, 64, 1>>({cases[2], cases[9]});
}

// Rows that begin at any entry, in turn and all alike.
TEST(SimtRelay, RowsThatBeginAnywhere) {
  std::vector<Case> cases;
  for (std::int64_t more = 0; more < 4; ++more) {
    cases.push_back({272, 37, Border::none, more});
    cases.push_back({512, 33, Border::zero, more});
    cases.push_back({16, 70, Border::zero, more, 1});
  }
  cases.push_back({800, 80, Border::zero, 0, 4});
  compare<Plan<std::uint32_t, 32, 2>>(cases);
  compare<Plan<float, 64, 1>>(cases);
  compare<Plan<std::uint32_t, 32, 2, true>>(cases);
  compare<Plan<float, 64, 1, true>>(cases);
}

// The configurations that plans launch, with more units for a block than its ring has slots.
template <class T, bool reverse>
void compare_launched() {
  std::vector<Case> cases{{256, 1100, Border::none, 0, 1}, {528, 1300, Border::zero, 0, 3}};
  if (std::is_floating_point_v<T>) cases = {{16, 1100, Border::none, 0, 1}, {32, 1100, Border::zero, 0, 1}};  // exact
  for (Case& c : cases) c.more = 2;
  compare<kernels::RelayPlanOf<T, 32, reverse>>(cases);
  compare<kernels::RelayPlanOf<T, 64, reverse>>(cases);
}
TEST(SimtRelay, AsPlansLaunchIt) {
  compare_launched<std::uint32_t, false>();
  compare_launched<std::uint32_t, true>();
  compare_launched<float, false>();
}

// From the last row and column on.
TEST(SimtRelay, Reversed) {
  std::vector<Case> cases = shapes;
  for (Case c : shapes) {
    c.border = Border::zero;
    cases.push_back(c);
  }
  for (const Border border : {Border::none, Border::zero}) {
    Case several{272, 100, border};
    several.images = 4;
    cases.push_back(several);
  }
  compare<Plan<std::uint32_t, 64, 2, true>>(cases);
  compare<Plan<std::uint32_t, 32, 2, true>>(cases);
}

}  // namespace
}  // namespace areal::simt
