// Histograms of regions straight from the pixels on the simulated machine, which checks every access; and the reads,
// writes and additions that the contract of the kernels promises.
#include <areal/array.hpp>
#include <areal/error.hpp>
#include <areal/histogram.hpp>
#include <areal/histogram_store.hpp>
#include <cstdlib>
#include "api/query/region_counts.hpp"
#include "device_count_cases.hpp"
#include "host_bed.hpp"
#include "kernels/query/request.hpp"
#include "simt/plan.hpp"

namespace areal {
namespace {

using namespace device_cases;

using Bed = HostBed<Backend::simt>;

TEST(SimtPixelCounts, AWrongPixelIsCaught) { a_wrong_pixel_is_caught<Bed>(); }
TEST(SimtPixelCounts, EveryTypeAndRule) { counts_of_every_type_and_rule<Bed>(); }
TEST(SimtPixelCounts, JointChannels) { counts_of_joint_channels<Bed>(); }
TEST(SimtPixelCounts, EveryShape) { counts_of_every_shape<Bed>(); }
TEST(SimtPixelCounts, EveryNumberOfBins) { counts_of_every_number_of_bins<Bed>(); }
TEST(SimtPixelCounts, ManyRegions) { counts_of_many_regions<Bed>(); }
TEST(SimtPixelCounts, VeryManyRegions) {
  if (std::getenv("AREAL_TEST_FULL") == nullptr) GTEST_SKIP() << "takes long: AREAL_TEST_FULL=1 runs it";
  counts_of_very_many_regions<Bed>();
}
TEST(SimtPixelCounts, OutsideIsRefusedOrClipped) { counts_outside_are_refused_or_clipped<Bed>(); }
TEST(SimtPixelCounts, WeightsHaveTheSameBitsInEveryRun) { weights_have_the_same_bits_in_every_run<Bed>(); }
TEST(SimtPixelCounts, TheHostAsks) { the_host_asks_for_counts<Bed>(); }
TEST(SimtPixelCounts, APlanCountsFrames) { a_plan_counts_frames<Bed>(); }

/// Counts of the launches for regions of an image of 256 x 128 bytes, at a multiple of 64, or of labels.
class PixelCountsReads : public testing::Test {
 protected:
  static constexpr std::uint64_t a_region = 4;  // numbers

  std::vector<LaunchCounts> launches(const Rule& rule, const std::vector<Region>& regions, Type type = Type::u8,
                                     bool weighted = false) {
    const ConstView image = this->image(type);
    const CountedRule counted(rule.binning, type, 1, weighted);
    const auto n = static_cast<std::int64_t>(regions.size());
    std::vector<std::uint64_t> out(regions.size() * static_cast<std::size_t>(rule.binning.bins()));
    std::vector<std::uint64_t> workspace(kernels::CountsRequest::workspace_bytes(n) / 8);
    kernels::CountsRequest request = counted.request(image, counted.device.tables.data());
    request.regions = {regions.data(), n, Outside::error, nullptr};
    request.out = out.data();
    request.workspace = workspace.data();
    if (weighted) request.weights = image;
    return simt::execute<kernels::Query>({}, request, nullptr);
  }
  ConstView image(Type type) const { return ConstView(memory_.data(), type, Shape{256, 128}); }
  void SetUp() override {
    std::mt19937_64 random(50);
    for (auto& word : memory_) word = random();
  }

 private:
  struct alignas(64) Line {
    std::uint64_t at[8];
  };
  std::vector<Line> lines_{256 * 128 * 4 / 64};
  std::span<std::uint64_t> memory_{lines_.front().at, lines_.size() * 8};
};

TEST_F(PixelCountsReads, SmallRegionsAreReadOnceAndStored) {
  const std::vector<Region> regions{{16, 0, 64, 64}, {32, 9, 64, 64}, {0, 64, 128, 64}};  // of whole vectors
  const std::uint64_t pixels = 64 * 64 * 2 + 128 * 64;
  const auto all = launches(oracle::uniform(32, 0, 256), regions);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].counts.reads.elements, 3 * a_region);
  EXPECT_EQ(all[0].counts.writes.elements, 0u);
  const Counts& c = all[1].counts;
  EXPECT_GT(all[1].blocks, 8);
  EXPECT_EQ(c.reads.elements, static_cast<std::uint64_t>(all[1].blocks) * 3 * a_region + pixels / 4);
  EXPECT_EQ(c.writes.elements, 3u * 32);
  EXPECT_EQ(c.atomics.elements, 0u);
  EXPECT_EQ(c.shared_atomics.elements, pixels);
  EXPECT_EQ(c.shared_atomics.conflicts, 0u);
}

TEST_F(PixelCountsReads, LargeRegionsAreClearedAndAdded) {
  const std::vector<Region> regions{{0, 0, 256, 128}, {16, 7, 192, 100}};
  const std::uint64_t pixels = 256 * 128 + 192 * 100;
  const auto all = launches(oracle::uniform(256, 0, 256), regions);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].counts.writes.elements, 2u * 256);
  const auto blocks = static_cast<std::uint64_t>(all[1].blocks);
  EXPECT_GT(blocks, 8u);
  const Counts& c = all[1].counts;
  EXPECT_EQ(c.reads.elements, blocks * 2 * a_region + pixels / 4);
  EXPECT_EQ(c.writes.elements, 0u);
  EXPECT_LE(c.atomics.elements, (2 + blocks) * 256);
  EXPECT_GT(c.atomics.elements, blocks * 200);
  EXPECT_EQ(c.shared_atomics.elements, pixels);
  EXPECT_EQ(c.shared_atomics.conflicts, 0u);
}

/// A row of pixels costs up to a vector of 16 bytes at either end. The pixels beside the region are counted, and each
/// thread takes back its own at the end.
TEST_F(PixelCountsReads, RowsBeginAnywhere) {
  const std::vector<Region> regions(20, Region{3, 1, 21, 50});
  const auto all = launches(oracle::uniform(32, 0, 256), regions);
  const auto blocks = static_cast<std::uint64_t>(all[1].blocks);
  EXPECT_EQ(all[1].counts.reads.elements, blocks * 20 * a_region + 20u * 50 * 2 * 4);
  EXPECT_EQ(all[1].counts.shared_atomics.elements, 20u * (50 * 32 + 100));
}

/// In a workspace of parts up to 1024 regions take one launch, whose blocks hand the counts of cut regions on.
TEST_F(PixelCountsReads, FewRegionsTakeOneLaunch) {
  constexpr std::uint64_t bins = 32;
  const CountedRule counted(Binning::uniform(bins, 0, 256), Type::u8, 1, false);
  std::vector<Region> regions{{0, 0, 256, 128}, {16, 7, 192, 100}, {3, 5, 0, 9}, {7, 1, 90, 91}, {250, 120, 6, 8}};
  for (std::int64_t i = 0; i < 300; ++i) regions.push_back({i % 200, i % 100, 1 + i % 40, 1 + i % 20});
  std::vector<std::uint64_t> parts((kernels::CountsRequest::parts_bytes(bins) + 15) / 8);
  // The number of regions changes from launch to launch in the same workspace; 300 regions are two groups.
  for (const std::size_t n : {std::size_t{2}, regions.size(), std::size_t{1}, std::size_t{5}, regions.size()})
    for (const std::uint64_t seed : {1, 2}) {
      std::vector<std::uint64_t> out(n * bins, 77), expected(n * bins);
      kernels::CountsRequest request = counted.request(image(Type::u8), counted.device.tables.data());
      request.regions = {regions.data(), static_cast<std::int64_t>(n), Outside::error, nullptr};
      request.out = expected.data();
      simt::execute<kernels::Query>({}, request, nullptr);
      request.out = out.data();
      request.parts = reinterpret_cast<void*>((reinterpret_cast<std::uintptr_t>(parts.data()) + 15) / 16 * 16);
      simt::Options options;
      options.seed = seed;
      options.start = seed == 1 ? simt::StartOrder::random : simt::StartOrder::descending;
      const auto all = simt::execute<kernels::Query>({}, request, nullptr, options);
      EXPECT_EQ(out, expected) << n << " regions, seed " << seed;
      ASSERT_EQ(all.size(), 1u);
      const Counts& c = all[0].counts;
      const auto blocks = static_cast<std::uint64_t>(all[0].blocks);
      EXPECT_EQ(c.atomics.elements, blocks + 1);  // the blocks' turns, and the next launch's
      EXPECT_EQ(c.writes.elements, n * bins);
      EXPECT_LE(c.published, blocks * bins);
      EXPECT_GT(c.published, 0u);
    }
}

TEST_F(PixelCountsReads, ManyRegionsAreAddedUpOnce) {
  constexpr std::uint64_t n = 1100, groups = 5;
  const std::vector<Region> regions(n, Region{16, 3, 16, 8});
  const auto all = launches(oracle::uniform(32, 0, 256), regions);
  EXPECT_EQ(all[0].counts.reads.elements, n * a_region);
  EXPECT_EQ(all[0].counts.writes.elements, groups);
  const auto blocks = static_cast<std::uint64_t>(all[1].blocks);
  EXPECT_LE(all[1].counts.reads.elements, n * 16 * 8 / 4 + blocks * (2 * groups + 2 * 256 * a_region));
  EXPECT_EQ(all[1].counts.writes.elements, n * 32);
  EXPECT_EQ(all[1].counts.atomics.elements, 0u);
  EXPECT_EQ(all[1].counts.shared_atomics.elements, n * 16 * 8);
}

/// A store of none on this backend has the CPU's counts, which `automatic` chooses for few regions.
TEST(SimtStores, NoneCountsThePixels) {
  Array image({40, 30, 1, 2}, Type::u8), weights({40, 30, 1, 2}, Type::f32);
  std::mt19937_64 random(51);
  for (std::int64_t i = 0; i < 40 * 30 * 2; ++i) {
    image.as<std::uint8_t>()[i] = static_cast<std::uint8_t>(random());
    weights.as<float>()[i] = static_cast<float>(random() % 100);
  }
  const Binning binning = Binning::uniform(8, 0, 256);
  const std::vector<Region> regions{{0, 0, 40, 30}, {3, 5, 7, 9}, {0, 0, 0, 0}};
  const Execution simt{.backend = Backend::simt}, cpu{.backend = Backend::cpu};
  const StorePlan plan({40, 30, 1, 2}, Type::u8, binning, {.regions = 3, .area = 1263}, simt);
  EXPECT_EQ(plan.store(), Store::none);
  EXPECT_EQ(plan.reason(), "store none: 3 regions cover 0.53 images; compact pays from 813");
  const HistogramStore made = plan.build({image.view()});
  EXPECT_EQ(made.bytes(), 0u);
  const HistogramStore expected = histogram_store(image.view(), binning, {.store = Store::none}, cpu);
  for (std::int64_t n = 0; n < 2; ++n) {
    EXPECT_EQ(region_histograms(made.view(n), regions), region_histograms(expected.view(n), regions));
    EXPECT_EQ(region_histograms<double>(made.view(n), regions), region_histograms<double>(expected.view(n), regions));
  }
  const StoreArguments weighted{.image = image.view(), .weights = weights.view()};
  EXPECT_EQ(
      region_histograms<double>(histogram_store(weighted, binning, {.store = Store::none}, simt).view(1), regions),
      region_histograms<double>(histogram_store(weighted, binning, {.store = Store::none}, cpu).view(1), regions));
  EXPECT_THROW(region_histograms(made.view(0), regions, {.execution = cpu}), InvalidArgument);
  std::vector<double> out(24);
  std::int64_t first = 0;
  EXPECT_THROW(region_histograms(made.view(0), regions, out, {.first_invalid = {&first, 1}}), InvalidArgument);
}

TEST_F(PixelCountsReads, ManyBinsAreCountedInGlobalMemory) {
  const std::vector<Region> regions{{0, 0, 100, 50}, {3, 3, 10, 10}};
  const auto all = launches(oracle::labels(65'535, 0), regions, Type::u16);
  EXPECT_EQ(all[0].counts.writes.elements, 2u * 65'535);
  EXPECT_EQ(all[1].counts.shared_atomics.elements, 0u);
  EXPECT_EQ(all[1].counts.writes.elements, 0u);
  EXPECT_LE(all[1].counts.atomics.elements, 5100u);
  EXPECT_GT(all[1].counts.atomics.elements, 5000u);
}

TEST_F(PixelCountsReads, WeightsAreReadOnce) {
  const std::vector<Region> regions{{0, 0, 100, 50}, {3, 3, 10, 10}};
  const auto all = launches(oracle::uniform(32, 0, 256), regions, Type::u8, true);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].blocks, 2);
  EXPECT_EQ(all[0].counts.reads.elements, 2 * 256 * a_region + 2 * 5100);  // every thread reads its block's region
  EXPECT_EQ(all[0].counts.writes.elements, 2u * 32);
}

}  // namespace
}  // namespace areal
