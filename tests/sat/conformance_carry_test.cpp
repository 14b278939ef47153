// Pieces of larger tables on the CPU: every pair of values of the factors of `combination`, and of threads, over random
// grids; what follows an infinity; what is refused; and that the check can fail.
#include <gtest/gtest.h>
#include <cstring>
#include <limits>
#include "conformance/backends.hpp"
#include "conformance/combination.hpp"
#include "conformance/pieces.hpp"
#include "extent.hpp"

namespace areal::conformance {
namespace {

constexpr Size sizes[] = {{0, 0}, {0, 3}, {5, 0}, {1, 1}, {37, 11}, {129, 65}, {1100, 90}, {3, 300}};
constexpr int thread_counts[] = {0, 1, 3};

SatCase case_of(const Choice& choice) {
  SatCase c = combination(choice, sizes);
  c.options.tilted = c.options.volume = false;
  c.options.threads = thread_counts[choice.back()];
  return c;
}
std::vector<std::size_t> levels() {
  std::vector<std::size_t> all = combination_levels(sizes);
  all.push_back(std::size(thread_counts));
  return all;
}

class SatCarry : public testing::TestWithParam<Choice> {};
TEST_P(SatCarry, PiecesAreTheWholeTable) {
  const SatCase c = case_of(GetParam());
  EXPECT_EQ(fault_of_pieces(c), "") << describe(c);
}
INSTANTIATE_TEST_SUITE_P(Sat, SatCarry,
                         testing::ValuesIn(one_in(test::extent() == test::Extent::few ? 3 : 1,
                                                  covering_array(levels()))));

// The subject is broken in one way each time, and the check finds it.
TEST(SatCarryProof, EachOfTheseIsFound) {
  SatCase c;
  c.image = {90, 60, 2, 2};
  c.types = type_pair("8u32u");
  c.options.squares = Type::u64;
  c.options.mask = true;
  for (c.seed = 1; random_pieces(c.image, c.seed).size() < 9; ++c.seed) {
  }
  ASSERT_EQ(fault_of_pieces(c), "") << describe(c);
  const auto found = [&](const char* what, const std::function<void(SatArguments&)>& spoil) {
    for (const Border border : {Border::zero, Border::none, Border::exclusive}) {
      c.options.border = border;
      const std::string fault = fault_of_pieces(c, [&](const SatPlan& plan, SatArguments a, Workspace& workspace) {
        spoil(a);
        execute_piece(plan, a, workspace);
      });
      EXPECT_NE(fault, "") << what << ", " << describe(c);
      EXPECT_EQ(fault.find("threw"), std::string::npos) << what << ": " << fault;
    }
  };
  found("nothing from above", [](SatArguments& a) { a.carry.above = {}; });
  found("nothing from the left", [](SatArguments& a) { a.carry.left = {}; });
  found("no squares from above", [](SatArguments& a) { a.squares_carry.above = {}; });
  found("no counts from the left", [](SatArguments& a) { a.count_carry.left = {}; });
  std::vector<std::uint32_t> wrong;
  found("a corner that is off by one", [&](SatArguments& a) {
    if (a.carry.above.data == nullptr) return;
    const Values values = values_of(a.carry.above);
    wrong.assign(values.integer.begin(), values.integer.end());
    wrong[0] += 1;
    Shape shape = a.carry.above.shape;
    shape.layout = Layout::planar;
    a.carry.above = ConstView(wrong.data(), Type::u32, shape);
  });
}

/// A pixel, and the entries of a float table, 6 x 5, cut at column 2 and row 2, on that backend.
std::vector<float> of_four_pieces(float pixel, const PlanOptions& options) {
  std::vector<float> image(30, 1.0f), table(30);
  image[1 * 6 + 1] = pixel;
  for (const Piece& p : {Piece{0, 0, 2, 2}, {2, 0, 4, 2}, {0, 2, 2, 3}, {2, 2, 4, 3}}) {
    const SatPlan plan = plan_of({p.width, p.height}, type_pair("32f32f"), options);
    Workspace workspace(plan);
    std::vector<float> out(static_cast<std::size_t>(p.width * p.height)), above, left;
    const auto entry = [&](std::int64_t x, std::int64_t y) {
      return x < 0 || y < 0 ? 0.0f : table[static_cast<std::size_t>(y * 6 + x)];
    };
    for (std::int64_t x = p.x - 1; x < p.x + p.width; ++x) above.push_back(entry(x, p.y - 1));
    for (std::int64_t y = p.y; y < p.y + p.height; ++y) left.push_back(entry(p.x - 1, y));
    plan.execute({.image = ConstView(image.data() + p.y * 6 + p.x, p.width, p.height, 24),
                  .sum = View(out.data(), p.width, p.height),
                  .carry = {ConstView(above.data(), p.width + 1, 1), ConstView(left.data(), 1, p.height)}},
                 workspace);
    for (std::int64_t y = 0; y < p.height; ++y)
      std::copy_n(out.data() + y * p.width, p.width, table.data() + (p.y + y) * 6 + p.x);
  }
  return table;
}

TEST(SatCarryFloats, InfinityAndNaNSpreadAsInTheWholeTable) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (const float pixel : {infinity, -infinity, std::numeric_limits<float>::quiet_NaN(), 7.0f})
    for (const Backend backend : {Backend::cpu, Backend::simt}) {
      if (backend == Backend::simt && missing(backend)) continue;
      for (const std::string& id : backend == Backend::cpu ? option_sat_ids() : device_sat_ids()) {
        if (id == "bands" || id == "relay") continue;  // which take no carries
        const std::vector<float> table =
            of_four_pieces(pixel, {.border = Border::none, .algorithm = id, .backend = backend});
        for (std::int64_t y = 0; y < 5; ++y)
          for (std::int64_t x = 0; x < 6; ++x) {
            const auto pixels = static_cast<float>((x + 1) * (y + 1));
            const float wanted = x >= 1 && y >= 1 ? pixels - 1 + pixel : pixels,
                        is = table[static_cast<std::size_t>(y * 6 + x)];
            EXPECT_TRUE(std::isnan(wanted) ? std::isnan(is) : is == wanted)
                << id << ", " << x << ", " << y << ": " << is << ", not " << wanted;
          }
      }
    }
}

// ---- what is refused

struct Good {
  PlanOptions options;
  std::vector<std::uint8_t> image = std::vector<std::uint8_t>(24, 1), mask = std::vector<std::uint8_t>(24, 1);
  std::vector<std::uint32_t> sum = std::vector<std::uint32_t>(35), count = sum, tilted = sum, carried = sum;
  std::vector<std::uint64_t> squares = std::vector<std::uint64_t>(35), more = squares;

  SatArguments arguments() {
    SatArguments a{ConstView(image.data(), 6, 4), View(sum.data(), 7, 5)};
    if (options.mask) a.mask = ConstView(mask.data(), 6, 4), a.count = View(count.data(), 7, 5);
    if (options.squares) a.squares = View(squares.data(), 7, 5);
    if (options.tilted) a.tilted = View(tilted.data(), 7, 5);
    return a;
  }
  /// The words of the exception, or nothing.
  std::string error(const std::function<void(SatArguments&)>& spoil) {
    const SatPlan plan = plan_of({6, 4}, type_pair("8u32u"), options);
    Workspace workspace(plan);
    SatArguments a = arguments();
    spoil(a);
    try {
      plan.execute(a, workspace);
    } catch (const InvalidArgument& e) {
      return e.what();
    }
    return {};
  }
};
/// One sentence of one line with all the words.
void expect_words(const std::string& sentence, std::initializer_list<const char*> words) {
  EXPECT_NE(sentence, "");
  for (const char* word : words)
    EXPECT_NE(sentence.find(word), std::string::npos) << "no '" << word << "' in: " << sentence;
  EXPECT_EQ(sentence.find('\n'), std::string::npos) << sentence;
}

TEST(SatCarryErrors, Views) {
  Good good;
  const auto above = [&](std::int64_t width, std::int64_t height) {
    return ConstView(good.carried.data(), width, height);
  };
  EXPECT_EQ(good.error([&](SatArguments& a) { a.carry = {above(7, 1), above(1, 4)}; }), "");
  expect_words(good.error([&](SatArguments& a) { a.carry.above = above(6, 1); }), {"carry.above", "6x1", "7x1"});
  expect_words(good.error([&](SatArguments& a) { a.carry.above = above(7, 2); }), {"carry.above", "7x2", "7x1"});
  expect_words(good.error([&](SatArguments& a) { a.carry.left = above(1, 5); }), {"carry.left", "1x5", "1x4"});
  expect_words(good.error([&](SatArguments& a) { a.carry.left = above(4, 1); }), {"carry.left", "4x1", "1x4"});
  expect_words(good.error([&](SatArguments& a) { a.carry.left = ConstView(good.more.data(), 1, 4); }),
               {"carry.left", "64u", "32u"});
  expect_words(good.error([&](SatArguments& a) { a.carry.left = ConstView(good.carried.data(), 1, 4, 3); }),
               {"carry.left", "pitch", "3"});
  expect_words(good.error([&](SatArguments& a) {
    a.carry.above = above(7, 1).in({MemoryPlace::cuda, 0});
  }),
               {"carry.above", "CUDA device 0"});
  expect_words(good.error([&](SatArguments& a) { a.carry.above = ConstView(good.sum.data() + 30, 7, 1); }),
               {"carry", "share memory"});
  expect_words(good.error([&](SatArguments& a) { a.squares_carry.above = ConstView(good.more.data(), 7, 1); }),
               {"squares_carry", "was given"});
  expect_words(good.error([&](SatArguments& a) { a.count_carry.left = above(1, 4); }), {"count_carry", "was given"});
}

// Pieces of one planar table side by side: the planes of a piece lie between those of the column left of it.
TEST(SatCarryErrors, ColumnsOfOnePlanarTable) {
  const Shape half{3, 4, 2, 1, Layout::planar};
  std::vector<std::uint8_t> pixels(48, 1);
  std::vector<std::uint32_t> table(48);
  const auto columns = [&](std::int64_t first, std::int64_t width) {
    return View(table.data() + first, Type::u32, {width, 4, 2, 1, Layout::planar}, 24, 96);
  };
  const SatPlan plan(half, Type::u8, {.border = Border::none, .types = type_pair("8u32u")}, {.backend = Backend::cpu});
  SatArguments right{ConstView(pixels.data() + 3, Type::u8, half, 6, 24), columns(3, 3)};
  right.carry.left = columns(2, 1);
  EXPECT_NO_THROW(plan.check(right));
  right.carry.left = columns(3, 1);
  EXPECT_THROW(plan.check(right), InvalidArgument);
}

TEST(SatCarryErrors, WhatTakesNone) {
  const auto carry_both = [](Good& good) {
    return [&good](SatArguments& a) { a.carry.above = ConstView(good.carried.data(), 7, 1); };
  };
  for (const Algorithm& row : algorithms()) {
    if (row.family != "sat" || !row.plain_only) continue;
    for (const Backend backend : {Backend::cpu, Backend::simt}) {
      if (!(backend == Backend::cpu ? row.cpu : row.simt) || missing(backend)) continue;
      Good good;
      good.options.algorithm = row.id, good.options.backend = backend;
      expect_words(good.error(carry_both(good)), {"carry", std::string(row.id).c_str(), "takes none"});
    }
  }
  for (const Backend backend : {Backend::cpu, Backend::simt}) {
    if (missing(backend)) continue;
    Good good;
    good.options.tilted = true, good.options.backend = backend;
    expect_words(good.error(carry_both(good)), {"carry", "tilted"});
  }
  const SatPlan volume = plan_of({6, 4, 1, 2}, type_pair("8u32u"), {.volume = true});
  std::vector<std::uint8_t> image(48);
  std::vector<std::uint32_t> sum(105), carried(14);
  Workspace workspace(volume);
  EXPECT_THROW(volume.execute({.image = ConstView(image.data(), Type::u8, Shape{6, 4, 1, 2}),
                               .sum = View(sum.data(), Type::u32, volume.table_shape()),
                               .carry = {ConstView(carried.data(), Type::u32, Shape{7, 1, 1, 2}), {}}},
                              workspace),
               InvalidArgument);
}

}  // namespace
}  // namespace areal::conformance
