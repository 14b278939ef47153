// Rank stores on a GPU. All is skipped without one.
#include <cuda_runtime.h>
#include <gtest/gtest.h>
#include <areal/info.hpp>
#include "cuda_bed.hpp"
#include "device_rank_cases.hpp"

namespace areal {
namespace {

using namespace device_cases;
using Bed = CudaBed;

#define REQUIRE_CUDA(call) ASSERT_EQ((call), cudaSuccess) << cudaGetErrorString(cudaGetLastError())

class CudaRank : public testing::Test {
 protected:
  void SetUp() override {
    if (devices().empty()) GTEST_SKIP() << "no GPU";
  }
};

TEST_F(CudaRank, AWrongPixelIsCaught) { a_wrong_pixel_of_a_rank_store_is_caught<Bed>(); }
TEST_F(CudaRank, EverySide) { rank_stores_of_every_side<Bed>(true); }
TEST_F(CudaRank, EveryType) { rank_stores_of_every_type<Bed>(true); }
TEST_F(CudaRank, EveryMethod) { rank_stores_answer_every_method<Bed>(); }
TEST_F(CudaRank, OutsideIsRefusedOrClipped) { rank_regions_outside_are_refused_or_clipped<Bed>(); }
TEST_F(CudaRank, IsBuiltAnew) { a_rank_store_is_built_anew<Bed>(); }
TEST_F(CudaRank, Automatic) { automatic_takes_a_rank_store<Bed>(); }

/// Images that fill the machine, with panels of many tiles and, of the widest ones, more panels than a warp has lanes.
TEST_F(CudaRank, LargeImages) {
  for (const auto& [type, width, height] : {std::tuple{Type::u16, 4096, 4096},
                                            {Type::u8, 1920, 1080},
                                            {Type::u16, 3001, 1999},
                                            {Type::f32, 1111, 1777},
                                            {Type::f64, 700, 900},
                                            {Type::u8, 4194305, 3},
                                            {Type::u16, 3, 1000003}}) {
    Padded image = random_pixels(type, {width, height}, is_float(type) ? -30000 : 0, size_of(type) == 1 ? 255 : 60000,
                                 190, oracle::aligned);
    EXPECT_EQ(rank_fault<Bed>(image, 500), "") << name_of(type) << " " << width << "x" << height << ", seeds 160, 190";
  }
}

/// An image of the host is copied, its store lies on the device.
TEST_F(CudaRank, OfAnImageOfTheHost) {
  Padded image = random_pixels(Type::u16, {300, 200}, 0, 300, 191);
  const ConstView view = image.view();
  const HistogramStore store = histogram_store(view, rank_options(9), {.backend = Backend::cuda});
  EXPECT_FALSE(store.memory().is_host());
  const HistogramStore expected = histogram_store(view, rank_options(9));
  EXPECT_EQ(bytes_of_store(store), bytes_of_store(expected)) << "seed 191";
  const std::vector<Region> regions = regions_of(300, 200, 50, 192);
  EXPECT_EQ(first_difference("quantile", region_quantiles(store, regions, rank_quantiles),
                             region_quantiles(expected, regions, rank_quantiles)),
            "")
      << "seeds 191, 192";
  EXPECT_THROW(region_quantiles(store, regions, rank_quantiles, QuantileMethod::linear,
                                {.execution = {.backend = Backend::cpu}}),
               InvalidArgument);
}

/// A build and its queries are captured; pixels change between replays. `bits` cannot be checked in a capture.
TEST_F(CudaRank, AGraphIsReplayed) {
  const std::vector<Region> regions = regions_of(500, 300, 200, 193);
  std::vector<double> answers(regions.size() * rank_quantiles.size(), 77);
  Bed bed;
  Padded first = random_pixels(Type::u16, {500, 300}, 0, 255, 194, oracle::aligned),
         second = random_pixels(Type::u16, {500, 300}, 0, 255, 195, oracle::aligned);
  const ConstView frame = bed.in(first), other = bed.in(second);
  const auto regions_there = bed.in(regions);
  const auto answers_there = bed.out(answers);
  const StorePlan plan({500, 300}, Type::u16, rank_options(), bed.on),
      with_bits({500, 300}, Type::u16, rank_options(8), bed.on);
  HistogramStore store = plan.build({frame}), store_with_bits = with_bits.build({frame});
  auto* const stream = static_cast<cudaStream_t>(bed.on.stream->handle());
  cudaGraph_t graph;
  cudaGraphExec_t replay;
  REQUIRE_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  EXPECT_THROW(with_bits.build({frame}, store_with_bits), InvalidArgument);
  plan.build({frame}, store);
  region_quantiles(store, regions_there, rank_quantiles, answers_there, QuantileMethod::linear, {.execution = bed.on});
  REQUIRE_CUDA(cudaStreamEndCapture(stream, &graph));
  REQUIRE_CUDA(cudaGraphInstantiate(&replay, graph, 0));
  REQUIRE_CUDA(cudaMemcpyAsync(const_cast<void*>(frame.data), other.data,
                               static_cast<std::size_t>(frame.row_pitch * 300), cudaMemcpyDeviceToDevice, stream));
  for (int i = 0; i < 20; ++i) REQUIRE_CUDA(cudaGraphLaunch(replay, stream));
  bed.back();
  const auto want = region_quantiles(ConstView(second.view()), regions, rank_quantiles);
  EXPECT_EQ(first_difference("quantile", answers, want), "") << "seeds 193, 195";
  cudaGraphExecDestroy(replay);
  cudaGraphDestroy(graph);
}

}  // namespace
}  // namespace areal
