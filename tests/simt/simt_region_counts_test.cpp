// The reads and writes that the contracts of the query kernels promise, compared with the simulated machine's counts.
#include <gtest/gtest.h>
#include <areal/region.hpp>
#include <cstddef>
#include <optional>
#include <vector>
#include "kernels/query/request.hpp"
#include "simt/plan.hpp"

namespace areal {
namespace {

/// Reads that the kernels promise for a request. Inner regions of a table have all four corners.
class Reads : public testing::Test {
 protected:
  static constexpr std::uint64_t a_region = 4;  // numbers
  static constexpr std::size_t n = 640;
  static Counts counts(const kernels::RegionRequest& request) {
    const auto launches = simt::execute<kernels::Query>({}, request, nullptr);
    EXPECT_EQ(launches.size(), 1u);
    return launches.at(0).counts;
  }
  static std::vector<Region> inner() {
    std::vector<Region> regions;
    for (std::int64_t k = 0; k < static_cast<std::int64_t>(n); ++k)
      regions.push_back({1 + k % 20, 1 + k % 13, 1 + k % 7, 1 + k % 11});
    return regions;
  }
  static kernels::RegionList list(const std::vector<Region>& regions) {
    return {regions.data(), static_cast<std::int64_t>(regions.size()), Outside::error, nullptr};
  }
};

TEST_F(Reads, SumsReadFourElementsARegion) {
  const std::vector<std::uint32_t> table(41 * 31, 1);
  const std::vector<Region> regions = inner();
  std::vector<std::uint64_t> out(n);
  const Counts c =
      counts(kernels::SumsRequest{{ConstView(table.data(), 41, 31), Border::zero}, list(regions), out.data(), false});
  EXPECT_EQ(c.reads.elements, n * (a_region + 4));
  EXPECT_EQ(c.writes.elements, n);
  EXPECT_EQ(c.writes.strided, 0u);
  EXPECT_EQ(c.atomics.elements, 0u);
  EXPECT_EQ(c.block_barriers, 0u);
}

TEST_F(Reads, BoxesReadEightElements) {
  const Shape shape{41, 31, 1, 11};
  const std::vector<std::uint32_t> table(41 * 31 * 11, 1);
  for (const Border border : {Border::zero, Border::none}) {
    std::vector<Box> boxes;
    for (std::int64_t k = 0; k < static_cast<std::int64_t>(n); ++k)
      boxes.push_back({1 + k % 20, 1 + k % 13, 1 + k % 5, 1 + k % 7, 1 + k % 11, 1 + k % 4});
    std::vector<double> out(n);
    const auto ask = [&] {
      return counts(kernels::BoxesRequest{ConstView(table.data(), Type::u32, shape),
                                          border,
                                          {40, 30, 10},
                                          {boxes.data(), n, Outside::error, nullptr},
                                          out.data()});
    };
    Counts c = ask();
    EXPECT_EQ(c.reads.elements, n * (6 + 8));
    EXPECT_EQ(c.writes.elements, n);
    EXPECT_EQ(c.writes.strided, 0u);
    EXPECT_EQ(c.atomics.elements, 0u);
    for (Box& box : boxes) box = {0, 0, 0, 3, 2, 1};
    EXPECT_EQ(ask().reads.elements, n * (6 + (border == Border::none ? 1 : 8)));
    for (Box& box : boxes) box.height = 0;
    EXPECT_EQ(ask().reads.elements, n * 6);
  }
}

TEST_F(Reads, RotatedRectanglesReadFourElements) {
  const std::vector<float> table(41 * 31, 1);
  std::vector<Region> regions;
  for (std::int64_t k = 0; k < static_cast<std::int64_t>(n); ++k)
    regions.push_back({12 + k % 20, k % 13, 1 + k % 7, 1 + k % 11});
  std::vector<double> out(n);
  const auto ask = [&] {
    return counts(kernels::RotatedRequest{ConstView(table.data(), 41, 31), list(regions), out.data()});
  };
  const Counts c = ask();
  EXPECT_EQ(c.reads.elements, n * (a_region + 4));
  EXPECT_EQ(c.writes.elements, n);
  EXPECT_EQ(c.writes.strided, 0u);
  for (Region& region : regions) region.width = 0;
  EXPECT_EQ(ask().reads.elements, n * a_region);
}

TEST_F(Reads, ConversionsReadAndWriteEachElementOnce) {
  constexpr std::uint64_t width = 70, height = 41;
  const std::vector<float> table(width * height, 1);
  const std::vector<std::uint8_t> image(width * height, 1);
  std::vector<float> out((width + 1) * (height + 1));
  const ConstView from(table.data(), width, height), pixels(image.data(), width, height);
  const auto ask = [&](Border from_border, Border to_border, const View& to, std::optional<ConstView> last) {
    return counts(kernels::ConvertRequest{{from, from_border}, to, to_border, last});
  };
  const View larger(out.data(), width + 1, height + 1);
  Counts c = ask(Border::none, Border::zero, larger, std::nullopt);
  EXPECT_EQ(c.reads.elements, width * height);
  EXPECT_EQ(c.writes.elements, (width + 1) * (height + 1));
  EXPECT_EQ(c.writes.strided, 0u);
  c = ask(Border::exclusive, Border::zero, larger, pixels);
  // The last column adds height - 1 pixels, the last row width, each to a neighbour that is read except the last one.
  EXPECT_EQ(c.reads.elements, width * height + 2 * (height - 1) + width + width - 1);
  EXPECT_EQ(c.writes.elements, (width + 1) * (height + 1));
}

TEST_F(Reads, AWarpReportsWhatItRefusedOnce) {
  const std::vector<std::uint32_t> table(41 * 31, 1);
  const std::vector<Region> regions(n, Region{0, 0, 41, 1});
  std::vector<std::uint64_t> out(n);
  std::int64_t refused = 77;
  kernels::RegionList all = list(regions);
  all.refused = &refused;
  const Counts c =
      counts(kernels::SumsRequest{{ConstView(table.data(), 41, 31), Border::zero}, all, out.data(), false});
  EXPECT_EQ(refused, 0);
  EXPECT_EQ(c.reads.elements, n * a_region);  // nothing of the table
  EXPECT_EQ(c.atomics.elements, n / 32);
}

TEST_F(Reads, VariancesReadFourElementsATable) {
  const std::vector<std::uint32_t> table(41 * 31, 1);
  const std::vector<std::uint64_t> squares(41 * 31, 1);
  const std::vector<Region> regions = inner();
  std::vector<double> out(n);
  const Counts c = counts(kernels::StatisticsRequest{kernels::Statistic::variance,
                                                     {ConstView(table.data(), 41, 31), Border::zero},
                                                     TableView{ConstView(squares.data(), 41, 31), Border::zero},
                                                     std::nullopt,
                                                     list(regions),
                                                     out.data()});
  EXPECT_EQ(c.reads.elements, n * (a_region + 8));
  EXPECT_EQ(c.writes.elements, n);
}

TEST_F(Reads, HistogramsReadFourElementsABin) {
  constexpr std::uint64_t bins = 32;
  const Shape shape{41, 31, bins, 1, Layout::planar};
  const std::vector<std::uint32_t> tensor(41 * 31 * bins, 1);
  const std::vector<Region> regions = inner();
  std::vector<std::uint64_t> out(n * bins);
  const Counts c = counts(kernels::HistogramsRequest{
      {ConstView(tensor.data(), Type::u32, shape), Border::zero}, list(regions), out.data(), false});
  EXPECT_EQ(c.reads.elements, n * bins * (a_region + 4));
  // The 32 lanes of a region read it at once: 32 bytes in one sector, or two.
  EXPECT_LE(c.reads.sectors, n * (2 * 2 + bins * 4));
  EXPECT_EQ(c.writes.elements, n * bins);
  EXPECT_EQ(c.writes.strided, 0u);
}

TEST_F(Reads, ReducersReadEachBinOnceOrTwice) {
  const std::vector<double> histograms(n * 10, 1), edges(11);
  std::vector<double> out(n * 10);
  const kernels::HistogramList all{histograms.data(), n, 10};
  using kernels::Reducer;
  const auto reads = [&](Reducer reducer, const double* given) {
    return counts(kernels::ReduceRequest{reducer, all, given, 100, out.data()}).reads.elements;
  };
  EXPECT_EQ(reads(Reducer::mode, nullptr), n * 10);
  EXPECT_EQ(reads(Reducer::entropy, nullptr), n * 20);
  EXPECT_EQ(reads(Reducer::normalise, nullptr), n * 20);
  EXPECT_EQ(reads(Reducer::mean, edges.data()), n * (20 + 11));
  EXPECT_EQ(reads(Reducer::percentile, edges.data()), n * (20 + 11));
  EXPECT_EQ(counts(kernels::DistancesRequest{Distance::l1, all, histograms.data(), out.data()}).reads.elements, n * 40);
}

// Of an image of 200 x 60. Those of the rim, and wide ones, read four elements; others the columns above and below them
// once each.
TEST_F(Reads, WindowsReadTheirElementsOrShareThem) {
  const std::vector<float> table(201 * 61, 1);
  const auto reads = [&](std::int64_t width, std::int64_t height) {
    const std::int64_t across = 201 - width, down = 61 - height;
    std::vector<float> out(static_cast<std::size_t>(across * down));
    const formulas::WindowAxis columns{200, width, 0, across, Edge::valid}, rows{60, height, 0, down, Edge::valid};
    const Counts c = counts(kernels::WindowsRequest{kernels::Statistic::mean,
                                                    {ConstView(table.data(), 201, 61), Border::zero},
                                                    std::nullopt,
                                                    columns,
                                                    rows,
                                                    View(out.data(), across, down)});
    EXPECT_EQ(c.reads.strided, 0u);
    EXPECT_EQ(c.writes.elements, static_cast<std::uint64_t>(across * down));
    EXPECT_EQ(c.writes.strided, 0u);
    return c.reads.elements;
  };
  EXPECT_EQ(reads(130, 3), 71u * 58 * 4);
  EXPECT_EQ(reads(4, 3), 197u * 2 * 4 + 201 * 56 * 2);  // two rows of 58 are of the rim
  EXPECT_EQ(reads(4, 33), 201u * 28 * 2);
}

/// One window of a 9 x 9 image, at its corner (0, 0): how many elements of the table it reads.
TEST_F(Reads, WindowsBeyondTheEdgeReadTheirRectangles) {
  const std::vector<float> table(10 * 10, 1);
  std::vector<float> out(1);
  const auto reads = [&](Edge edge, std::int64_t size, std::int64_t before) {
    const formulas::WindowAxis axis{9, size, before, 1, edge};
    return counts(kernels::WindowsRequest{kernels::Statistic::sum,
                                          {ConstView(table.data(), 10, 10), Border::zero},
                                          std::nullopt,
                                          axis,
                                          axis,
                                          View(out.data(), 1, 1)})
        .reads.elements;
  };
  for (const Edge edge : {Edge::replicate, Edge::reflect, Edge::symmetric, Edge::wrap}) {
    EXPECT_EQ(reads(edge, 5, 2), 4u * 4);          // inside, and beyond one end of either axis
    EXPECT_EQ(reads(edge, 9 + 4 + 5, 4), 4u * 9);  // beyond both
  }
  for (const Edge edge : {Edge::reflect, Edge::symmetric, Edge::wrap})
    EXPECT_EQ(reads(edge, 1000, 498), 4u * 25) << static_cast<int>(edge);  // and whole copies of both kinds
  for (const Edge edge : {Edge::shrink, Edge::zero, Edge::constant}) EXPECT_EQ(reads(edge, 1000, 498), 4u);
}

TEST_F(Reads, DistanceMapsReadEachBinTwice) {
  constexpr std::uint64_t bins = 5;
  std::vector<std::uint32_t> tensor;  // a pixel of each bin everywhere
  for (std::uint32_t i = 0; i < 41 * 31 * bins; ++i) tensor.push_back(i % 41 * (i / 41 % 31));
  const std::vector<double> target(bins, 1);
  std::vector<double> out(37 * 27);
  const Counts c = counts(kernels::DistanceMapRequest{
      {ConstView(tensor.data(), Type::u32, {41, 31, bins, 1, Layout::planar}), Border::zero},
      4,
      4,
      target.data(),
      Distance::l1,
      View(out.data(), 37, 27)});
  EXPECT_EQ(c.reads.elements, 37u * 27 * bins * (8 + 2));
  EXPECT_EQ(c.writes.elements, 37u * 27);
}

TEST_F(Reads, ScatterSortsCornersInPassesOf8Bits) {
  for (const std::int64_t height : {5, 31}) {  // 205 and 1271 elements
    std::vector<Region> regions;
    for (std::int64_t k = 0; k < static_cast<std::int64_t>(n); ++k)
      regions.push_back({k % 20, k % (height / 2), 1 + k % 20, 1 + k % (height / 2)});
    const std::vector<double> values(n, 1);
    std::vector<float> out(static_cast<std::size_t>(41 * height));
    std::vector<std::byte> workspace(kernels::ScatterRequest::workspace_bytes(n));
    const kernels::ScatterRequest request{list(regions), values.data(), View(out.data(), 41, height), Border::zero,
                                          workspace.data()};
    const auto launches = simt::execute<kernels::Query>({}, request, nullptr);
    const std::size_t passes = height == 5 ? 1 : 2;
    ASSERT_EQ(launches.size(), 2 + 3 * passes);
    EXPECT_EQ(launches[0].counts.writes.elements, out.size());
    EXPECT_EQ(launches[0].counts.reads.elements, 0u);
    constexpr std::uint64_t corners = 4 * n, blocks = corners / 256;
    for (std::size_t pass = 0; pass < passes; ++pass) {
      const Counts &count = launches[1 + 3 * pass].counts, &add = launches[2 + 3 * pass].counts,
                   &move = launches[3 + 3 * pass].counts;
      const std::uint64_t a_corner = a_region + (pass > 0 ? 1 : 0);
      EXPECT_EQ(count.reads.elements, corners * a_corner);
      EXPECT_EQ(count.writes.elements, 256 * blocks);
      EXPECT_EQ(add.reads.elements, 256 * blocks);
      EXPECT_EQ(add.writes.elements, 256 * blocks + 256);
      EXPECT_EQ(move.reads.elements, corners * a_corner + 2 * 256 * blocks);
      EXPECT_EQ(move.writes.elements, corners);
    }
    std::uint64_t written = 0;
    for (const float element : out) written += element != 0;
    const Counts& last = launches.back().counts;
    EXPECT_EQ(last.reads.elements, corners * (1 + a_region) + 2 * (corners - 1) * (1 + a_region) + corners);
    EXPECT_GE(last.writes.elements, written);
    EXPECT_LE(last.writes.elements, out.size());
    EXPECT_EQ(last.atomics.elements, 0u);
  }
}

}  // namespace
}  // namespace areal
