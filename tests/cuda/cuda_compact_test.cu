// Compact stores on a GPU. All is skipped without one.
#include <cuda_runtime.h>
#include <gtest/gtest.h>
#include <areal/info.hpp>
#include <array>
#include "cuda_bed.hpp"
#include "device_compact_cases.hpp"

namespace areal {
namespace {

using namespace device_cases;
using Bed = CudaBed;

#define REQUIRE_CUDA(call) ASSERT_EQ((call), cudaSuccess) << cudaGetErrorString(cudaGetLastError())

class CudaCompact : public testing::Test {
 protected:
  void SetUp() override {
    if (devices().empty()) GTEST_SKIP() << "no GPU";
  }
};

TEST_F(CudaCompact, AWrongPixelIsCaught) { a_wrong_pixel_of_a_store_is_caught<Bed>(); }
TEST_F(CudaCompact, EverySide) { compact_stores_of_every_side<Bed>(); }
TEST_F(CudaCompact, ByBands) { compact_stores_by_bands<Bed>(); }
TEST_F(CudaCompact, EveryNumberOfBins) { compact_stores_of_every_number_of_bins<Bed>(65534); }
TEST_F(CudaCompact, EveryTypeAndRule) { compact_stores_of_every_type_and_rule<Bed>(); }
TEST_F(CudaCompact, Masks) { compact_stores_with_masks<Bed>(); }
TEST_F(CudaCompact, OutsideIsRefusedOrClipped) { compact_regions_outside_are_refused_or_clipped<Bed>(); }
TEST_F(CudaCompact, IsBuiltAnew) { a_compact_store_is_built_anew<Bed>(); }

/// Images that fill the machine, and others whose strips wrap.
TEST_F(CudaCompact, LargeImages) {
  struct Case {
    std::int64_t width, height, bins;
    int lo, hi;
  };
  for (const Case& one : {Case{1920, 1080, 32, 0, 255}, Case{3000, 2111, 32, 0, 255}, Case{2048, 2049, 128, 0, 255},
                          Case{4100, 1999, 256, 0, 255}, Case{70000, 64, 2, 200, 200}, Case{64, 70000, 2, 200, 200},
                          Case{65537, 40, 40, 99, 101}}) {
    Padded image = random_pixels(Type::u8, {one.width, one.height}, one.lo, one.hi, 80, oracle::aligned);
    EXPECT_EQ(compact_fault<Bed>(oracle::uniform(one.bins, 0, 256), image, 3000, 0, nullptr, false), "")
        << one.width << "x" << one.height << ", " << one.bins << " bins, seeds 60, 80";
  }
}

/// An image of the host is copied, its store lies on the device.
TEST_F(CudaCompact, OfAnImageOfTheHost) {
  Padded image = random_pixels(Type::u16, {300, 200}, 0, 300, 81);
  const Rule rule = oracle::labels(300, 4);
  const HistogramStore store =
      histogram_store(ConstView(image.view()), rule.binning, compact_options(), {.backend = Backend::cuda});
  EXPECT_FALSE(store.memory().is_host());
  const HistogramStore expected = histogram_store(ConstView(image.view()), rule.binning, compact_options());
  EXPECT_EQ(bytes_of_store(store), bytes_of_store(expected)) << "seed 81";
  const std::vector<Region> regions = regions_of(300, 200, 50, 82);
  EXPECT_EQ(region_histograms(store, regions), region_histograms(expected, regions)) << "seeds 81, 82";
  EXPECT_THROW(region_histograms(store, regions, {.execution = {.backend = Backend::cpu}}), InvalidArgument);
}

/// A build and its queries are captured; pixels and regions change between replays.
TEST_F(CudaCompact, AGraphIsReplayed) {
  const Rule rule = oracle::uniform(32, 0, 256);
  const std::vector<Region> regions = regions_of(500, 300, 200, 83);
  for (const StoreOptions& options : {compact_options(), StoreOptions{.regions = 200, .area = 100'000'000}}) {
    std::vector<std::uint64_t> counts(regions.size() * 32, 77);
    Bed bed;
    const StorePlan plan({500, 300}, Type::u8, rule.binning, options, bed.on);
    EXPECT_EQ(plan.store(), options.regions < 0 ? Store::compact : Store::tensor);
    Padded first = random_pixels(Type::u8, {500, 300}, 0, 255, 84, oracle::aligned),
           second = random_pixels(Type::u8, {500, 300}, 0, 255, 85, oracle::aligned);
    const ConstView frame = bed.in(first), other = bed.in(second);
    const auto regions_there = bed.in(regions);
    const auto counts_there = bed.out(counts);
    HistogramStore store = plan.build({frame});
    auto* const stream = static_cast<cudaStream_t>(bed.on.stream->handle());
    cudaGraph_t graph;
    cudaGraphExec_t replay;
    REQUIRE_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    plan.build({frame}, store);
    region_histograms(store, regions_there, counts_there, {.execution = bed.on});
    REQUIRE_CUDA(cudaStreamEndCapture(stream, &graph));
    REQUIRE_CUDA(cudaGraphInstantiate(&replay, graph, 0));
    REQUIRE_CUDA(cudaMemcpyAsync(const_cast<void*>(frame.data), other.data,
                                 static_cast<std::size_t>(frame.row_pitch * 300), cudaMemcpyDeviceToDevice, stream));
    for (int i = 0; i < 20; ++i) REQUIRE_CUDA(cudaGraphLaunch(replay, stream));
    bed.back();
    EXPECT_EQ(differences(counts, expected_of(rule, second.view(), nullptr, regions), 32), 0u) << "seeds 83, 85";
    cudaGraphExecDestroy(replay);
    cudaGraphDestroy(graph);
  }
}

/// The same bytes in every run, of builds that overlap with each other's launches.
TEST_F(CudaCompact, BuildsInARow) {
  for (const auto& [bins, width] : {std::pair{64, 1111}, {32, 1111}, {32, 1120}}) {
    const Rule rule = oracle::uniform(bins, 0, 256);
    Bed bed;
    Padded image = random_pixels(Type::u8, {width, 777}, 0, 255, 86, oracle::aligned);
    const ConstView there = bed.in(image);
    const StorePlan plan({width, 777}, Type::u8, rule.binning, compact_options(), bed.on);
    HistogramStore store = plan.build({there});
    for (int i = 0; i < 200; ++i) plan.build({there}, store);
    bed.back();
    const HistogramStore expected = histogram_store(ConstView(image.view()), rule.binning, compact_options());
    EXPECT_EQ(bytes_of_store(store), bytes_of_store(expected)) << bins << " bins, width " << width << ", seed 86";
  }
}

}  // namespace
}  // namespace areal
