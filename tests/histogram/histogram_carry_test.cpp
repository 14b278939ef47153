// Pieces of a larger tensor on the CPU, which take over what is above and to their left.
#include <gtest/gtest.h>
#include <areal/error.hpp>
#include <cstdlib>
#include "histogram_carries.hpp"

namespace areal {
namespace {

using oracle::CarriedPiece;
using oracle::CarryCase;

Execution on_cpu(int threads = 0) { return {.backend = Backend::cpu, .threads = threads}; }

void execute(const HistogramPlan& plan, CarriedPiece& piece) {
  Workspace workspace(plan);
  plan.execute(piece.arguments(), workspace);
}

TEST(HistogramCarry, AFlippedEntryIsFound) {
  const CarryCase c{{40, 30}, Type::u8, oracle::uniform(3, 0, 256)};
  std::mt19937_64 random(1);
  const oracle::WholeTensor whole(c, random);
  EXPECT_EQ(oracle::piece_difference(c, whole, 7, 5, 20, 20, 1, 2, on_cpu(), execute), "");
  EXPECT_NE(oracle::piece_difference(c, whole, 7, 5, 20, 20, 1, 2, on_cpu(), execute, true), "");
  const auto without = [](const HistogramPlan& plan, CarriedPiece& piece) {
    Workspace workspace(plan);
    plan.execute({piece.image.view, piece.tensor.view}, workspace);
  };
  EXPECT_NE(oracle::piece_difference(c, whole, 7, 5, 20, 20, 1, 2, on_cpu(), without), "");
}

TEST(HistogramCarry, RandomGridsAreTheWhole) {
  const std::uint64_t seed = 20261122;
  std::mt19937_64 random(seed);
  for (int i = 0; i < 120 && !testing::Test::HasFatalFailure(); ++i) {
    // Beyond a tile of 512 x 64, too.
    const CarryCase c =
        i % 4 ? oracle::random_case(random, 90, 70, false) : oracle::random_case(random, 1300, 150, false);
    oracle::check_grid(c, seed + static_cast<std::uint64_t>(i), on_cpu(i % 3), execute);
  }
}

TEST(HistogramCarry, AnyValuesWrap) {
  for (const Border border : {Border::none, Border::zero, Border::exclusive})
    for (const Type counter : {Type::u32, Type::u64})
      for (const Shape& shape :
           {Shape{1, 1}, Shape{70, 130, 1, 2}, Shape{1100, 3}, Shape{3, 200}, Shape{0, 4}, Shape{4, 0}})
        oracle::check_any_values({shape, Type::u8, oracle::uniform(4, 0, 200), border, counter, false, 3, 1}, 9,
                                 on_cpu(2), execute);
}

TEST(HistogramCarry, WhatIsRefused) {
  const Shape shape{8, 6}, entries{8, 6, 4, 1, Layout::planar}, row{9, 1, 4, 1, Layout::planar},
      column{1, 6, 4, 1, Layout::planar};
  const Binning binning = Binning::uniform(4, 0, 256);
  Array image(shape, Type::u8), tensor(entries, Type::u32), above(row, Type::u32), left(column, Type::u32);
  const HistogramPlan plan(shape, Type::u8, binning, {}, on_cpu());
  const auto sentence_of = [&](const HistogramPlan& of, const Carry& carry) -> std::string {
    try {
      of.check({image.view(), tensor.view(), {}, carry});
    } catch (const InvalidArgument& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(sentence_of(plan, {above.view(), left.view()}), "");
  EXPECT_EQ(sentence_of(plan, {left.view(), {}}),
            "carry.above shape 1x6, 4 planar channels: this plan takes 9x1, 4 planar channels");
  EXPECT_EQ(sentence_of(plan, {{}, above.view()}),
            "carry.left shape 9x1, 4 planar channels: this plan takes 1x6, 4 planar channels");
  Array wide(row, Type::u64);
  EXPECT_EQ(sentence_of(plan, {wide.view(), {}}), "carry.above type 64u: this plan takes 32u");
  EXPECT_EQ(sentence_of(plan, {ConstView(tensor.data(), Type::u32, row), {}}),
            "carry.above and the tensor share memory");
  EXPECT_EQ(sentence_of(plan, {{}, ConstView(left.data(), Type::u32, column).in({MemoryPlace::cuda, 0})}).substr(0, 10),
            "carry.left");
  for (const char* const id : {"serial", "parallel"}) {
    const HistogramPlan paper(shape, Type::u8, binning, {.algorithm = id}, on_cpu());
    EXPECT_EQ(sentence_of(paper, {{}, left.view()}),
              "algorithm " + std::string(id) +
                  " takes no carry of a larger tensor; for one choose auto, fused (cpu) or reduce-then-scan (cuda, "
                  "simt)");
  }
}

}  // namespace
}  // namespace areal
