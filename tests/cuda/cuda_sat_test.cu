// Tables on a GPU: tests beyond the conformance suite. All is skipped without a GPU.
#include <cuda_runtime.h>
#include <gtest/gtest.h>
#include <areal/catalog.hpp>
#include <areal/info.hpp>
#include <areal/sat.hpp>
#include <chrono>
#include <cstring>
#include <random>
#include <thread>
#include "conformance/sat_case.hpp"
#include "conformance/shapes.hpp"

namespace areal::conformance {
namespace {

#define REQUIRE_CUDA(call) ASSERT_EQ((call), cudaSuccess) << cudaGetErrorString(cudaGetLastError())

bool no_gpu() { return devices().empty(); }

class CudaSat : public testing::Test {
 protected:
  void SetUp() override {
    if (no_gpu()) GTEST_SKIP() << "no GPU";
  }
};

/// One plan with its device memory, an image in it, and a stream.
class OnGpu {
 public:
  OnGpu(const Shape& shape, TypePair types, std::uint64_t seed, const std::string& id = "auto")
      : plan_(shape, types, options(id)),
        image_(bytes_of(shape, types.input)),
        sum_(bytes_of(plan_.table_shape(), types.table)),
        workspace_(plan_.workspace_bytes()) {
    Buffer buffer(random_image(types.input, shape, Fill::wild, seed), placements[0]);
    cuda::copy_in(image_.data(), buffer.view().data, bytes_of(shape, types.input), stream_.get());
    plan_.prepare(workspace_.data(), stream_.get());
    stream_.synchronize();
  }
  static SatOptions options(const std::string& id) {
    SatOptions options;
    options.backend = Backend::cuda;
    options.border = Border::none;
    options.algorithm = id;
    return options;
  }
  void execute() {
    const TypePair types = plan_.types();
    plan_.execute({ConstView(image_.data(), types.input, plan_.image_shape()),
                   View(sum_.data(), types.table, plan_.table_shape())},
                  workspace_.data(), stream_.get());
  }
  std::vector<std::uint8_t> table() {
    std::vector<std::uint8_t> bytes(bytes_of(plan_.table_shape(), plan_.types().table));
    cuda::copy_out(bytes.data(), sum_.data(), bytes.size(), stream_.get());
    stream_.synchronize();
    return bytes;
  }
  void forget() { cuda::clear(sum_.data(), bytes_of(plan_.table_shape(), plan_.types().table), stream_.get()); }
  cudaStream_t stream() { return static_cast<cudaStream_t>(stream_.get().handle()); }

 private:
  SatPlan plan_;
  cuda::OwnedStream stream_;
  cuda::Memory image_, sum_, workspace_;
};

/// One of the catalogue's rows.
class CudaSatOf : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (no_gpu()) GTEST_SKIP() << "no GPU";
  }
};
INSTANTIATE_TEST_SUITE_P(Rows, CudaSatOf, testing::ValuesIn(device_sat_ids()), [](const auto& info) {
  std::string name = info.param;
  for (char& letter : name)
    if (letter == '-') letter = '_';
  return name;
});

TEST_P(CudaSatOf, GivesTheSameBitsAThousandTimes) {
  for (const char* types : {"32f32f", "8u64f"}) {
    OnGpu gpu({1900, 1111}, type_pair(types), 3, GetParam());
    gpu.execute();
    const auto first = gpu.table();
    for (int i = 0; i < 1000; ++i) {
      if (i % 10 == 0) gpu.forget();
      gpu.execute();
      if (i % 10 == 9) ASSERT_EQ(gpu.table(), first) << types << ", run " << i;
    }
  }
}

TEST_P(CudaSatOf, IsReplayedAThousandTimesFromAGraph) {
  OnGpu gpu({1023, 777}, type_pair("32f32f"), 4, GetParam());
  gpu.execute();
  const auto first = gpu.table();
  cudaGraph_t graph;
  cudaGraphExec_t replay;
  REQUIRE_CUDA(cudaStreamBeginCapture(gpu.stream(), cudaStreamCaptureModeThreadLocal));
  gpu.execute();
  REQUIRE_CUDA(cudaStreamEndCapture(gpu.stream(), &graph));
  REQUIRE_CUDA(cudaGraphInstantiate(&replay, graph, 0));
  for (int i = 0; i < 1000; ++i) {
    if (i % 10 == 0) gpu.forget();
    REQUIRE_CUDA(cudaGraphLaunch(replay, gpu.stream()));
    if (i % 10 == 9) ASSERT_EQ(gpu.table(), first) << "replay " << i;
  }
  cudaGraphExecDestroy(replay);
  cudaGraphDestroy(graph);
}

TEST_P(CudaSatOf, RunsOnTwoStreamsAtOnce) {
  OnGpu a({3000, 2000}, type_pair("8u32u"), 6, GetParam()), b({2111, 2999}, type_pair("32f32f"), 7, GetParam());
  a.execute(), b.execute();
  const auto of_a = a.table(), of_b = b.table();
  for (int round = 0; round < 20; ++round) {
    a.forget(), b.forget();
    for (int i = 0; i < 10; ++i) a.execute(), b.execute();
    ASSERT_EQ(a.table(), of_a);
    ASSERT_EQ(b.table(), of_b);
  }
}

__device__ unsigned long long nanoseconds() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  return now;
}
// Until it is told to end, or after 20 seconds, which it reports. One thread of a block polls, and not too often: all
// of them would saturate the bus to the host, which the test's own copies need.
__global__ void occupy(const volatile int* go_on, int* gave_up) {
  const unsigned long long begin = nanoseconds();
  while (threadIdx.x == 0 && *go_on != 0) {
    __nanosleep(10'000);
    if (nanoseconds() - begin > 20'000'000'000) {
      *gave_up = 1;
      break;
    }
  }
  __syncthreads();
}

// Waiting blocks occupy most of the machine; a few of ours are resident at a time on the rest.
TEST_P(CudaSatOf, AdvancesUnderACompetingKernel) {
  int* flags = nullptr;
  REQUIRE_CUDA(cudaHostAlloc(&flags, 2 * sizeof *flags, cudaHostAllocMapped));
  int *const go_on = flags, *const gave_up = flags + 1;
  const int most = 160 * 1024;
  REQUIRE_CUDA(cudaFuncSetAttribute(occupy, cudaFuncAttributeMaxDynamicSharedMemorySize, most));
  const int blocks = devices()[0].multiprocessors - 3;
  cudaStream_t other;
  REQUIRE_CUDA(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
  OnGpu gpu({5000, 3000}, type_pair("32f32f"), 8, GetParam());
  gpu.forget();  // load everything that is launched below: loading waits for the device
  gpu.execute();
  const auto first = gpu.table();
  *go_on = 1, *gave_up = 0;
  occupy<<<blocks, 1024, most, other>>>(go_on, gave_up);
  for (int i = 0; i < 20 && *static_cast<volatile int*>(gave_up) == 0; ++i) {
    gpu.forget();
    gpu.execute();
    EXPECT_EQ(gpu.table(), first);
  }
  EXPECT_EQ(*static_cast<volatile int*>(gave_up), 0) << "the tables waited until the other kernel had ended";
  *go_on = 0;
  REQUIRE_CUDA(cudaStreamSynchronize(other));
  cudaStreamDestroy(other);
  cudaFreeHost(flags);
}

TEST_F(CudaSat, RandomShapesOfEveryLane) {
  std::mt19937_64 random(base_seed());
  const auto below = [&](std::uint64_t n) { return static_cast<std::int64_t>(random() % n); };
  constexpr Border borders[] = {Border::zero, Border::none, Border::exclusive};
  const auto ids = device_sat_ids();
  for (const TypePair types : type_pairs())
    for (int i = 0; i < 200; ++i) {
      SatCase c;
      c.types = types;
      c.image = Shape{1 + below(i % 10 == 0 ? 1500 : 300), 1 + below(i % 10 == 5 ? 1500 : 300)};
      c.options.backend = Backend::cuda;
      c.options.algorithm = ids[random() % ids.size()];
      c.options.border = borders[random() % 3];
      if (i % 4 == 0) c.options.squares = Type::f64;
      if (i % 4 == 2 && !is_float(types.input)) c.options.squares = Type::u64;
      c.options.mask = i % 6 == 0;
      c.options.tilted = i % 40 == 8;  // its oracle takes long
      c.in = placements[random() % std::size(placements)];
      c.out = placements[random() % std::size(placements)];
      c.seed = random();
      ASSERT_EQ(fault_of(c), "") << describe(c);
    }
}

TEST_F(CudaSat, TheSimulatedMachineGivesTheSameBits) {
  for (const BackendInfo& row : backends())
    if (row.backend == Backend::simt && !row.available) GTEST_SKIP() << "no simulated machine";
  const auto expect_same = [](const std::string& id, TypePair types, const Shape& shape) {
    OnGpu gpu(shape, types, 9, id);
    gpu.execute();
    SatOptions options = OnGpu::options(id);
    options.backend = Backend::simt;
    const SatPlan plan(shape, types, options);
    Buffer image(random_image(types.input, shape, Fill::wild, 9), placements[0]);
    std::vector<std::uint8_t> table(bytes_of(plan.table_shape(), types.table)), workspace(plan.workspace_bytes());
    plan.prepare(workspace.data());
    plan.execute({image.view(), View(table.data(), types.table, plan.table_shape())}, workspace.data());
    EXPECT_EQ(gpu.table(), table) << id << " " << name_of(types) << ", " << shape.width << "x" << shape.height;
  };
  for (const TypePair types : type_pairs()) {
    for (const std::string& id : device_sat_ids()) expect_same(id, types, {391, 259});
    for (const std::string& id : device_sat_ids(true)) expect_same(id, types, {101, 150});
  }
  // Deep enough for a recursion of 2r1w, long enough for several pieces of a line.
  for (const std::string& id : device_sat_ids(true)) expect_same(id, type_pair("32f32f"), {1152, 64});
}

// The tables beside the plain sum, through the copies of SatRunner.
TEST_F(CudaSat, TheSimulatedMachineGivesTheSameBitsOfAllTables) {
  for (const BackendInfo& row : backends())
    if (row.backend == Backend::simt && !row.available) GTEST_SKIP() << "no simulated machine";
  const auto bits = [](const Array& a) { return std::string(static_cast<const char*>(a.data()), a.bytes()); };
  for (const TypePair types : type_pairs())
    for (const bool volume : {false, true}) {
      const Shape shape{151, 137, 2, 2, Layout::planar};
      const bool real = is_float(types.input);
      const Buffer image(random_image(types.input, shape, real ? Fill::holes : Fill::wild, 9), placements[2]);
      const Buffer mask(random_mask({shape.width, shape.height, 1, shape.batch}, 9), placements[1]);
      SatOptions options;
      options.squares = Type::f64;
      options.ignore_nan = real, options.volume = volume, options.tilted = !volume;
      options.backend = Backend::cuda;
      const SatTables gpu = sat(image.view(), options, types, mask.view());
      options.backend = Backend::simt;
      const SatTables twin = sat(image.view(), options, types, mask.view());
      EXPECT_EQ(bits(gpu.sum), bits(twin.sum)) << name_of(types) << ", volume " << volume;
      EXPECT_EQ(bits(gpu.squares), bits(twin.squares)) << name_of(types) << ", volume " << volume;
      EXPECT_EQ(bits(gpu.tilted), bits(twin.tilted)) << name_of(types) << ", volume " << volume;
      EXPECT_EQ(bits(gpu.count), bits(twin.count)) << name_of(types) << ", volume " << volume;
    }
}

// The CPU's tables are the oracle, at a size that fills the machine.
TEST_F(CudaSat, LaunchesAreThoseOfTheSimulatedMachine) {
  const Shape shape{200, 150};
  const TypePair types = type_pair("32f32f");
  std::vector<LaunchCounts> there, here;
  const auto launches = [&](const Algorithm& row, Backend backend, std::vector<LaunchCounts>& told) {
    SatOptions options = OnGpu::options(std::string(row.id));
    options.backend = backend;
    told.clear();
    options.launched = [&](const LaunchCounts& launch) { told.push_back(launch); };
    return SatPlan(shape, types, options);
  };
  for (const Algorithm& row : algorithms()) {
    if (row.family != "sat" || !row.cuda || !row.simt) continue;
    const SatPlan cuda_plan = launches(row, Backend::cuda, there);
    const cuda::OwnedStream stream;
    const cuda::Memory image(bytes_of(shape, types.input)), sum(bytes_of(shape, types.table)),
        workspace(cuda_plan.workspace_bytes());
    cuda::clear(image.data(), bytes_of(shape, types.input), stream.get());
    cuda_plan.prepare(workspace.data(), stream.get());
    cuda_plan.execute({ConstView(image.data(), types.input, shape), View(sum.data(), types.table, shape)},
                      workspace.data(), stream.get());
    stream.synchronize();

    const SatPlan simt_plan = launches(row, Backend::simt, here);
    const Array pixels(shape, types.input);
    Array table(shape, types.table), memory({static_cast<std::int64_t>(simt_plan.workspace_bytes()), 1}, Type::u8);
    simt_plan.prepare(memory.data());
    simt_plan.execute({pixels.view(), table.view()}, memory.data());

    ASSERT_EQ(there.size(), here.size()) << row.id;
    for (std::size_t i = 0; i < here.size(); ++i) {
      EXPECT_EQ(there[i].kernel, here[i].kernel) << row.id;
      EXPECT_EQ(there[i].blocks, here[i].blocks) << row.id << ", " << here[i].kernel;
      EXPECT_EQ(there[i].threads, here[i].threads) << row.id << ", " << here[i].kernel;
      EXPECT_EQ(there[i].shared_bytes, here[i].shared_bytes) << row.id << ", " << here[i].kernel;
      EXPECT_GT(there[i].resident, 0) << row.id << ", " << here[i].kernel;
    }
  }
}

TEST_F(CudaSat, AllTablesOfALargeImage) {
  const Shape shape{4099, 3001};
  const TypePair types = type_pair("8u32u");
  const Buffer image(random_image(types.input, shape, Fill::wild, 10), placements[0]);
  const Buffer mask(random_mask(shape, 10), placements[0]);
  SatOptions options{.squares = Type::u64, .tilted = true};
  const auto tables_of = [&](Backend backend) {
    options.backend = backend;
    return sat(image.view(), options, types, mask.view());
  };
  const SatTables gpu = tables_of(Backend::cuda), cpu = tables_of(Backend::cpu);
  const auto same = [](const Array& a, const Array& b) {
    return a.bytes() == b.bytes() && std::memcmp(a.data(), b.data(), a.bytes()) == 0;
  };
  EXPECT_TRUE(same(gpu.sum, cpu.sum));
  EXPECT_TRUE(same(gpu.squares, cpu.squares));
  EXPECT_TRUE(same(gpu.tilted, cpu.tilted));
  EXPECT_TRUE(same(gpu.count, cpu.count));
}

// Each in its own thread, which keeps the first device as current.
TEST_F(CudaSat, OnSeveralDevicesAtOnce) {
  const std::vector<DeviceInfo> all = devices();
  if (all.size() < 2) GTEST_SKIP() << "one GPU";
  const Shape shape{2111, 1999};
  const TypePair types = type_pair("8u32u");
  const Buffer image(random_image(types.input, shape, Fill::wild, 11), placements[0]);
  SatOptions options = OnGpu::options("auto");
  options.backend = Backend::cpu;
  const Array expected = sat(image.view(), options, types).sum;
  options.backend = Backend::cuda;
  std::vector<int> right(all.size() * 2);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < right.size(); ++i)
    threads.emplace_back([&, i] {
      SatOptions here = options;
      here.device = all[i % all.size()].number;
      SatRunner runner(SatPlan(shape, types, here));
      Array table(shape, types.table);
      for (int round = 0; round < 20; ++round) {
        std::memset(table.data(), 0xAA, table.bytes());
        runner.execute({image.view(), table.view()});
        right[i] += std::memcmp(table.data(), expected.data(), table.bytes()) == 0;
      }
      int current = -1;
      if (cudaGetDevice(&current) != cudaSuccess || current != 0) right[i] = -1;
    });
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 0; i < right.size(); ++i) EXPECT_EQ(right[i], 20) << "device " << all[i % all.size()].number;
}

// Sum and squares, in one word and in two, again and again: the CPU's tables are the oracle.
TEST_F(CudaSat, SumAndSquaresOfALargeImageAHundredTimes) {
  for (const char* name : {"8u32u", "8u64u", "16u32u", "16u64u"})
    for (const Border border : {Border::none, Border::zero}) {
      const Shape shape{border == Border::none ? 4096 : 4099, 3001};
      const TypePair types = type_pair(name);
      const Buffer image(random_image(types.input, shape, Fill::wild, 11), placements[0]);
      SatOptions options{.border = border, .backend = Backend::cpu, .squares = Type::u64};
      const SatTables cpu = sat(image.view(), options, types);
      options.backend = Backend::cuda;
      SatRunner runner(SatPlan(shape, types, options));
      Array sum(runner.plan().table_shape(), types.table), squares(runner.plan().table_shape(), Type::u64);
      for (int i = 0; i < 100; ++i) {
        std::memset(sum.data(), 0x5C, sum.bytes());
        std::memset(squares.data(), 0x5C, squares.bytes());
        runner.execute({.image = image.view(), .sum = sum.view(), .squares = squares.view()});
        ASSERT_EQ(std::memcmp(sum.data(), cpu.sum.data(), sum.bytes()), 0) << name << ", run " << i;
        ASSERT_EQ(std::memcmp(squares.data(), cpu.squares.data(), squares.bytes()), 0) << name << ", run " << i;
      }
    }
}

// The CPU's table, which shares no code with the kernels, is the oracle. 4.3e9 elements; 17 GB of table.
TEST_F(CudaSat, MoreThan32BitsOfElements) {
  const Shape shape{66'000, 65'300};
  const TypePair types = type_pair("8u32u");
  if (free_memory() < (std::uint64_t{50} << 30) || devices()[0].free_memory < (std::uint64_t{30} << 30))
    GTEST_SKIP() << "50 GiB of memory and 30 GiB on the GPU are not free";
  Array image(shape, types.input);
  auto* const pixels = static_cast<std::uint8_t*>(image.data());
  for (std::int64_t i = 0; i < shape.width * shape.height; ++i)
    pixels[i] = static_cast<std::uint8_t>((static_cast<std::uint64_t>(i) * 0x9E3779B97F4A7C15u) >> 56);
  Array expected(shape, types.table), got(shape, types.table);
  SatOptions options = OnGpu::options("auto");
  options.backend = Backend::cpu;
  SatRunner(SatPlan(shape, types, options)).execute({image.view(), expected.view()});
  for (const std::string& id : device_sat_ids()) {
    SatRunner(SatPlan(shape, types, OnGpu::options(id))).execute({image.view(), got.view()});
    EXPECT_EQ(std::memcmp(expected.data(), got.data(), bytes_of(shape, types.table)), 0) << id;
  }
}

TEST_F(CudaSat, OutOfMemoryNamesTheBytes) {
  const SatPlan plan({3'000'000, 1'000'000}, type_pair("8u64f"), OnGpu::options("auto"));
  try {
    SatRunner runner(plan);
    FAIL() << "threw nothing";
  } catch (const OutOfMemory& error) {
    EXPECT_NE(std::string(error.what()).find("3000000000000"), std::string::npos) << error.what();
  }
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST_F(CudaSat, AStreamIsNeeded) {
  OnGpu gpu({10, 10}, type_pair("8u32u"), 1);
  const SatPlan plan({10, 10}, type_pair("8u32u"), OnGpu::options("auto"));
  EXPECT_THROW(plan.prepare(&gpu), InvalidArgument);
}

}  // namespace
}  // namespace areal::conformance
