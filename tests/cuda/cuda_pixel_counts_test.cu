// Histograms of regions straight from the pixels on a GPU. All is skipped without one.
#include <cuda_runtime.h>
#include <gtest/gtest.h>
#include <areal/info.hpp>
#include "cuda_bed.hpp"
#include "device_count_cases.hpp"

namespace areal {
namespace {

using namespace device_cases;
using Bed = CudaBed;

#define REQUIRE_CUDA(call) ASSERT_EQ((call), cudaSuccess) << cudaGetErrorString(cudaGetLastError())

class CudaPixelCounts : public testing::Test {
 protected:
  void SetUp() override {
    if (devices().empty()) GTEST_SKIP() << "no GPU";
  }
};

TEST_F(CudaPixelCounts, AWrongPixelIsCaught) { a_wrong_pixel_is_caught<Bed>(); }
TEST_F(CudaPixelCounts, EveryTypeAndRule) { counts_of_every_type_and_rule<Bed>(); }
TEST_F(CudaPixelCounts, JointChannels) { counts_of_joint_channels<Bed>(); }
TEST_F(CudaPixelCounts, EveryShape) { counts_of_every_shape<Bed>(); }
TEST_F(CudaPixelCounts, EveryNumberOfBins) { counts_of_every_number_of_bins<Bed>(); }
TEST_F(CudaPixelCounts, ManyRegions) { counts_of_many_regions<Bed>(); }
TEST_F(CudaPixelCounts, VeryManyRegions) { counts_of_very_many_regions<Bed>(); }
TEST_F(CudaPixelCounts, OutsideIsRefusedOrClipped) { counts_outside_are_refused_or_clipped<Bed>(); }
TEST_F(CudaPixelCounts, WeightsHaveTheSameBitsInEveryRun) { weights_have_the_same_bits_in_every_run<Bed>(); }
TEST_F(CudaPixelCounts, TheHostAsks) { the_host_asks_for_counts<Bed>(); }
TEST_F(CudaPixelCounts, APlanCountsFrames) { a_plan_counts_frames<Bed>(); }

/// A large image, whose regions are shared by all multiprocessors, has the CPU's counts; also from host memory.
TEST_F(CudaPixelCounts, OfALargeImage) {
  Padded image = random_pixels(Type::u8, {3000, 2000}, 0, 255, 40);
  const Binning binning = Binning::uniform(32, 0, 256);
  for (const std::size_t n : {100, 20'000}) {
    std::vector<Region> regions = regions_of(3000, 2000, 50, 41);
    std::mt19937_64 random(42);
    while (regions.size() < n)
      regions.push_back(
          {static_cast<std::int64_t>(random() % 2900), static_cast<std::int64_t>(random() % 1900), 100, 77});
    std::vector<std::uint64_t> got(n * 32, 77);
    Bed bed;
    region_histograms(bed.in(image), binning, bed.in(regions), bed.out(got), {.execution = bed.on});
    bed.back();
    const auto want = region_histograms(image.view(), binning, regions, {.execution = {.backend = Backend::cpu}});
    EXPECT_EQ(differences(got, want), 0u) << n << " regions, seeds 40 to 42";
    const auto staged = region_histograms(image.view(), binning, regions, {.execution = {.backend = Backend::cuda}});
    EXPECT_EQ(differences(staged, want), 0u) << n << " regions of an image of the host";
  }
}

/// Calls of bytes, and executes of a plan for any type, may be captured; regions and pixels may change between replays.
TEST_F(CudaPixelCounts, AGraphIsReplayed) {
  Padded bytes = random_pixels(Type::u8, {200, 150}, 0, 255, 43),
         words = random_pixels(Type::s16, {200, 150}, -99, 255, 44);
  const Rule rule = oracle::uniform(12, 0, 200);
  for (const std::size_t n : {70, 1500}) {
    const std::vector<Region> regions = regions_of(200, 150, n, 45);
    std::vector<std::uint64_t> of_bytes(n * 12, 77), of_words(n * 12, 77);
    std::vector<std::int64_t> first{77};
    Bed bed;
    const ConstView bytes_there = bed.in(bytes), words_there = bed.in(words);
    const auto regions_there = bed.in(regions);
    const auto of_bytes_there = bed.out(of_bytes), of_words_there = bed.out(of_words);
    const auto first_there = bed.out(first);
    const RegionHistogramPlan plan({200, 150}, Type::s16, rule.binning, 1500, {}, bed.on);
    Workspace workspace(plan);
    auto* const stream = static_cast<cudaStream_t>(bed.on.stream->handle());
    cudaGraph_t graph;
    cudaGraphExec_t replay;
    REQUIRE_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    region_histograms(bytes_there, rule.binning, regions_there, of_bytes_there, {Outside::error, bed.on, first_there});
    plan.execute(words_there, regions_there, of_words_there, workspace);
    EXPECT_THROW(region_histograms(words_there, rule.binning, regions_there, of_words_there, {Outside::error, bed.on}),
                 InvalidArgument);  // its table is the host's
    REQUIRE_CUDA(cudaStreamEndCapture(stream, &graph));
    REQUIRE_CUDA(cudaGraphInstantiate(&replay, graph, 0));
    for (int i = 0; i < 50; ++i) {
      cuda::clear(of_bytes_there.data(), of_bytes_there.size_bytes(), *bed.on.stream);
      REQUIRE_CUDA(cudaGraphLaunch(replay, stream));
    }
    bed.back();
    EXPECT_EQ(differences(of_bytes, expected_of(rule, bytes.view(), nullptr, regions), 12), 0u) << "seeds 43, 45";
    EXPECT_EQ(differences(of_words, expected_of(rule, words.view(), nullptr, regions), 12), 0u) << "seeds 44, 45";
    EXPECT_EQ(first[0], -1);
    cudaGraphExecDestroy(replay);
    cudaGraphDestroy(graph);
  }
}

/// Executes on two streams at once, each with a workspace.
TEST_F(CudaPixelCounts, TwoStreams) {
  const Rule rule = oracle::uniform(12, 0, 200);
  const std::vector<Region> regions = regions_of(200, 150, 1500, 46);
  Padded images[] = {random_pixels(Type::u16, {200, 150}, 0, 255, 47),
                     random_pixels(Type::u16, {200, 150}, 0, 255, 48)};
  std::vector<std::uint64_t> counts[] = {std::vector<std::uint64_t>(1500 * 12), std::vector<std::uint64_t>(1500 * 12)};
  Bed beds[2];
  const RegionHistogramPlan plan({200, 150}, Type::u16, rule.binning, 1500, {}, beds[0].on);
  std::vector<std::byte> bytes[] = {std::vector<std::byte>(plan.workspace_bytes()),
                                    std::vector<std::byte>(plan.workspace_bytes())};
  std::vector<Workspace> workspaces;
  for (int i = 0; i < 2; ++i) workspaces.emplace_back(plan, beds[i].out(bytes[i]), *beds[i].on.stream);
  for (int i = 0; i < 2; ++i) {
    const ConstView image = beds[i].in(images[i]);
    const auto regions_there = beds[i].in(regions);
    const auto counts_there = beds[i].out(counts[i]);
    for (int run = 0; run < 20; ++run)
      plan.execute(image, regions_there, counts_there, workspaces[static_cast<std::size_t>(i)]);
  }
  for (int i = 0; i < 2; ++i) {
    beds[i].back();
    EXPECT_EQ(differences(counts[i], expected_of(rule, images[i].view(), nullptr, regions), 12), 0u)
        << "seeds 46 to 48";
  }
}

}  // namespace
}  // namespace areal
