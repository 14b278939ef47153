// The share r of hybrid-1r1w: its rounding to whole tiles, and the choice of the best.

#include <gtest/gtest.h>
#include <algorithm>
#include <areal/error.hpp>
#include <areal/info.hpp>
#include <areal/research/model.hpp>
#include <areal/research/sat.hpp>
#include <cmath>
#include <limits>
#include <vector>

namespace areal::test {
namespace {

using research::best_hybrid_share;
using research::hybrid_share;
using research::hybrid_shares;

constexpr TypePair types{Type::f32, Type::f32};
const Execution on_simt{.backend = Backend::simt};

SatOptions hybrid(Border border = Border::zero) {
  return {.border = border, .types = types, .algorithm = "hybrid-1r1w"};
}

bool simt_is_here() {
  try {
    algorithm_model({.algorithm = "hybrid-1r1w", .height = 64, .width = 64});
    return true;
  } catch (const Unavailable&) {
    return false;
  }
}

TEST(HybridShare, IsMadeOfWholeTiles) {
  // 5 x 6 tiles: sides of 1 to 4.
  const std::vector<double> all{2.0 / 30, 6.0 / 30, 12.0 / 30, 20.0 / 30};
  EXPECT_EQ(hybrid_shares({190, 160}, Border::none, 100), all);
  for (const double share : all) EXPECT_EQ(hybrid_share({190, 160}, share, Border::none), share);
  EXPECT_EQ(hybrid_share({190, 160}, 0.25, Border::none), all[1]);
  EXPECT_EQ(hybrid_share({190, 160}, 0.99, Border::none), all[3]);
  EXPECT_EQ(hybrid_share({190, 160}, 0.01, Border::none), 0);
  // The last row and column of an exclusive table are not summed.
  EXPECT_EQ(hybrid_shares({193, 161}, Border::exclusive, 100), all);
  EXPECT_EQ(hybrid_shares({193, 161}, Border::none, 100).size(), 5U);
}

TEST(HybridShare, NoTrianglesInOneRowOfTiles) {
  for (const Shape& shape : {Shape{}, Shape{32, 32}, Shape{1000, 32}, Shape{7, 1000}}) {
    EXPECT_EQ(hybrid_share(shape, 0.25, Border::none), 0);
    EXPECT_TRUE(hybrid_shares(shape, Border::none, 5).empty());
  }
}

TEST(HybridShare, FewOfMany) {
  const Shape shape{65536, 65536};
  const auto side = [](double share) { return static_cast<int>(std::lround(std::sqrt(share) * 2048)); };
  const std::vector<double> few = hybrid_shares(shape, Border::none, 12);
  ASSERT_EQ(few.size(), 12U);
  EXPECT_TRUE(std::is_sorted(few.begin(), few.end()));
  EXPECT_EQ(few.back(), hybrid_share(shape, 0.9999, Border::none));
  for (int i = 0; i < 12; ++i) EXPECT_NEAR(side(few[static_cast<std::size_t>(i)]), 2047.0 * (i + 1) / 12, 1.5) << i;
  // Between two of them, including the bounds if there is room for all.
  const std::vector<double> between = hybrid_shares(shape, Border::none, 6, few[2], few[4]);
  ASSERT_EQ(between.size(), 6U);
  EXPECT_GT(between.front(), few[2]);
  EXPECT_EQ(between.back(), few[4]);
  const std::vector<double> all = hybrid_shares(shape, Border::none, 10000, few[2], few[4]);
  EXPECT_EQ(all.front(), few[2]);
  EXPECT_EQ(all.back(), few[4]);
  EXPECT_EQ(static_cast<int>(all.size()), side(few[4]) - side(few[2]) + 1);
  for (const double share : all) EXPECT_EQ(hybrid_share(shape, share, Border::none), share);
  EXPECT_TRUE(hybrid_shares(shape, Border::none, 6, few[2] * 1.00001, few[2] * 1.00002).empty());
}

TEST(HybridShare, TheBestOnSimtCostsLeast) {
  if (!simt_is_here()) GTEST_SKIP() << "simt is not here";
  for (const Shape& shape : {Shape{64, 64}, Shape{192, 160}, Shape{330, 256}}) {
    double best = 0, least = std::numeric_limits<double>::infinity();
    AlgorithmRequest request{.algorithm = "1r1w", .height = shape.height, .width = shape.width, .types = types};
    double before = *algorithm_model(request).cost.counted;
    request.algorithm = "hybrid-1r1w";
    for (const double share : hybrid_shares(shape, Border::none, 100)) {
      request.r = share;
      const double cost = *algorithm_model(request).cost.counted;
      EXPECT_GT(cost, before) << shape.width << " x " << shape.height << ", r " << share;  // a triangle never pays
      before = cost;
      if (cost < least) best = share, least = cost;
    }
    EXPECT_EQ(best_hybrid_share(shape, types.input, hybrid(Border::none), on_simt), best)
        << shape.width << " x " << shape.height;
  }
}

TEST(HybridShare, TheBestIsOneOfThem) {
  for (const Backend backend : {Backend::simt, Backend::cuda}) {
    if (backend == Backend::simt ? !simt_is_here() : devices().empty()) continue;
    const Execution there{.backend = backend};
    const Shape shape{200, 230};
    const std::vector<double> all = hybrid_shares(shape, Border::zero, 100);
    const double best = best_hybrid_share(shape, types.input, hybrid(), there);
    EXPECT_NE(std::find(all.begin(), all.end(), best), all.end()) << best;
    // Nothing to choose: the requested share.
    EXPECT_EQ(best_hybrid_share({40, 20}, types.input, hybrid(), there, 0.3), 0.3);
    EXPECT_EQ(best_hybrid_share({0, 0}, types.input, hybrid(), there, 0.3), 0.3);
  }
}

TEST(HybridShare, OnlyTheHybridHasOne) {
  SatOptions options = hybrid();
  EXPECT_THROW(best_hybrid_share({96, 96}, types.input, options, {.backend = Backend::cpu}), InvalidArgument);
  for (const char* id : {"auto", "1r1w"}) {
    options.algorithm = id;
    EXPECT_THROW(best_hybrid_share({96, 96}, types.input, options, on_simt), InvalidArgument) << id;
  }
}

}  // namespace
}  // namespace areal::test
