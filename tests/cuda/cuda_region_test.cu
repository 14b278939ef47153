// Queries of tables on a GPU: the image's own answers, the CPU's bits. All is skipped without a GPU.
#include <cuda_runtime.h>
#include <gtest/gtest.h>
#include <areal/info.hpp>
#include <areal/sat.hpp>
#include <functional>
#include <memory>
#include "cuda/device.hpp"
#include "cuda_bed.hpp"
#include "device_border_cases.hpp"
#include "device_corner_cases.hpp"
#include "device_region_cases.hpp"
#include "device_scatter_cases.hpp"
#include "device_window_cases.hpp"

namespace areal {
namespace {

using namespace device_cases;
using Bed = CudaBed;

#define REQUIRE_CUDA(call) ASSERT_EQ((call), cudaSuccess) << cudaGetErrorString(cudaGetLastError())

class CudaRegions : public testing::Test {
 protected:
  void SetUp() override {
    if (devices().empty()) GTEST_SKIP() << "no GPU";
  }
};

template <class T>
void sums_of_type() {
  a_flipped_element_is_caught<T, Bed>();
  sums_of_every_border_and_shape<T, Bed>();
}
TEST_F(CudaRegions, Sums) {
  sums_of_type<std::uint32_t>();
  sums_of_type<std::int32_t>();
  sums_of_type<std::uint64_t>();
  sums_of_type<std::int64_t>();
  sums_of_type<float>();
  sums_of_type<double>();
}

template <class T>
void boxes_and_rotated_of_type() {
  boxes_of_every_border_and_shape<T, Bed>();
  a_flipped_element_of_a_volume_is_caught<T, Bed>();
  rotated_rectangles_of_every_shape<T, Bed>();
  a_flipped_element_of_a_tilted_table_is_caught<T, Bed>();
}
TEST_F(CudaRegions, BoxesAndRotatedRectangles) {
  boxes_and_rotated_of_type<std::uint32_t>();
  boxes_and_rotated_of_type<std::int32_t>();
  boxes_and_rotated_of_type<std::uint64_t>();
  boxes_and_rotated_of_type<std::int64_t>();
  boxes_and_rotated_of_type<float>();
  boxes_and_rotated_of_type<double>();
}

TEST_F(CudaRegions, BoxesOfTablesThatWrapOrRound) { boxes_of_tables_that_wrap_or_round<Bed>(); }
TEST_F(CudaRegions, BoxesOutsideAreRefusedOrClipped) { boxes_outside_are_refused_or_clipped<Bed>(); }
TEST_F(CudaRegions, RotatedThatWrapRoundOrOverflow) { rotated_rectangles_that_wrap_round_or_overflow<Bed>(); }
TEST_F(CudaRegions, TheHostAsksForBoxesAndRotatedRectangles) { the_host_asks_for_boxes_and_rotated_rectangles<Bed>(); }

TEST_F(CudaRegions, BordersOfIntegers) {
  a_flipped_element_is_carried_over<Bed>();
  conversions_of_type_pairs_of_integers<Bed>();
}
TEST_F(CudaRegions, BordersOfFloats) {
  conversions_of_type_pairs_of_floats<Bed>();
  conversions_round_as_the_cpus<float, float, Bed>();
  conversions_round_as_the_cpus<float, double, Bed>();
  conversions_round_as_the_cpus<double, double, Bed>();
}

TEST_F(CudaRegions, Scatters) { scatters<Bed>(); }
TEST_F(CudaRegions, ScattersOfMany) {
  scatters_of_many<float, Bed>();
  scatters_of_many<std::uint64_t, Bed>();
}
TEST_F(CudaRegions, ScattersOfRegionsOutside) { regions_outside_scatter_nothing_or_their_parts<Bed>(); }
TEST_F(CudaRegions, AScatterWorksInTheCallersMemory) { a_scatter_works_in_the_callers_memory<Bed>(); }
TEST_F(CudaRegions, TheHostScatters) { the_host_scatters<Bed>(); }
TEST_F(CudaRegions, EveryScatterHasTheSameBits) { every_scatter_has_the_same_bits<Bed>(); }

TEST_F(CudaRegions, WrappedTablesAreExact) { wrapped_tables_are_exact<Bed>(); }
TEST_F(CudaRegions, OutsideIsRefusedOrClipped) { outside_is_refused_or_clipped<Bed>(); }
TEST_F(CudaRegions, NoneRefusedAndNoRegions) { none_refused_and_no_regions<Bed>(); }

TEST_F(CudaRegions, Statistics) {
  statistics_of_regions<std::uint8_t, std::uint32_t, std::uint64_t, Bed>(0, 255);
  statistics_of_regions<std::uint8_t, std::int32_t, double, Bed>(0, 255);
  statistics_of_regions<std::int16_t, std::int64_t, std::uint64_t, Bed>(-3000, 3000);
  statistics_of_regions<std::uint32_t, std::uint64_t, std::uint64_t, Bed>(1.0e8, 1.9e8);
  statistics_of_regions<float, double, double, Bed>(-50, 50);
  statistics_of_regions<float, float, double, Bed>(0, 9);
}

TEST_F(CudaRegions, Histograms) { histograms_of_every_counter_and_border<Bed>(); }
TEST_F(CudaRegions, CountsOf16Bits) { counts_of_16_bits_are_exact_modulo_65536<Bed>(); }
TEST_F(CudaRegions, Reducers) { reducers_are_the_cpus<Bed>(); }
TEST_F(CudaRegions, ReducersByHand) { reducers_by_hand<Bed>(); }

TEST_F(CudaRegions, Windows) {
  windows_of<std::uint8_t, std::uint32_t, std::uint64_t, double, Bed>(0, 255);
  windows_of<std::int16_t, std::int32_t, double, float, Bed>(-300, 300);
  windows_of<float, float, double, double, Bed>(0, 9);
}
TEST_F(CudaRegions, WindowsOfUnlikeTables) { windows_of_unlike_tables<Bed>(); }
TEST_F(CudaRegions, WindowsInStrips) { windows_in_strips_of_several_types<Bed>(); }
TEST_F(CudaRegions, WalkedWindowsOfEveryEdgeAndType) { windows_walked_of_every_edge_and_type<Bed>(); }
TEST_F(CudaRegions, WalkedWindowsOfEveryShape) { windows_walked_of_every_shape<Bed>(); }
TEST_F(CudaRegions, WindowsOfALargeImage) { windows_of_a_large_image<Bed>(); }
TEST_F(CudaRegions, RoundedWindows) { windows_rounded_to_every_type<Bed>(); }
TEST_F(CudaRegions, SeveralPlanes) { several_planes<Bed>(); }

TEST_F(CudaRegions, DistanceMaps) {
  distance_maps_of<std::uint32_t, double, Bed>(Border::none);
  distance_maps_of<std::uint16_t, float, Bed>(Border::zero);
  distance_maps_of<float, double, Bed>(Border::none, 0.5);
}

TEST_F(CudaRegions, TheHostAsks) { the_host_asks<Bed>(); }
TEST_F(CudaRegions, TheFirstInvalidIsReported) { the_first_invalid_is_reported_wherever_it_lies<Bed>(); }

/// A million regions of a table that stayed in device memory.
TEST_F(CudaRegions, OfATableThatStays) {
  const auto image = oracle::random_image<std::uint8_t>(2000, 1500, 0, 255, 8);
  const Shape shape{2000, 1500};
  const SatOptions options{.types = TypePair{Type::u8, Type::u32}};
  std::vector<Region> regions;
  for (std::uint64_t seed = 0; regions.size() < 1'000'000; ++seed)
    for (const Region& r : oracle::regions_inside(2000, 1500, seed)) regions.push_back(r);
  std::vector<std::uint64_t> got(regions.size()), want(regions.size());
  {
    Bed bed;
    const SatPlan plan(shape, Type::u8, options, bed.on);
    SatTable table = plan.allocate();
    Workspace workspace(plan);
    plan.execute(ConstView(bed.in(image.pixels).data(), Type::u8, shape).in(Bed::memory), table, workspace);
    region_sums(table, bed.in(regions), bed.out(got), {.execution = bed.on});
    bed.back();
  }
  const SatTable table = sat(ConstView(image.pixels.data(), 2000, 1500), options, {.backend = Backend::cpu});
  region_sums(table, regions, want);
  EXPECT_EQ(got, want);
}

TEST_F(CudaRegions, AGraphIsReplayed) {
  const auto image = small_image<std::uint32_t>(100, 80);
  Table<std::uint32_t> table(image, Border::zero);
  std::vector<Region> regions = wild_regions(100, 80, 3);
  std::vector<std::uint64_t> out(regions.size());
  std::vector<std::int64_t> first_invalid{77};
  Bed bed;
  const TableView view{bed.in(table.memory()), Border::zero};
  const auto regions_there = bed.in(regions);
  const auto out_there = bed.out(out);
  const auto first_invalid_there = bed.out(first_invalid);
  auto* const stream = static_cast<cudaStream_t>(bed.on.stream->handle());
  cudaGraph_t graph;
  cudaGraphExec_t replay;
  REQUIRE_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  region_sums(view, regions_there, out_there, {Outside::error, bed.on, first_invalid_there});
  EXPECT_THROW(region_sums(view, regions, out_there, {Outside::clip, bed.on}), InvalidArgument);  // of the host
  REQUIRE_CUDA(cudaStreamEndCapture(stream, &graph));
  REQUIRE_CUDA(cudaGraphInstantiate(&replay, graph, 0));
  for (int i = 0; i < 100; ++i) {
    cuda::clear(out_there.data(), out_there.size_bytes(), *bed.on.stream);
    REQUIRE_CUDA(cudaGraphLaunch(replay, stream));
  }
  bed.back();
  EXPECT_EQ(first_invalid[0], 77);
  for (std::size_t i = 0; i < 77; ++i) {
    std::uint64_t want = 0;
    region_sums(table.view(), std::span(&regions[i], 1), std::span(&want, 1));
    EXPECT_EQ(out[i], want) << i;
  }
  cudaGraphExecDestroy(replay);
  cudaGraphDestroy(graph);
}

/// A host stream queues nothing on a device; without a stream the call waits, and needs none.
TEST_F(CudaRegions, Streams) {
  const auto image = small_image<std::uint32_t>(30, 20);
  Table<std::uint32_t> table(image, Border::zero);
  const std::vector<Region> regions = answerable(30, 20, Border::zero, 3);
  std::vector<std::uint64_t> out(regions.size());
  Bed bed;
  const SatView there(bed.in(table.memory()), Border::zero);
  const auto regions_there = bed.in(regions);
  const auto out_there = bed.out(out);
  EXPECT_THROW(region_sums(there, regions_there, out_there, {.execution = {.stream = Stream::host()}}),
               InvalidArgument);
  bed.back();  // the table is there
  region_sums(there, regions_there, out_there);
  bed.back();
  EXPECT_EQ(out, region_sums<std::uint64_t>(table.view(), regions));
  EXPECT_EQ(region_sums<std::uint64_t>(there, regions), out);
  EXPECT_EQ(region_sums<std::uint64_t>(there, {{3, 4, 5, 6}}),
            region_sums<std::uint64_t>(table.view(), {{3, 4, 5, 6}}));
}

/// Regions of the host cost the device memory for no longer than the call.
TEST_F(CudaRegions, StagedMemoryIsGivenBack) {
  const auto image = small_image<std::uint32_t>(30, 20);
  Table<std::uint32_t> table(image, Border::zero);
  const std::vector<Region> regions(1'000'000, Region{3, 4, 5, 6});
  Bed bed;
  const SatView there(bed.in(table.memory()), Border::zero);
  bed.back();
  const double want = region_sum(table.view(), regions[0]);
  region_sums(there, regions);
  const std::uint64_t before = cuda::free_memory(0);
  for (int i = 0; i < 20; ++i) {
    const auto sums = region_sums(there, regions);
    EXPECT_EQ(sums.back(), want);
  }
  EXPECT_GE(cuda::free_memory(0) + regions.size() * 60, before);
}

TEST_F(CudaRegions, ADeviceThatIsNotThere) {
  const double histogram = 1;
  std::vector<double> out(1);
  EXPECT_THROW(entropies(Span<const double>(&histogram, 1, {MemoryPlace::cuda, 99}), 1, out), Unavailable);
}

}  // namespace
}  // namespace areal
