// Plans, workspaces and owned tables on a GPU: host and device views, staging, streams, what is refused. The CPU's
// tables are the oracle. Skipped where there is no GPU.
#include <gtest/gtest.h>
#include <areal/areal.hpp>
#include <cstring>
#include <thread>
#include <utility>
#include "cuda/device.hpp"

namespace areal {
namespace {

const Execution on_cpu{.backend = Backend::cpu}, on_gpu{.backend = Backend::cuda};
const MemoryPlace gpu_memory{MemoryPlace::cuda, 0};

class CudaPlan : public testing::Test {
 protected:
  void SetUp() override {
    if (devices().empty()) GTEST_SKIP() << "no GPU";
  }
};

Array picture(const Shape& shape, unsigned seed) {
  Array image(shape, Type::u8);
  for (std::size_t i = 0; i < image.bytes(); ++i)
    image.as<std::uint8_t>()[i] = static_cast<std::uint8_t>((i + seed) * 2654435761u >> 13);
  return image;
}
bool same(const ConstView& a, const ConstView& b) {
  return a.shape == b.shape && a.type == b.type && std::memcmp(a.data, b.data, bytes_of(a.shape, a.type)) == 0;
}
/// All tables, wherever they lie.
bool same(const SatTable& a, const SatTable& b) {
  const SatTable here = a.copy_to({}), there = b.copy_to({});
  if (!same(here.sum(), there.sum())) return false;
  for (const auto& [x, y] :
       {std::pair{here.squares(), there.squares()}, {here.tilted(), there.tilted()}, {here.count(), there.count()}}) {
    if ((x.data == nullptr) != (y.data == nullptr)) return false;
    if (x.data != nullptr && !same(x, y)) return false;
  }
  return true;
}
template <class F>
std::string sentence_of(const F& f) {
  try {
    f();
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "";
}

TEST_F(CudaPlan, EveryMixOfHostAndDeviceViews) {
  const Shape shape{301, 217};
  const Array image = picture(shape, 1), mask = picture(shape, 2);
  const SatOptions options{.squares = Squares::automatic, .tilted = true, .mask = true};
  const SatTable expected = sat(image.view(), options, on_cpu, mask.view());
  const SatPlan plan(shape, Type::u8, options, on_gpu);
  EXPECT_EQ(plan.memory(), gpu_memory);
  const DeviceArray image_there = DeviceArray::copy_of(image.view()), mask_there = DeviceArray::copy_of(mask.view());
  Workspace workspace(plan);
  bool caught = false;
  for (const bool in : {false, true})
    for (const bool masked : {false, true})
      for (const MemoryPlace out : {MemoryPlace{}, gpu_memory}) {
        SatTable table = plan.allocate(out);
        EXPECT_EQ(table.memory(), out);
        plan.execute(in ? image_there.view() : image.view(), table, workspace,
                     masked ? mask_there.view() : mask.view());
        EXPECT_TRUE(same(table, expected)) << in << masked << out.is_host();
        SatTable broken = table.copy_to({});
        *static_cast<char*>(broken.count().data) ^= 1;
        caught = caught || !same(broken, expected);
      }
  EXPECT_TRUE(caught);
}

TEST_F(CudaPlan, OneWorkspaceForManyImages) {
  const Shape shape{640, 333};
  const SatPlan plan(shape, Type::u8, {}, on_gpu);
  Workspace workspace(plan);
  SatTable here = plan.allocate(MemoryPlace{}), there = plan.allocate();
  for (unsigned seed = 0; seed < 10; ++seed) {
    const Array image = picture(shape, seed);
    std::memset(here.sum().data, 0x5C, bytes_of(here.sum().shape, here.sum().type));
    plan.execute(image.view(), here, workspace);
    plan.execute(image.view(), there, workspace);
    const SatTable expected = sat(image.view(), {}, on_cpu);
    EXPECT_TRUE(same(here, expected)) << seed;
    EXPECT_TRUE(same(there, expected)) << seed;
  }
}

TEST_F(CudaPlan, BorrowedMemoryOnAStreamOfOnesOwn) {
  const Shape shape{500, 400};
  const SatPlan plan(shape, Type::u8, {}, on_gpu);
  const cuda::DeviceScope scope(0);
  const cuda::OwnedStream stream;
  const Array image = picture(shape, 3);
  const DeviceArray there = DeviceArray::copy_of(image.view(), {.stream = stream.get()});
  const cuda::Memory memory(plan.workspace_bytes() + 1);
  const Span<std::byte> bytes(static_cast<std::byte*>(memory.data()) + 1, plan.workspace_bytes(), gpu_memory);
  Workspace workspace(plan, bytes, stream.get());
  SatTable table = plan.allocate();
  plan.execute(there.view(), table, workspace);
  EXPECT_TRUE(same(table.copy_to({}, {.stream = stream.get()}), sat(image.view(), {}, on_cpu)));

  // Host memory, of a view or of the workspace, and streams of the other kind are refused.
  EXPECT_EQ(sentence_of([&] { plan.execute(image.view(), table, workspace); }).find("image is host memory"), 0u);
  SatTable here = plan.allocate(MemoryPlace{});
  EXPECT_EQ(sentence_of([&] { plan.execute(there.view(), here, workspace); }).find("sum is host memory"), 0u);
  std::vector<std::byte> host(plan.workspace_bytes());
  EXPECT_EQ(sentence_of([&] { Workspace(plan, host, stream.get()); }).find("workspace is host memory"), 0u);
  EXPECT_EQ(sentence_of([&] { Workspace(plan, bytes, Stream::host()); }).find("stream"), 0u);
  EXPECT_NE(sentence_of([&] {
              plan.execute(there.view().in({MemoryPlace::cuda, 7}), table, workspace);
            }).find("7"),
            std::string::npos);
}

TEST_F(CudaPlan, TwoThreadsWithWorkspacesOfTheirOwn) {
  const Shape shape{800, 600};
  const SatPlan plan(shape, Type::u8, {}, on_gpu);
  std::vector<int> right(2);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < right.size(); ++t)
    threads.emplace_back([&, t] {
      const Array image = picture(shape, static_cast<unsigned>(t));
      const SatTable expected = sat(image.view(), {}, on_cpu);
      Workspace workspace(plan);
      SatTable table = plan.allocate(MemoryPlace{});
      for (int round = 0; round < 20; ++round) {
        std::memset(table.sum().data, round, bytes_of(table.sum().shape, table.sum().type));
        plan.execute(image.view(), table, workspace);
        right[t] += same(table, expected);
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, std::vector<int>(2, 20));
}

TEST_F(CudaPlan, TablesMoveBetweenMemories) {
  const Array image = picture({123, 77}, 5);
  const SatTable here = sat(image.view(), {.squares = Squares::automatic}, on_cpu);
  const SatTable there = here.copy_to(gpu_memory);
  EXPECT_EQ(there.memory(), gpu_memory);
  EXPECT_EQ(there.view().sum.memory(), gpu_memory);
  EXPECT_TRUE(same(there.copy_to(gpu_memory), here));
  const SatTable none = there.with_border(Border::none);
  EXPECT_EQ(none.memory(), gpu_memory);
  EXPECT_TRUE(same(none, here.with_border(Border::none)));
  const cuda::OwnedStream stream;  // host memory: done on return on any stream
  EXPECT_TRUE(same(there.with_border(Border::none, {}, {.stream = stream.get()}), none));
  const DeviceArray pixels = DeviceArray::copy_of(image.view());
  const SatTable exclusive = sat(pixels.view(), {.border = Border::exclusive});
  EXPECT_EQ(exclusive.memory(), gpu_memory);
  EXPECT_TRUE(same(exclusive.with_border(Border::zero, pixels.view()), sat(image.view(), {}, on_cpu)));
  EXPECT_TRUE(same(pixels.to_host().view(), image.view()));
}

// Copies of host memory ask the scope, each in pieces: the work ends between two of them, and the plan can be used
// again.
TEST_F(CudaPlan, ACancelScopeStopsCopiesOfHostMemory) {
  const Shape shape{16384, 16384};
  const Array image = picture(shape, 5);
  const SatPlan plan(shape, Type::u8, {.tilted = true}, on_gpu);
  Workspace workspace(plan);
  SatTable whole = plan.allocate(MemoryPlace{}), stopped = plan.allocate(MemoryPlace{});
  int asked = 0;
  {
    const CancelScope scope([&] { return ++asked < 1000; });
    plan.execute(image.view(), whole, workspace);
  }
  EXPECT_GE(asked, 1);
  {
    const CancelScope scope([] { return false; });
    EXPECT_THROW(plan.execute(image.view(), stopped, workspace), Cancelled);
  }
  plan.execute(image.view(), stopped, workspace);
  EXPECT_TRUE(same(whole, stopped));

  const ConstView part(image.data(), Type::u8, {shape.width - 16, shape.height}, shape.width);
  const SatPlan of_part(part.shape, Type::u8, {}, on_gpu);
  SatTable table = of_part.allocate(MemoryPlace{});
  Workspace for_part(of_part);
  {
    const CancelScope scope([] { return false; });
    EXPECT_THROW(of_part.execute(part, table, for_part), Cancelled);
  }
  {
    const CancelScope scope([] { return true; });
    of_part.execute(part, table, for_part);
  }
  EXPECT_TRUE(same(table, sat(part, {}, on_cpu)));
}

TEST_F(CudaPlan, TheOneLineFormsStayWhereTheImageIs) {
  const Array image = picture({200, 100}, 6);
  const DeviceArray there = DeviceArray::copy_of(image.view());
  const Binning binning = Binning::uniform(5, 0, 256);
  EXPECT_EQ(sat(image.view(), {}, on_gpu).memory(), MemoryPlace{});
  EXPECT_EQ(sat(there.view()).memory(), gpu_memory);
  const HistogramTensor tensor = integral_histogram(there.view(), binning);
  EXPECT_EQ(tensor.memory(), gpu_memory);
  EXPECT_TRUE(same(tensor.copy_to({}).tensor(), integral_histogram(image.view(), binning, {}, on_cpu).tensor()));
  EXPECT_NE(sentence_of([&] { sat(there.view(), {}, on_cpu); }).find("image is memory of CUDA device 0"),
            std::string::npos);
}

}  // namespace
}  // namespace areal
