// Pieces of a larger tensor on the simulated machine, which checks every access; what the carries cost.
#include <gtest/gtest.h>
#include <areal/error.hpp>
#include "api/core/pixel_rule.hpp"
#include "api/histogram/histogram_request.hpp"
#include "histogram_carries.hpp"
#include "simt/plan.hpp"

namespace areal {
namespace {

using oracle::CarriedPiece;
using oracle::CarryCase;

const Execution on_simt{.backend = Backend::simt};

void execute(const HistogramPlan& plan, CarriedPiece& piece) {
  Workspace workspace(plan);
  plan.execute(piece.arguments(), workspace);
}

TEST(SimtCarry, AFlippedEntryIsFound) {
  const CarryCase c{{40, 30}, Type::u8, oracle::uniform(3, 0, 256)};
  std::mt19937_64 random(1);
  const oracle::WholeTensor whole(c, random);
  EXPECT_EQ(oracle::piece_difference(c, whole, 7, 5, 20, 20, 1, 2, on_simt, execute), "");
  EXPECT_NE(oracle::piece_difference(c, whole, 7, 5, 20, 20, 1, 2, on_simt, execute, true), "");
}

TEST(SimtCarry, RandomGridsAreTheWhole) {
  const std::uint64_t seed = 20261123;
  std::mt19937_64 random(seed);
  for (int i = 0; i < 40 && !testing::Test::HasFatalFailure(); ++i) {
    // Beyond a tile of 128 x 64, too.
    const CarryCase c = i % 4 ? oracle::random_case(random, 60, 50, true) : oracle::random_case(random, 300, 150, true);
    oracle::check_grid(c, seed + static_cast<std::uint64_t>(i), on_simt, execute);
  }
}

// Stacks of two and four tiles, and blocks of several.
TEST(SimtCarry, SeveralTilesOfAWarp) {
  oracle::check_any_values({{140, 260}, Type::u8, oracle::uniform(1, 0, 256)}, 4, on_simt, execute);
  // 512 blocks are enough for stacks of four.
  oracle::check_any_values({{1, 66}, Type::u16, oracle::uniform(4096, 0, 4096), Border::zero}, 5, on_simt, execute,
                           {3});
}

TEST(SimtCarry, AnyValuesWrap) {
  for (const Border border : {Border::none, Border::zero, Border::exclusive})
    for (const Type counter : {Type::u16, Type::u32, Type::u64})
      for (const Shape& shape : {Shape{1, 1}, Shape{70, 130, 1, 2}, Shape{256, 3}, Shape{0, 4}, Shape{4, 0}})
        oracle::check_any_values({shape, Type::u8, oracle::uniform(4, 0, 200), border, counter, false, 3, 1}, 9,
                                 on_simt, execute);
}

// The reads beyond those without a carry. Of each stack of tiles: its columns, and by each lane the corner; each of its
// rows and the row before, but for the first of the piece, and by each lane the row before the stack.
TEST(SimtCarry, ReadsARowAndAColumnOfEachStackOfTiles) {
  const std::int64_t width = 300, height = 140, bins = 5, images = 2;
  const Shape shape{width, height, 1, images}, entries{width, height, bins, images, Layout::planar};
  HistogramOptions options;
  const kernels::HistogramRequest request = histogram_request(
      shape, pixel_bins(Binning::uniform(bins, 0, 256), Type::u8, 1), options, {}, "reduce-then-scan");
  const auto plan = simt::make_plan<kernels::Histogram>(request);
  Shape row = entries, column = entries;
  row.width += 1, row.height = 1, column.width = 1;
  Array image(shape, Type::u8), tensor(entries, Type::u32), above(row, Type::u32), left(column, Type::u32);
  std::vector<char> workspace(plan->workspace_bytes());
  plan->prepare(workspace.data(), Stream::host());
  const auto counts_of = [&](const Carry& carry) {
    Counts counts;
    for (const LaunchCounts& launch :
         simt::execute<kernels::Histogram>(request, {image.view(), tensor.view(), {}, carry}, workspace.data()))
      counts += launch.counts;
    return counts;
  };
  const Counts none = counts_of({}), with_above = counts_of({above.view(), {}}),
               with_left = counts_of({{}, left.view()}), both = counts_of({above.view(), left.view()});
  const std::uint64_t planes = bins * images, tiles_x = 3, stacks_y = 3;  // of so few blocks each tile is a stack
  const std::uint64_t more_above = planes * stacks_y * (width + 32 * tiles_x),
                      more_left = planes * tiles_x * (2 * height - 1 + 32 * (stacks_y - 1));
  EXPECT_EQ(with_above.reads.elements - none.reads.elements, more_above);
  EXPECT_EQ(with_left.reads.elements - none.reads.elements, more_left);
  EXPECT_EQ(both.reads.elements - none.reads.elements, more_above + more_left);
  EXPECT_EQ(both.reads.bytes - none.reads.bytes, 4 * (more_above + more_left));
  EXPECT_EQ(both.launches, none.launches);
  EXPECT_EQ(both.writes.elements, none.writes.elements);
  EXPECT_EQ(both.shared_reads.elements, none.shared_reads.elements);
}

TEST(SimtCarry, PapersAlgorithmsRefuseIt) {
  const Shape shape{8, 6};
  Array image(shape, Type::u8), tensor({8, 6, 4, 1, Layout::planar}, Type::u32),
      left({1, 6, 4, 1, Layout::planar}, Type::u32);
  int refused = 0;
  for (const char* const id : {"cw-b", "cw-sts", "cw-tis", "wf-tis", "harris", "lee-choe"}) {
    const HistogramPlan plan(shape, Type::u8, Binning::uniform(4, 0, 256), {.algorithm = id}, on_simt);
    try {
      plan.check({image.view(), tensor.view(), {}, {{}, left.view()}});
    } catch (const InvalidArgument& error) {
      refused += std::string(error.what()).find("takes no carry") != std::string::npos;
    }
  }
  EXPECT_EQ(refused, 6);
}

}  // namespace
}  // namespace areal
