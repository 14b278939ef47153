// Integral histograms on a GPU: the CPU's bits for counts, the simulated machine's for weights. All is skipped without
// a GPU.
#include <cuda_runtime.h>
#include <gtest/gtest.h>
#include <areal/catalog.hpp>
#include <areal/device.hpp>
#include <areal/error.hpp>
#include <areal/histogram.hpp>
#include <areal/info.hpp>
#include <areal/research/histogram.hpp>
#include <areal/span.hpp>
#include <cstring>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
#include "conformance/backends.hpp"
#include "conformance/guarded_workspace.hpp"
#include "conformance/on_device.hpp"
#include "conformance/picture.hpp"
#include "conformance/shapes.hpp"
#include "histogram_oracle.hpp"
#include "histogram_plan_options.hpp"

namespace areal {
namespace {

using oracle::Guarded;

const Execution on_gpu{.backend = Backend::cuda};
const MemoryPlace gpu_memory{MemoryPlace::cuda, 0};

class CudaHistogram : public testing::Test {
 protected:
  void SetUp() override {
    if (devices().empty()) GTEST_SKIP() << "no GPU";
  }
};

struct Case {
  Shape image;
  Type type = Type::u8;
  Binning binning = Binning::uniform(32, 0, 256);
  Border border = Border::none;
  Type counter = Type::u32;
  bool weighted = false;
  int misalign = 0, gap = 0;
  std::string algorithm = "auto";  // on the GPU
};

Guarded run(const Case& c, Backend backend, Guarded& image, Guarded& weights) {
  HistogramPlanOptions options;
  options.border = c.border, options.counter = c.counter, options.weighted = c.weighted, options.backend = backend;
  if (backend == Backend::cuda) options.algorithm = c.algorithm;
  const HistogramPlan plan = plan_of(c.image, c.type, c.binning, options);
  Guarded tensor(plan.tensor_shape(), c.counter, c.misalign, c.gap);
  conformance::GuardedWorkspace workspace(plan.workspace_bytes(), 0xA5);
  workspace.prepare(plan);
  if (backend != Backend::cuda) {
    plan.execute({image.view, tensor.view, weights.view}, workspace.ready());
    return tensor;
  }
  const Stream stream = workspace.stream();
  conformance::Mirror on_device(tensor.bytes(), stream);
  const conformance::Mirror pixels(image.bytes(), stream), weight(weights.bytes(), stream);
  for (int i = 0; i < 2; ++i)  // on one workspace
    plan.execute(
        {pixels.twin(image.view), on_device.twin(tensor.view), weights.view.data ? weight.twin(weights.view) : View()},
        workspace.ready());
  on_device.back();
  EXPECT_EQ(workspace.broken_guard(), "");  // it waits
  EXPECT_EQ(tensor.touched(), -1);
  return tensor;
}

void check(const Case& c, std::uint64_t seed) {
  SCOPED_TRACE(testing::Message() << c.image.width << "x" << c.image.height << " batch " << c.image.batch << " bins "
                                  << c.binning.bins() << " counter " << name_of(c.counter) << " border "
                                  << name_of(c.border) << (c.weighted ? " weighted" : "") << " misalign " << c.misalign
                                  << " gap " << c.gap << " seed " << seed);
  std::mt19937_64 random(seed);
  Guarded image(c.image, c.type, c.misalign, c.gap), weights;
  oracle::fill_random(image.view, random, 0, 255);
  if (c.weighted) {
    weights = Guarded({c.image.width, c.image.height, 1, c.image.batch}, Type::f32, c.misalign, c.gap);
    oracle::fill_random(weights.view, random, 0, 9, false);
  }
  EXPECT_TRUE(
      run(c, Backend::cuda, image, weights).same(run(c, c.weighted ? Backend::simt : Backend::cpu, image, weights)));
}

TEST_F(CudaHistogram, OfRandomShapes) {
  std::mt19937_64 random(conformance::base_seed());
  const auto below = [&](std::uint64_t n) { return static_cast<std::int64_t>(random() % n); };
  constexpr Border borders[] = {Border::none, Border::zero, Border::exclusive};
  constexpr std::int64_t bins[] = {1, 2, 3, 16, 31, 32, 33, 64, 255, 256};
  for (int i = 0; i < 400; ++i) {
    Case c{{1 + below(700), 1 + below(300), 1, 1 + below(3)}};
    c.binning = Binning::uniform(bins[random() % std::size(bins)], 0, 256);
    c.border = borders[random() % 3];
    c.counter = random() % 3 == 0 ? Type::u64 : Type::u32;
    c.misalign = static_cast<int>(random() % 2 * 4), c.gap = static_cast<int>(random() % 3 * 4);
    check(c, random());
    if (HasFailure()) return;
  }
}

// Rows that begin at vectors; blocks of each number of warps, bands of several heights, and several chunks.
TEST_F(CudaHistogram, OfCountThenWrite) {
  std::mt19937_64 random(conformance::base_seed());
  const auto below = [&](std::uint64_t n) { return static_cast<std::int64_t>(random() % n); };
  constexpr std::int64_t bins[] = {1, 2, 31, 32, 127, 128, 129, 256};
  for (int i = 0; i < 150; ++i) {
    Case c{{4 * (1 + below(i % 5 == 0 ? 1600 : 512)), 1 + below(300), 1, 1 + below(3)}};
    c.binning = Binning::uniform(bins[i % 8], i % 3 == 0 ? 20 : 0, i % 3 == 0 ? 200 : 256);
    c.misalign = static_cast<int>(random() % 2 * 16), c.gap = static_cast<int>(random() % 3 * 16);
    c.algorithm = "count-then-write";
    check(c, random());
    if (HasFailure()) return;
  }
}

TEST_F(CudaHistogram, OfEveryBinning) {
  std::vector<std::int32_t> table(256);
  for (std::size_t i = 0; i < table.size(); ++i) table[i] = i % 7 == 6 ? -1 : static_cast<std::int32_t>(i % 7);
  const Shape shape{333, 140};
  check({shape, Type::u8, Binning::edges({3, 9, 10, 77, 200})}, 1);
  check({shape, Type::u8, Binning::lookup(table)}, 2);
  check({shape, Type::u8, Binning::labels(300, 5)}, 3);
  check({shape, Type::f32, Binning::uniform(12, 10, 200)}, 4);
  check({shape, Type::u16, Binning::uniform(1000, 0, 256).clamped()}, 5);
  check({{100, 90}, Type::u8, Binning::uniform(4096, 0, 256)}, 6);
}

// A workspace is made ready before the capture, and refused within it; the capture continues. The captured graph may be
// replayed after the plan and the workspace are destroyed, while their borrowed memory stays.
TEST_F(CudaHistogram, AGraphIsReplayedWithoutItsPlan) {
  const Shape shape{333, 140};
  const cuda::OwnedStream stream;
  const auto handle = static_cast<cudaStream_t>(stream.get().handle());
  std::mt19937_64 random(13);
  Guarded image(shape, Type::u8, 0, 0), tensor({333, 140, 9, 1, Layout::planar}, Type::u32, 0, 0), none;
  oracle::fill_random(image.view, random, 0, 255);
  conformance::Mirror pixels(image.bytes(), stream.get()), on_device(tensor.bytes(), stream.get());
  cudaGraph_t graph;
  cudaGraphExec_t replay;
  std::optional<cuda::Memory> memory;
  {
    const HistogramPlan plan(shape, Type::u8, Binning::uniform(9, 0, 256), {}, on_gpu);
    memory.emplace(plan.workspace_bytes());
    const Span<std::byte> bytes(static_cast<std::byte*>(memory->data()), plan.workspace_bytes(), gpu_memory);
    Workspace workspace(plan, bytes, stream.get()), owned(plan);
    workspace.wait();
    const HistogramArguments there{pixels.twin(image.view), on_device.twin(tensor.view)};
    ASSERT_EQ(cudaStreamBeginCapture(handle, cudaStreamCaptureModeThreadLocal), cudaSuccess);
    EXPECT_THROW(Workspace(plan, bytes, stream.get()), InvalidArgument);
    plan.execute(there, workspace);
    ASSERT_EQ(cudaStreamEndCapture(handle, &graph), cudaSuccess);
  }
  ASSERT_EQ(cudaGraphInstantiate(&replay, graph, 0), cudaSuccess);
  for (int i = 0; i < 10; ++i) ASSERT_EQ(cudaGraphLaunch(replay, handle), cudaSuccess);
  on_device.back();
  stream.synchronize();
  Case c{shape};
  c.binning = Binning::uniform(9, 0, 256);
  EXPECT_TRUE(tensor.same(run(c, Backend::cpu, image, none)));
  cudaGraphExecDestroy(replay);
  cudaGraphDestroy(graph);
}

// A workspace may be made within a capture where its memory is the graph's: every replay makes it ready, whatever it
// holds by then.
TEST_F(CudaHistogram, AWorkspaceInAGraphIsMadeReadyByEveryReplay) {
  const Shape shape{333, 140};
  const cuda::OwnedStream stream;
  const auto handle = static_cast<cudaStream_t>(stream.get().handle());
  std::mt19937_64 random(15);
  Guarded image(shape, Type::u8, 0, 0), tensor({333, 140, 9, 1, Layout::planar}, Type::u32, 0, 0), none;
  oracle::fill_random(image.view, random, 0, 255);
  conformance::Mirror pixels(image.bytes(), stream.get()), on_device(tensor.bytes(), stream.get());
  const HistogramPlan plan(shape, Type::u8, Binning::uniform(9, 0, 256), {}, on_gpu);
  const cuda::Memory memory(plan.workspace_bytes());
  const Span<std::byte> bytes(static_cast<std::byte*>(memory.data()), plan.workspace_bytes(), gpu_memory);
  cudaGraph_t graph;
  cudaGraphExec_t replay;
  ASSERT_FALSE(is_capturing(stream.get()));
  ASSERT_EQ(cudaStreamBeginCapture(handle, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  EXPECT_TRUE(is_capturing(stream.get()));
  {
    Workspace workspace = Workspace::in_graph(plan, bytes, stream.get());
    plan.execute(HistogramArguments{pixels.twin(image.view), on_device.twin(tensor.view)}, workspace);
  }
  ASSERT_EQ(cudaStreamEndCapture(handle, &graph), cudaSuccess);
  ASSERT_EQ(cudaGraphInstantiate(&replay, graph, 0), cudaSuccess);
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(cudaMemsetAsync(memory.data(), 0x5a + i, plan.workspace_bytes(), handle), cudaSuccess);
    ASSERT_EQ(cudaGraphLaunch(replay, handle), cudaSuccess);
  }
  on_device.back();
  stream.synchronize();
  Case c{shape};
  c.binning = Binning::uniform(9, 0, 256);
  EXPECT_TRUE(tensor.same(run(c, Backend::cpu, image, none)));
  cudaGraphExecDestroy(replay);
  cudaGraphDestroy(graph);
}

// An execute that would copy host memory is refused within a capture, and the capture continues.
TEST_F(CudaHistogram, HostMemoryIsRefusedWithinACapture) {
  const Shape shape{64, 48};
  const cuda::OwnedStream stream;
  const auto handle = static_cast<cudaStream_t>(stream.get().handle());
  std::mt19937_64 random(14);
  Array image(shape, Type::u8);
  oracle::fill_random(image.view(), random, 0, 255);
  const DeviceArray image_there = DeviceArray::copy_of(image.view());
  const Binning binning = Binning::uniform(9, 0, 256);
  const HistogramPlan plan(shape, Type::u8, binning, {}, {.backend = Backend::cuda, .stream = stream.get()});
  Workspace workspace(plan);
  HistogramTensor tensor = plan.allocate();
  cudaGraph_t graph;
  cudaGraphExec_t replay;
  ASSERT_EQ(cudaStreamBeginCapture(handle, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  EXPECT_THROW(plan.execute(image.view(), tensor, workspace), InvalidArgument);
  EXPECT_THROW(Workspace{plan}, InvalidArgument);
  plan.execute(image_there.view(), tensor, workspace);
  ASSERT_EQ(cudaStreamEndCapture(handle, &graph), cudaSuccess);
  ASSERT_EQ(cudaGraphInstantiate(&replay, graph, 0), cudaSuccess);
  cuda::clear(tensor.tensor().data, plan.tensor_bytes(), stream.get());
  ASSERT_EQ(cudaGraphLaunch(replay, handle), cudaSuccess);
  const HistogramTensor here = tensor.copy_to({}, {.stream = stream.get()}),
                        expected = integral_histogram(image.view(), binning, {}, {.backend = Backend::cpu});
  EXPECT_EQ(std::memcmp(here.tensor().data, expected.tensor().data, plan.tensor_bytes()), 0);
  cudaGraphExecDestroy(replay);
  cudaGraphDestroy(graph);
}

TEST_F(CudaHistogram, AutoTakesTheGpuWhereTheTensorFits) {
  const Binning binning = Binning::uniform(32, 0, 256);
  const research::HistogramParameters told{.on_launch = [](const LaunchCounts&) {}};
  EXPECT_EQ(research::histogram_plan({640, 480}, Type::u8, binning, {}, told).backend(), Backend::cuda);
  // One thread of the CPU would be slower at both.
  EXPECT_EQ(HistogramPlan({640, 480}, Type::u8, binning, {}, {.threads = 1}).backend(), Backend::cuda);
  const HistogramPlan large({1'000'000, 1'000'000}, Type::u8, binning, {}, {.threads = 1});
  EXPECT_EQ(large.backend(), Backend::cpu);
  EXPECT_NE(large.reason().find("the GPU lacks memory"), std::string::npos) << large.reason();
  const HistogramPlan plan({1'000'000, 100'000}, Type::u8, binning, {}, on_gpu);
  try {
    plan.allocate();
    FAIL() << "threw nothing";
  } catch (const OutOfMemory& error) {
    EXPECT_EQ(error.bytes(), plan.tensor_bytes());
  }
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

// For every row, including the papers': the tensor bit by bit, and its launches.
TEST_F(CudaHistogram, BitsAndLaunchesAreThoseOfTheSimulatedMachine) {
  if (conformance::missing(Backend::simt)) GTEST_SKIP() << "no simulated machine";
  const Shape shape{76, 70};
  const Binning binning = Binning::uniform(5, 10, 240);
  Array image(shape, Type::u8);
  std::mt19937_64 random(17);
  oracle::fill_random(image.view(), random, 0, 255);
  struct Told {
    std::vector<LaunchCounts> launches;
    Array tensor;
  };
  const auto run = [&](std::string_view id, Type counter, Border border, Backend backend) {
    Told told;
    HistogramPlanOptions options;
    options.algorithm = id, options.counter = counter, options.border = border, options.backend = backend;
    options.on_launch = [&](const LaunchCounts& launch) { told.launches.push_back(launch); };
    const HistogramPlan plan = plan_of(shape, Type::u8, binning, options);
    told.tensor = Array(plan.tensor_shape(), counter);
    Workspace workspace(plan);
    plan.execute({image.view(), told.tensor.view()}, workspace);
    return told;
  };
  for (const Algorithm& row : algorithms()) {
    if (row.family != "histogram" || !row.cuda || !row.simt) continue;
    for (const auto& [counter, border] :
         {std::pair{Type::u16, Border::none}, {Type::u32, Border::zero}, {Type::u64, Border::none}}) {
      SCOPED_TRACE(testing::Message() << row.id << ", " << name_of(counter) << ", border " << name_of(border)
                                      << ", seed 17");
      if (row.id == "count-then-write" && (border != Border::none || counter == Type::u64)) continue;  // it takes none
      const Told there = run(row.id, counter, border, Backend::cuda),
                 here = run(row.id, counter, border, Backend::simt);
      ASSERT_EQ(there.tensor.bytes(), here.tensor.bytes());
      EXPECT_EQ(std::memcmp(there.tensor.data(), here.tensor.data(), here.tensor.bytes()), 0);
      ASSERT_FALSE(here.launches.empty());
      ASSERT_EQ(there.launches.size(), here.launches.size());
      for (std::size_t i = 0; i < here.launches.size(); ++i) {
        const LaunchCounts &gpu = there.launches[i], &simt = here.launches[i];
        EXPECT_EQ(gpu.kernel, simt.kernel);
        EXPECT_EQ(gpu.blocks, simt.blocks) << simt.kernel;
        EXPECT_EQ(gpu.threads, simt.threads) << simt.kernel;
        EXPECT_EQ(gpu.shared_bytes, simt.shared_bytes) << simt.kernel;
        EXPECT_GT(gpu.resident, 0) << simt.kernel;
      }
    }
  }
}

TEST_F(CudaHistogram, OfWeights) {
  if (conformance::missing(Backend::simt)) GTEST_SKIP() << "no simulated machine";
  for (const Type counter : {Type::f32, Type::f64})
    for (const Border border : {Border::none, Border::zero})
      for (const std::int64_t bins : {1, 3, 9, 40})  // whose blocks have four tiles, two, and one
        // Rows without vectors; with them, so that a block has whole tiles beside others; whole tiles alone.
        for (const std::int64_t columns : {301, 300, 256}) {
          Case c{{columns, 150}};
          c.counter = counter, c.border = border, c.weighted = true, c.binning = Binning::uniform(bins, 0, 256);
          if (border == Border::zero)  // the first count beside the border begins a vector
            --c.image.width, c.misalign = 16 - static_cast<int>(size_of(counter));
          check(c, 11);
        }
}

}  // namespace
}  // namespace areal
