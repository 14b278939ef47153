// Tables on a GPU: tests beyond the conformance suite. All is skipped without a GPU.
#include <cuda_runtime.h>
#include <gtest/gtest.h>
#include <algorithm>
#include <areal/catalog.hpp>
#include <areal/info.hpp>
#include <areal/region.hpp>
#include <areal/sat.hpp>
#include <areal/span.hpp>
#include <chrono>
#include <cstring>
#include <random>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>
#include "conformance/backends.hpp"
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

const MemoryPlace gpu_memory{MemoryPlace::cuda, 0};

/// One plan with its device memory, an image in it, a workspace in borrowed memory, and a stream.
class OnGpu {
 public:
  OnGpu(const Shape& shape, TypePair types, std::uint64_t seed, const std::string& id = "auto")
      : plan_(plan_of(shape, types, options(id))),
        sum_(plan_.table_shape(), types.table),
        memory_(plan_.workspace_bytes()),
        workspace_(plan_, {static_cast<std::byte*>(memory_.data()), plan_.workspace_bytes(), gpu_memory},
                   stream_.get()) {
    const Buffer buffer(random_image(types.input, shape, Fill::wild, seed), placements[0]);
    image_ = DeviceArray::copy_of(buffer.view(), {.stream = stream_.get()});
    stream_.synchronize();
  }
  static PlanOptions options(const std::string& id) {
    return {.border = Border::none, .algorithm = id, .backend = Backend::cuda};
  }
  void execute() { plan_.execute({image_.view(), sum_.view()}, workspace_); }
  std::vector<std::uint8_t> table() {
    const Array sum = sum_.to_host({.stream = stream_.get()});
    const auto* const bytes = static_cast<const std::uint8_t*>(sum.data());
    return {bytes, bytes + sum.bytes()};
  }
  void forget() { cuda::clear(sum_.view().data, sum_.bytes(), stream_.get()); }
  cudaStream_t stream() { return static_cast<cudaStream_t>(stream_.get().handle()); }

 private:
  SatPlan plan_;
  cuda::OwnedStream stream_;
  DeviceArray image_, sum_;
  cuda::Memory memory_;
  Workspace workspace_;
};

/// All tables, bit by bit. Both lie in host memory.
bool same_bits(const SatTable& a, const SatTable& b) {
  const auto same = [](const ConstView& x, const ConstView& y) {
    if (x.data == nullptr || y.data == nullptr) return x.data == y.data;
    return x.shape == y.shape && x.type == y.type && std::memcmp(x.data, y.data, bytes_of(x.shape, x.type)) == 0;
  };
  return same(a.sum(), b.sum()) && same(a.squares(), b.squares()) && same(a.tilted(), b.tilted()) &&
         same(a.count(), b.count());
}

/// The rows of the catalogue that take such an image.
std::vector<std::string> ids_that_take(const Shape& image, TypePair types) {
  SatCase c;
  c.image = image, c.types = types, c.options = OnGpu::options("auto");
  return device_sat_ids_that_take(c);
}

/// One of the catalogue's rows.
class CudaSatOf : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (no_gpu()) GTEST_SKIP() << "no GPU";
  }
  /// A type pair that it takes: relay takes bytes alone.
  static const char* types_or(const char* types) { return GetParam() == "relay" ? "8u32u" : types; }
};
INSTANTIATE_TEST_SUITE_P(Rows, CudaSatOf, testing::ValuesIn(device_sat_ids()), [](const auto& info) {
  std::string name = info.param;
  for (char& letter : name)
    if (letter == '-') letter = '_';
  return name;
});

TEST_P(CudaSatOf, GivesTheSameBitsAThousandTimes) {
  for (const char* types : {types_or("32f32f"), GetParam() == "bands" ? "64f64f" : types_or("8u64f")}) {
    OnGpu gpu({1904, 1111}, type_pair(types), 3, GetParam());
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
  OnGpu gpu({1024, 777}, type_pair(types_or("32f32f")), 4, GetParam());
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
  OnGpu a({3008, 2000}, type_pair("8u32u"), 6, GetParam()),
      b({2112, 2303}, type_pair(types_or("32f32f")), 7, GetParam());
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

/// All but those whose blocks run all at once.
std::vector<std::string> ids_that_advance() {
  std::vector<std::string> ids = device_sat_ids();
  std::erase_if(ids, [](const std::string& id) { return id == "bands" || id == "relay" || id == "all-partials"; });
  return ids;
}
class CudaSatThatAdvances : public CudaSatOf {};
INSTANTIATE_TEST_SUITE_P(Rows, CudaSatThatAdvances, testing::ValuesIn(ids_that_advance()), [](const auto& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

// Waiting blocks occupy most of the machine; a few of ours are resident at a time on the rest.
TEST_P(CudaSatThatAdvances, UnderACompetingKernel) {
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

// Tiles that run all at once wait for room until the other kernel has ended, and lose nothing.
TEST_F(CudaSat, TilesThatRunAtOnceWaitForRoom) {
  int* flags = nullptr;
  REQUIRE_CUDA(cudaHostAlloc(&flags, 2 * sizeof *flags, cudaHostAllocMapped));
  const int most = 160 * 1024;
  REQUIRE_CUDA(cudaFuncSetAttribute(occupy, cudaFuncAttributeMaxDynamicSharedMemorySize, most));
  cudaStream_t other;
  REQUIRE_CUDA(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
  for (const auto& [id, types, side] :
       {std::tuple{"all-partials", "32f32f", 1024}, std::tuple{"lookback", "8u32u", 1024},
        std::tuple{"bands", "32f32f", 3072}, std::tuple{"relay", "8u32u", 1024}}) {
    OnGpu gpu({side, side}, type_pair(types), 8, id);
    gpu.execute();
    const auto first = gpu.table();
    flags[0] = 1, flags[1] = 0;
    occupy<<<devices()[0].multiprocessors - 3, 1024, most, other>>>(flags, flags + 1);
    std::thread later([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      *static_cast<volatile int*>(flags) = 0;
    });
    gpu.forget();
    gpu.execute();
    EXPECT_EQ(gpu.table(), first) << id;
    EXPECT_EQ(*static_cast<volatile int*>(flags), 0) << id << ": it waited for nothing";
    later.join();
    REQUIRE_CUDA(cudaStreamSynchronize(other));
    EXPECT_EQ(flags[1], 0) << id << ": the other kernel gave up";
  }
  cudaStreamDestroy(other);
  cudaFreeHost(flags);
}

// Launches whose blocks all run at once never hold a part of the device each, waiting for the rest of it.
TEST_F(CudaSat, LaunchesThatRunAtOnceShareTheDevice) {
  OnGpu a({3072, 3072}, type_pair("32f32f"), 6, "bands"), b({5120, 6000}, type_pair("8u32u"), 7, "bands"),
      c({2048, 2048}, type_pair("32f32f"), 8, "all-partials"), d({4000, 4000}, type_pair("8u32u"), 9, "lookback"),
      e({4000, 4000}, type_pair("8u32u"), 10, "relay");
  OnGpu* const all[] = {&a, &b, &c, &d, &e};
  std::vector<std::vector<std::uint8_t>> first;
  for (OnGpu* one : all) one->execute(), first.push_back(one->table());
  for (int round = 0; round < 20; ++round) {
    for (OnGpu* one : all) one->forget();
    for (int i = 0; i < 20; ++i)
      for (OnGpu* one : all) one->execute();
    for (std::size_t i = 0; i < std::size(all); ++i) ASSERT_EQ(all[i]->table(), first[i]) << "table " << i;
  }
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
      if (i % 4 == 2) c.options.squares = i % 8 == 2 ? Type::u64 : Type::f32;
      if (c.options.squares && !has_squares(types.input, *c.options.squares)) c.options.squares.reset();
      c.options.mask = i % 6 == 0;
      c.options.tilted = i % 40 == 8;  // its oracle takes long
      c.options.reverse = !c.options.tilted && i % 3 == 1;
      c.in = placements[random() % std::size(placements)];
      c.out = placements[random() % std::size(placements)];
      c.seed = random();
      ASSERT_EQ(unless_refused(c.options, fault_of(c)), "") << describe(c);
    }
}

TEST_F(CudaSat, TheSimulatedMachineGivesTheSameBits) {
  if (missing(Backend::simt)) GTEST_SKIP() << "no simulated machine";
  const auto expect_same = [](const std::string& id, TypePair types, const Shape& shape) {
    OnGpu gpu(shape, types, 9, id);
    gpu.execute();
    PlanOptions options = OnGpu::options(id);
    options.backend = Backend::simt;
    const SatPlan plan = plan_of(shape, types, options);
    Workspace workspace(plan);
    const Buffer image(random_image(types.input, shape, Fill::wild, 9), placements[0]);
    std::vector<std::uint8_t> table(bytes_of(plan.table_shape(), types.table));
    plan.execute({image.view(), View(table.data(), types.table, plan.table_shape())}, workspace);
    EXPECT_EQ(gpu.table(), table) << id << " " << name_of(types) << ", " << shape.width << "x" << shape.height;
  };
  for (const TypePair types : type_pairs()) {
    for (const std::string& id : ids_that_take({391, 259}, types)) expect_same(id, types, {391, 259});
    for (const std::string& id : device_sat_ids(true)) {
      const auto taken = type_pairs_of(*find_algorithm("sat", id));
      if (std::find(taken.begin(), taken.end(), types) != taken.end()) expect_same(id, types, {101, 150});
    }
  }
  // Deep enough for a recursion of 2r1w, long enough for several pieces of a line.
  for (const std::string& id : device_sat_ids(true)) expect_same(id, type_pair("32f32f"), {1152, 64});
}

// The tables beside the plain sum, through the copies of a workspace that stages host memory.
TEST_F(CudaSat, TheSimulatedMachineGivesTheSameBitsOfAllTables) {
  if (missing(Backend::simt)) GTEST_SKIP() << "no simulated machine";
  for (const TypePair types : type_pairs())
    for (const bool volume : {false, true}) {
      const Shape shape{151, 137, 2, 2, Layout::planar};
      const bool real = is_float(types.input);
      const Buffer image(random_image(types.input, shape, real ? Fill::holes : Fill::wild, 9), placements[2]);
      const Buffer mask(random_mask({shape.width, shape.height, 1, shape.batch}, 9), placements[1]);
      const SatOptions options{
          .types = types, .squares = Squares::f64, .tilted = !volume, .ignore_nan = real, .volume = volume};
      const auto tables_of = [&](Backend backend) {
        return sat(image.view(), options, {.backend = backend}, mask.view());
      };
      SatTable gpu = tables_of(Backend::cuda);
      const SatTable simt = tables_of(Backend::simt);
      ASSERT_TRUE(gpu.count().data != nullptr && gpu.squares().data != nullptr);
      EXPECT_TRUE(same_bits(gpu, simt)) << name_of(types) << ", volume " << volume;
      *static_cast<char*>(gpu.count().data) ^= 1;
      EXPECT_FALSE(same_bits(gpu, simt)) << name_of(types) << ", volume " << volume;
    }
}

TEST_F(CudaSat, LaunchesAreThoseOfTheSimulatedMachine) {
  if (missing(Backend::simt)) GTEST_SKIP() << "no simulated machine";
  const Shape shape{200, 150};
  const TypePair types = type_pair("32f32f");
  std::vector<LaunchCounts> there, here;
  const auto plan_that_tells = [&](const Algorithm& row, Backend backend, std::vector<LaunchCounts>& told) {
    PlanOptions options = OnGpu::options(std::string(row.id));
    options.backend = backend;
    told.clear();
    options.on_launch = [&](const LaunchCounts& launch) { told.push_back(launch); };
    return plan_of(shape, types, options);
  };
  const cuda::OwnedStream stream;
  DeviceArray image(shape, types.input), sum(shape, types.table);
  cuda::clear(image.view().data, image.bytes(), stream.get());
  Array pixels(shape, types.input), table(shape, types.table);
  std::memset(pixels.data(), 0, pixels.bytes());
  for (const Algorithm& row : algorithms()) {
    if (row.family != "sat" || !row.cuda || !row.simt || row.id == "relay") continue;  // relay takes bytes
    const SatPlan cuda_plan = plan_that_tells(row, Backend::cuda, there);
    const cuda::Memory memory(cuda_plan.workspace_bytes());
    Workspace on_cuda(cuda_plan, {static_cast<std::byte*>(memory.data()), cuda_plan.workspace_bytes(), gpu_memory},
                      stream.get());
    cuda_plan.execute({image.view(), sum.view()}, on_cuda);
    on_cuda.wait();

    const SatPlan simt_plan = plan_that_tells(row, Backend::simt, here);
    Workspace on_simt(simt_plan);
    simt_plan.execute({pixels.view(), table.view()}, on_simt);

    ASSERT_FALSE(here.empty()) << row.id;
    ASSERT_EQ(there.size(), here.size()) << row.id;
    for (std::size_t i = 0; i < here.size(); ++i) {
      EXPECT_EQ(there[i].kernel, here[i].kernel) << row.id;
      // bands has as many blocks as a machine holds.
      if (row.id != "bands") EXPECT_EQ(there[i].blocks, here[i].blocks) << row.id << ", " << here[i].kernel;
      EXPECT_EQ(there[i].threads, here[i].threads) << row.id << ", " << here[i].kernel;
      EXPECT_EQ(there[i].shared_bytes, here[i].shared_bytes) << row.id << ", " << here[i].kernel;
      EXPECT_GT(there[i].resident, 0) << row.id << ", " << here[i].kernel;
    }
  }
}

// The CPU's tables are the oracle, at a size that fills the machine.
TEST_F(CudaSat, AllTablesOfALargeImage) {
  const Shape shape{4099, 3001};
  const TypePair types = type_pair("8u32u");
  const Buffer image(random_image(types.input, shape, Fill::wild, 10), placements[0]);
  const Buffer mask(random_mask(shape, 10), placements[0]);
  const SatOptions options{.types = types, .squares = Squares::u64, .tilted = true};
  const auto tables_of = [&](Backend backend) { return sat(image.view(), options, {.backend = backend}, mask.view()); };
  const SatTable gpu = tables_of(Backend::cuda), cpu = tables_of(Backend::cpu);
  ASSERT_TRUE(cpu.squares().data != nullptr && cpu.tilted().data != nullptr && cpu.count().data != nullptr);
  EXPECT_TRUE(same_bits(gpu, cpu));
}

// Each in its own thread, which keeps the first device as current.
TEST_F(CudaSat, OnSeveralDevicesAtOnce) {
  const std::vector<DeviceInfo> all = devices();
  if (all.size() < 2) GTEST_SKIP() << "one GPU";
  const Shape shape{2111, 1999};
  const TypePair types = type_pair("8u32u");
  const Buffer image(random_image(types.input, shape, Fill::wild, 11), placements[0]);
  const SatOptions options{.border = Border::none, .types = types};
  const SatTable expected = sat(image.view(), options, {.backend = Backend::cpu});
  std::vector<int> right(all.size() * 2);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < right.size(); ++i)
    threads.emplace_back([&, i] {
      const int device = all[i % all.size()].number;
      const SatPlan plan(shape, types.input, options, {.backend = Backend::cuda, .device = device});
      Workspace workspace(plan);
      SatTable here = plan.allocate(MemoryPlace{}), there = plan.allocate();
      for (int round = 0; round < 20; ++round) {
        std::memset(here.sum().data, 0xAA, bytes_of(shape, types.table));
        plan.execute(image.view(), here, workspace);
        plan.execute(image.view(), there, workspace);
        right[i] += same_bits(here, expected) && same_bits(there.copy_to({}), expected);
      }
      int current = -1;
      if (cudaGetDevice(&current) != cudaSuccess || current != 0) right[i] = -1;
      if (there.memory() != MemoryPlace{MemoryPlace::cuda, device}) right[i] = -2;
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
      const SatOptions options{.border = border, .types = types, .squares = Squares::u64};
      const SatTable cpu = sat(image.view(), options, {.backend = Backend::cpu});
      const SatPlan plan(shape, types.input, options, {.backend = Backend::cuda});
      Workspace workspace(plan);
      SatTable gpu = plan.allocate(MemoryPlace{});
      for (int i = 0; i < 100; ++i) {
        for (const View& table : {gpu.sum(), gpu.squares()})
          std::memset(table.data, 0x5C, bytes_of(table.shape, table.type));
        plan.execute(image.view(), gpu, workspace);
        ASSERT_TRUE(same_bits(gpu, cpu)) << name << ", run " << i;
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
  PlanOptions options = OnGpu::options("auto");
  options.backend = Backend::cpu;
  const auto compute = [&](const SatPlan& plan, SatTable& into) {
    Workspace workspace(plan);
    plan.execute(image.view(), into, workspace);
  };
  const SatPlan on_cpu = plan_of(shape, types, options);
  SatTable expected = on_cpu.allocate(), got = on_cpu.allocate();
  compute(on_cpu, expected);
  for (const std::string& id : ids_that_take(shape, types)) {
    compute(plan_of(shape, types, OnGpu::options(id)), got);
    EXPECT_TRUE(same_bits(got, expected)) << id;
    std::memset(got.sum().data, 0, bytes_of(shape, types.table));
  }
}

// Of tables that a plan allocates, of images, and of the copies of host views.
TEST_F(CudaSat, OutOfMemoryNamesTheBytes) {
  const auto bytes_refused = [](const auto& f) -> std::uint64_t {
    try {
      f();
    } catch (const OutOfMemory& error) {
      EXPECT_NE(std::string(error.what()).find(std::to_string(error.bytes())), std::string::npos) << error.what();
      EXPECT_EQ(cudaGetLastError(), cudaSuccess);
      return error.bytes();
    }
    ADD_FAILURE() << "threw nothing";
    return 0;
  };
  const Shape shape{3'000'000, 1'000'000};
  const TypePair types = type_pair("8u64f");
  const SatPlan plan = plan_of(shape, types, OnGpu::options("2r2w"));  // which needs little workspace
  EXPECT_EQ(bytes_refused([&] { plan.allocate(); }), 24'000'000'000'000u);
  EXPECT_EQ(bytes_refused([&] { DeviceArray(shape, types.input); }), 3'000'000'000'000u);

  // Nothing is read there: the copy's memory is asked for first.
  const auto address = [](int bit) { return reinterpret_cast<void*>(std::uintptr_t{1} << bit); };
  const SatArguments arguments{ConstView(address(42), types.input, shape), View(address(45), types.table, shape)};
  Workspace workspace(plan);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(bytes_refused([&] { plan.execute(arguments, workspace); }), 3'000'000'000'000u);
}

// Work on a GPU has a CUDA stream: its own, or the default one that a plan without a stream waits for.
TEST_F(CudaSat, TheStreamIsOneOfCudas) {
  const SatPlan plan = plan_of({10, 10}, type_pair("8u32u"), OnGpu::options("auto"));
  const cuda::Memory memory(plan.workspace_bytes());
  const Span<std::byte> bytes(static_cast<std::byte*>(memory.data()), plan.workspace_bytes(), gpu_memory);
  EXPECT_THROW(Workspace(plan, bytes, Stream::host()), InvalidArgument);
  EXPECT_THROW(SatPlan({10, 10}, Type::u8, {}, {.backend = Backend::cuda, .stream = Stream::host()}), InvalidArgument);
  EXPECT_EQ(Workspace(plan).stream(), Stream::legacy_default());
}

// A carry in host memory is copied as the other views are, of any pitch; beside one in device memory, too.
TEST_F(CudaSat, CarriesInHostAndDeviceMemoryGiveTheSamePiece) {
  const Shape whole{1500, 1100}, piece{700, 600};
  const std::int64_t x = 411, y = 333;
  const TypePair types = type_pair("8u32u");
  const Buffer pixels(random_image(types.input, whole, Fill::wild, 21), placements[0]);
  const SatOptions options{.border = Border::none, .types = types, .squares = Squares::u64};
  const SatTable all = sat(pixels.view(), options, {.backend = Backend::cpu});
  const auto part = [](const ConstView& view, std::int64_t left, std::int64_t top, const Shape& shape) {
    return ConstView(static_cast<const char*>(view.row(top)) + left * view.column_pitch(), view.type, shape,
                     view.row_pitch);
  };
  const auto carry_of = [&](const ConstView& table) {
    return Carry{part(table, x - 1, y - 1, {piece.width + 1, 1}), part(table, x - 1, y, {1, piece.height})};
  };
  const ConstView sum = all.sum(), squares = all.squares(), image = part(pixels.view(), x, y, piece);
  const SatPlan plan(piece, types.input, options, {.backend = Backend::cuda});
  Workspace workspace(plan);
  SatTable on_host = plan.allocate(MemoryPlace{}), on_device = plan.allocate();
  plan.execute({.image = image,
                .sum = on_host.sum(),
                .squares = on_host.squares(),
                .carry = carry_of(sum),
                .squares_carry = carry_of(squares)},
               workspace);
  const std::pair<ConstView, ConstView> both[] = {{on_host.sum(), part(sum, x, y, piece)},
                                                  {on_host.squares(), part(squares, x, y, piece)}};
  for (const auto& [got, expected] : both)
    for (std::int64_t row = 0; row < piece.height; ++row)
      ASSERT_EQ(std::memcmp(got.row(row), expected.row(row), static_cast<std::size_t>(piece.width) * size_of(got.type)),
                0)
          << "row " << row;

  const DeviceArray source = DeviceArray::copy_of(image), above = DeviceArray::copy_of(carry_of(sum).above),
                    left = DeviceArray::copy_of(carry_of(squares).left);
  plan.execute({.image = source.view(),
                .sum = on_device.sum(),
                .squares = on_device.squares(),
                .carry = {above.view(), carry_of(sum).left},
                .squares_carry = {carry_of(squares).above, left.view()}},
               workspace);
  workspace.wait();
  EXPECT_TRUE(same_bits(on_device.copy_to({}), on_host));
}

// What a blocking stream has queued is seen by plans and queries that name no stream.
TEST_F(CudaSat, WithoutAStreamItFollowsBlockingStreams) {
  const Shape shape{2000, 1500};
  const TypePair types = type_pair("8u32u");
  const Buffer pixels(random_image(types.input, shape, Fill::wild, 12), placements[0]);
  const SatTable expected = sat(pixels.view(), {.types = types}, {.backend = Backend::cpu});
  const SatPlan plan(shape, types.input, {.types = types}, {.backend = Backend::cuda});
  Workspace workspace(plan);
  SatTable table = plan.allocate();
  const DeviceArray source = DeviceArray::copy_of(pixels.view());
  DeviceArray image(shape, types.input), elsewhere({64 << 20, 1}, Type::u8), copy(plan.table_shape(), types.table);
  const Region all{0, 0, shape.width, shape.height};
  const double sum = region_sums(expected, {all})[0];
  ASSERT_GT(sum, 0);
  cudaStream_t blocking;
  REQUIRE_CUDA(cudaStreamCreate(&blocking));
  for (int i = 0; i < 20; ++i) {
    REQUIRE_CUDA(cudaMemsetAsync(image.view().data, 0, image.bytes(), blocking));
    for (int k = 0; k < 20; ++k)  // it takes a while until the image is there
      REQUIRE_CUDA(cudaMemsetAsync(elsewhere.view().data, k, elsewhere.bytes(), blocking));
    REQUIRE_CUDA(
        cudaMemcpyAsync(image.view().data, source.view().data, image.bytes(), cudaMemcpyDeviceToDevice, blocking));
    plan.execute(std::as_const(image).view(), table, workspace);
    ASSERT_TRUE(same_bits(table.copy_to({}), expected)) << "run " << i;

    REQUIRE_CUDA(cudaMemsetAsync(copy.view().data, 0, copy.bytes(), blocking));
    for (int k = 0; k < 20; ++k) REQUIRE_CUDA(cudaMemsetAsync(elsewhere.view().data, k, elsewhere.bytes(), blocking));
    REQUIRE_CUDA(cudaMemcpyAsync(copy.view().data, table.sum().data, copy.bytes(), cudaMemcpyDeviceToDevice, blocking));
    ASSERT_EQ(region_sums(SatView(copy.view(), Border::zero), {all})[0], sum) << "run " << i;
  }
  cudaStreamDestroy(blocking);
}

}  // namespace
}  // namespace areal::conformance
