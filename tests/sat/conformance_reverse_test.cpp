// Reversed tables, on every backend: an entry sums what lies right and below. Options together, and pieces, are in the
// suites of combinations and of carries.
#include <gtest/gtest.h>
#include <areal/region.hpp>
#include <array>
#include "conformance/backends.hpp"
#include "conformance/combination.hpp"
#include "conformance/in_place.hpp"
#include "conformance/pairwise.hpp"
#include "conformance/sat_case.hpp"

namespace areal::conformance {
namespace {

using test::is_full;

constexpr Border borders[] = {Border::zero, Border::none, Border::exclusive};

TEST(ReversedOracle, EqualsTheDefinition) {
  const Values image = random_image(Type::s16, Shape{7, 5, 2, 3}, Fill::wild, 7);
  for (const bool volume : {false, true})
    for (const Border border : borders) {
      const Expected table = reversed_sums_of(terms_of(image), Type::s64, border, volume);
      Values place;
      place.shape = table.shape;
      const std::int64_t first = border == Border::exclusive ? 1 : 0;  // of the pixels that an entry sums
      for (std::int64_t n = 0; n < table.shape.batch; ++n)
        for (std::int64_t c = 0; c < 2; ++c)
          for (std::int64_t y = 0; y < table.shape.height; ++y)
            for (std::int64_t x = 0; x < table.shape.width; ++x) {
              std::uint64_t sum = 0;
              for (std::int64_t m = volume ? n + first : n; m < (volume ? 3 : n + 1); ++m)
                for (std::int64_t j = y + first; j < 5; ++j)
                  for (std::int64_t i = x + first; i < 7; ++i) sum += image.integer[image.at(i, j, c, m)];
              EXPECT_EQ(table.integer[place.at(x, y, c, n)], sum) << x << ", " << y << ", " << c << ", " << n;
            }
    }
}

struct Way {
  Backend backend;
  std::string id;
};
/// Every row that has reversed tables of any image, and `auto`. bands and relay, which take some images alone, are in
/// suites of their own.
std::vector<Way> ways() {
  std::vector<Way> all{{Backend::cpu, "auto"}, {Backend::cuda, "auto"}, {Backend::simt, "auto"}};
  for (const Algorithm& row : algorithms()) {
    if (row.family != "sat" || row.plain_only || row.id == "bands" || row.id == "relay") continue;
    if (row.cpu) all.push_back({Backend::cpu, std::string(row.id)});
    if (row.cuda) all.push_back({Backend::cuda, std::string(row.id)});
    if (row.simt) all.push_back({Backend::simt, std::string(row.id)});
  }
  return all;
}

/// Near the widths of vectors and tiles; of several tiles.
constexpr Size sizes[] = {{0, 0},    {0, 7},    {9, 0},     {1, 1},    {1, 333},   {777, 1},  {2, 2},    {13, 7},
                          {16, 48},  {31, 37},  {64, 64},   {63, 65},  {127, 33},  {128, 64}, {129, 70}, {256, 130},
                          {261, 67}, {5, 1500}, {1500, 16}, {520, 40}, {1025, 17}, {390, 140}};

struct Product {
  std::vector<Way> all = ways();
  std::vector<std::size_t> levels{all.size(),       type_pairs().size(),   std::size(borders),
                                  std::size(sizes), std::size(placements), std::size(placements)};
};
const Product& product() {
  static const Product instance;
  return instance;
}
SatCase case_of(const Choice& choice) {
  SatCase c;
  c.options.backend = product().all[choice[0]].backend;
  c.options.algorithm = product().all[choice[0]].id;
  c.options.reverse = true;
  c.types = type_pairs()[choice[1]];
  c.options.border = borders[choice[2]];
  c.image = {sizes[choice[3]].first, sizes[choice[3]].second};
  c.in = placements[choice[4]];
  c.out = placements[choice[5]];
  c.seed = base_seed();
  for (const std::size_t value : choice) c.seed = c.seed * 31 + value;
  return c;
}
std::string name_of_choice(const testing::TestParamInfo<Choice>& info) {
  const SatCase c = case_of(info.param);
  return without_dashes(std::string(name_of(c.options.backend)) + "_" + c.options.algorithm + "_" + name_of(c.types) +
                        "_" + std::string(name_of(c.options.border)) + "_" + std::to_string(c.image.width) + "x" +
                        std::to_string(c.image.height) + "_" + std::to_string(info.index));
}
class ReverseProduct : public testing::TestWithParam<Choice> {};
TEST_P(ReverseProduct, KeepsTheContract) {
  const SatCase c = case_of(GetParam());
  if (missing(c.options.backend)) GTEST_SKIP() << name_of(c.options.backend) << " is not here";
  EXPECT_EQ(fault_of(c), "") << describe(c);
}
INSTANTIATE_TEST_SUITE_P(Sat, ReverseProduct, testing::ValuesIn(covering_array(product().levels)), name_of_choice);

// The suite's own proof: a table that is not reversed is none that is.
TEST(Reverse, AForwardTableIsCaught) {
  for (const Border border : borders) {
    SatCase c;
    c.image = {37, 11};
    c.options.border = border;
    const SatPlan plan = plan_of(c.image, c.types, c.options);
    const Values image = random_image(c.types.input, c.image, Fill::wild, base_seed());
    SatMemory memory(c, plan, image, nullptr);
    GuardedWorkspace workspace(plan.workspace_bytes(), 0xA5);
    plan.execute(memory.arguments(), workspace.prepare(plan));
    EXPECT_EQ(fault_in(memory, expected_tables(c, image, nullptr)), "");
    c.options.reverse = true;
    EXPECT_NE(fault_in(memory, expected_tables(c, image, nullptr)), "");
  }
}

/// The sum's table as `turned` takes it.
Values sum_of(const Values& image, TypePair types, PlanOptions options, const Way& way, bool reverse) {
  options.backend = way.backend, options.algorithm = way.id, options.reverse = reverse;
  const Buffer pixels(image, placements[0]);
  const SatPlan plan = plan_of(image.shape, types, options);
  Workspace workspace(plan);
  SatTable table = plan.allocate(MemoryPlace{});
  plan.execute(pixels.view(), table, workspace);
  workspace.wait();
  EXPECT_EQ(table.is_reversed(), reverse);
  return values_of(table.sum());
}

// The same additions in the same order, from the other corner: floats that round have the same bits.
TEST(Reverse, FloatsHaveTheBitsOfTheTurnedImagesTable) {
  for (const Way& way : ways()) {
    if (missing(way.backend)) continue;
    for (const char* types : {"8u32f", "16f32f", "32f32f", "32f64f", "64f64f"})
      for (const Border border : borders) {
        const Shape shape = way.id == "thin" ? Shape{2500, 19} : Shape{290, 135};
        const Values image = random_image(type_pair(types).input, shape, Fill::wild, base_seed());
        const Values forward = sum_of(turned(image, false), type_pair(types), {.border = border}, way, false);
        const Values reversed = sum_of(image, type_pair(types), {.border = border}, way, true);
        EXPECT_EQ(turned(forward, false), reversed)
            << name_of(way.backend) << " " << way.id << " " << types << " " << name_of(border);
      }
  }
}

// Of every type pair, over several tiles each way, and squares in every type. On the simulated machine the sizes take
// turns.
TEST(Reverse, SquaresOfEveryType) {
  for (const Backend backend : {Backend::cpu, Backend::cuda, Backend::simt}) {
    if (missing(backend)) continue;
    int turn = 0;
    for (const TypePair types : type_pairs())
      for (const Type squares : {Type::u32, Type::u64, Type::f64, Type::f32}) {
        if (!has_squares(types.input, squares)) continue;
        ++turn;
        for (const auto& [width, height] : {Size{300, 139}, {256, 128}}) {
          if (backend == Backend::simt && !is_full() && (turn % 2 == 0) != (width == 256)) continue;
          SatCase c;
          c.types = types;
          c.image = {width, height};
          c.options.backend = backend;
          c.options.border = width == 256 ? Border::none : Border::zero;
          c.options.squares = squares;
          c.options.reverse = true;
          c.seed = base_seed() + static_cast<std::uint64_t>(height);
          EXPECT_EQ(fault_of(c), "") << describe(c);
        }
      }
  }
}

TEST(Reverse, SeveralStripsAndThreadsOnTheCpu) {
  for (const char* types : {"8u32u", "32f64f", "16s64s"})
    for (const int threads : {1, 2, 7}) {
      SatCase c;
      c.types = type_pair(types);
      c.image = {2300, 200};
      c.options.threads = threads;
      c.options.reverse = true;
      c.out = placements[4];
      c.seed = base_seed();
      EXPECT_EQ(fault_of(c), "") << describe(c);
    }
}

TEST(Reverse, InPlace) {
  for (const Backend backend : {Backend::cpu, Backend::simt}) {
    if (missing(backend)) continue;
    for (const char* types : in_place_pairs)
      for (const std::int64_t channels : {1, 3}) {
        InPlace p{Shape{132, 9, channels, 2}, type_pair(types), {}, placements[1]};
        p.options.backend = backend;
        p.options.reverse = p.options.mask = true;
        EXPECT_EQ(fault_in_place(p), "") << name_of(backend) << " " << types << ", channels " << channels;
      }
  }
}

// In border zero the four corners of a region give its sum, whichever way the table was summed.
TEST(Reverse, AnswersQueriesInBorderZero) {
  const Values image = random_image(Type::u8, Shape{53, 31}, Fill::wild, base_seed());
  const Buffer pixels(image, placements[0]);
  const SatOptions options{.squares = Squares::automatic, .reverse = true};
  const SatTable reversed = sat(pixels.view(), options, {.backend = Backend::cpu});
  const SatTable forward = sat(pixels.view(), {.squares = Squares::automatic}, {.backend = Backend::cpu});
  const std::vector<Region> regions{{0, 0, 53, 31}, {3, 4, 5, 6}, {52, 30, 1, 1}, {10, 0, 0, 5}};
  EXPECT_EQ(region_sums(reversed, regions), region_sums(forward, regions));
  EXPECT_EQ(region_sums(reversed, regions)[0], [&] {
    double sum = 0;
    for (const std::uint64_t pixel : image.integer) sum += static_cast<double>(pixel);
    return sum;
  }());
  const std::vector<Region> some{regions.begin(), regions.end() - 1};
  EXPECT_EQ(region_variances(reversed, some), region_variances(forward, some));
  EXPECT_TRUE(reversed.copy_to({}).is_reversed());
}

/// The sentence with which f refuses.
template <class F>
std::string refusal(F&& f) {
  try {
    f();
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return {};
}

TEST(Reverse, WhatItIsNotForIsRefused) {
  const Values image = random_image(Type::u8, Shape{5, 4}, Fill::wild, base_seed());
  const Buffer pixels(image, placements[0]);
  const auto names = [](const std::string& sentence, const char* words) {
    EXPECT_NE(sentence.find(words), std::string::npos) << sentence;
  };
  for (const Backend backend : {Backend::cpu, Backend::simt}) {
    if (missing(backend)) continue;
    PlanOptions options{.backend = backend, .reverse = true};
    options.tilted = true;
    names(refusal([&] { plan_of({5, 4}, type_pair("8u32u"), options); }), "no reversed tilted table");
    options.tilted = false;
    for (const Algorithm& row : algorithms()) {
      if (row.family != "sat" || !row.plain_only || !(backend == Backend::cpu ? row.cpu : row.simt)) continue;
      options.algorithm = std::string(row.id);
      names(refusal([&] { plan_of({5, 4}, type_pair("8u32u"), options); }), "for more choose auto");
    }
  }
  for (const Border border : {Border::none, Border::exclusive}) {
    const SatTable table = sat(pixels.view(), {.border = border, .reverse = true}, {.backend = Backend::cpu});
    names(refusal([&] { table.view(); }), "a reversed one answers in border `zero` alone");
    names(refusal([&] { table.with_border(Border::zero, pixels.view()); }), "a reversed table keeps the border");
  }
  const SatPlan forward({5, 4}, Type::u8, {}, {.backend = Backend::cpu});
  const SatPlan reversed({5, 4}, Type::u8, {.reverse = true}, {.backend = Backend::cpu});
  Workspace workspace(forward);
  SatTable table = reversed.allocate();
  names(refusal([&] { forward.execute(pixels.view(), table, workspace); }), "into: tables that are reversed");
}

}  // namespace
}  // namespace areal::conformance
