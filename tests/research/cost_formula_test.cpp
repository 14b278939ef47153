// The catalogue's formulas are evaluated as intended.
#include "research/cost_formula.hpp"
#include <gtest/gtest.h>
#include <areal/catalog.hpp>
#include <cmath>

namespace areal {
namespace {

constexpr CostNames names{64, 96, 5, 32, 0.25, 1, 4096, 1024, 2048};

double value(std::string_view text) { return CostFormula::value(text, names); }

TEST(CostFormula, Values) {
  EXPECT_EQ(value("4"), 4);
  EXPECT_EQ(value(" 2.5 "), 2.5);
  EXPECT_EQ(value("h"), 64);
  EXPECT_EQ(value("1 + r"), 1.25);
  EXPECT_EQ(value("h + w - 2"), 158);
  EXPECT_EQ(value("8 - 4 - 2"), 2);  // from left to right
  EXPECT_EQ(value("64 / 4 / 2"), 8);
  EXPECT_EQ(value("h / T + w / T - 1"), 4);
  EXPECT_EQ(value("2 + 2/T + 1/b"), 2 + 2.0 / 32 + 1.0 / 5);
  EXPECT_EQ(value("-d + 3"), 2);
  EXPECT_EQ(value("2 * 3 d"), 6);
}

TEST(CostFormula, SideBySideIsAProduct) {
  EXPECT_EQ(value("2 d + 2"), 4);
  EXPECT_EQ(value("b (h + w + 1) + 1"), 806);
  EXPECT_EQ(value("(h) (w)"), 64 * 96);
  EXPECT_EQ(value("2h"), 128);
  EXPECT_EQ(value("(h + w) / T"), 5);
  EXPECT_EQ(value("1 / 2 d"), 0.5);  // as with *: half of d
  EXPECT_EQ(value("(1 - r^0.5) (h + w) / T + 4 d + 4"), 0.5 * 5 + 8);
  EXPECT_EQ(value("5 + 4 d - (1 + 4 r h w / T^2)^0.5"), 9 - std::sqrt(7.0));
}

TEST(CostFormula, Log2CountsHalvings) {
  EXPECT_EQ(value("log2(n)"), 12);
  EXPECT_EQ(value("2 log2(h / T) + 1"), 3);
  EXPECT_EQ(value("log2(w)"), 7);        // 96 are halved seven times until one is left
  EXPECT_EQ(value("log2(h / 512)"), 0);  // less than one
  EXPECT_EQ(value("n / k (log2(k / 512) + 1) - 1"), 7);
}

TEST(CostFormula, MinIsTheLesser) {
  EXPECT_EQ(value("min(h, w)"), 64);
  EXPECT_EQ(value("2 min(w - h, d + 1) / 2"), value("d + 1"));
}

TEST(CostFormula, CeilAndAbove) {
  EXPECT_EQ(value("ceil(w / 64)"), 2);
  EXPECT_EQ(value("ceil(h / 64)"), 1);
  EXPECT_EQ(value("2 ceil(b / 2) / 3"), 2);
  EXPECT_EQ(value("4 + 2 above(w, h) + above(h, w)"), 6);
  EXPECT_EQ(value("above(h, 64)"), 0);
  EXPECT_EQ(value("b above(h, 63)"), 5);
}

TEST(CostFormula, FloorModAndMax) {
  EXPECT_EQ(value("floor(w / 64)"), 1);
  EXPECT_EQ(value("floor(h / 64) (b + 1)"), 6);
  EXPECT_EQ(value("mod(w, h)"), 32);
  EXPECT_EQ(value("mod(h, 64) + mod(n + 1, C)"), 1);
  EXPECT_EQ(value("2 max(h, w)"), 192);
  EXPECT_EQ(value("C / k"), 2);
  EXPECT_EQ(value("2^log2(w) / w"), 128.0 / 96);
  EXPECT_EQ(value("1 + 2 ceil(log2((n + 1) / C) / log2(C))"), 3);
}

// A letter of a function's name is no name.
TEST(CostFormula, SaysWhichNamesItUses) {
  EXPECT_TRUE(CostFormula::uses("2 d + 1 + above(max(h, w), T)", 'd'));
  EXPECT_FALSE(CostFormula::uses("2 + above(max(h, w), T)", 'd'));
  EXPECT_FALSE(CostFormula::uses("mod(n, k)", 'd'));
  EXPECT_TRUE(CostFormula::uses("mod(n, k) d", 'd'));
  EXPECT_FALSE(CostFormula::uses("floor(n) + above(n, 1)", 'r'));
  EXPECT_FALSE(CostFormula::uses("floor(n) + above(n, 1)", 'b'));
  EXPECT_TRUE(CostFormula::uses("1 + r", 'r'));
  EXPECT_TRUE(CostFormula::uses("2^log2(n)", 'n'));
  EXPECT_FALSE(CostFormula::uses("", 'n'));
}

TEST(CostFormula, PowersBindTighter) {
  EXPECT_EQ(value("2 r^2"), 2 * 0.0625);
  EXPECT_EQ(value("b^2 / 5"), 5);
  EXPECT_EQ(value("2^(1 + 2)"), 8);
}

TEST(CostFormula, EveryRowOfTheCatalogueIsRead) {
  for (const Algorithm& row : algorithms())
    for (const std::string_view text : {row.reads_per_element, row.writes_per_element, row.barrier_steps}) {
      SCOPED_TRACE(row.id);
      CostNames here = names;
      if (row.takes.r) here.k = 2;  // a side in tiles
      EXPECT_GE(CostFormula::value(text, here), 0) << text;
    }
}

TEST(CostFormula, SaysWhereItIsWrong) {
  const std::pair<const char*, int> cases[] = {
      {"", 1},  {"1 +", 4},    {"(h", 3},  {"h)", 2},     {"x", 1},        {"2 + x", 5},  {"1 // 2", 4},  {"2^", 3},
      {".", 1}, {"log2 n", 6}, {"log", 1}, {"ceil 2", 1}, {"above(h)", 8}, {"mod(h)", 6}, {"floor 2", 1}, {"h ? w", 3}};
  for (const auto& [text, at] : cases) {
    SCOPED_TRACE(text);
    try {
      value(text);
      ADD_FAILURE() << "was taken";
    } catch (const InvalidArgument& error) {
      EXPECT_EQ(error.what(), "formula \"" + std::string(text) + "\": wrong at character " + std::to_string(at));
    }
  }
}

}  // namespace
}  // namespace areal
