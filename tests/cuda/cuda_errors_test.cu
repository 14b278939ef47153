// areal's errors for a GPU that refuses or fails. A lost device stays lost until the process ends, so these tests run
// in a child. All is skipped without a GPU.
#include <gtest/gtest.h>
#include <areal/error.hpp>
#include <areal/histogram.hpp>
#include <areal/info.hpp>
#include <areal/region.hpp>
#include <areal/sat.hpp>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include "cuda/device.hpp"
#include "cuda/launcher.cuh"
#include "store_kernel.cuh"

namespace areal::cuda {
namespace {

class CudaErrors : public testing::Test {
 protected:
  void SetUp() override {
    if (devices().empty()) GTEST_SKIP() << "no GPU";
  }
};

// Requests more shared memory than any device has, or a lot; writes through it.
template <class M, class C>
struct Greedy {
  static constexpr int threads = 32, resident = 1;
  struct Shared {
    int cells[C::bytes / 4];
  };
  struct Args {
    int* to;
  };
  M m;
  Args a;
  AREAL_DEVICE void operator()() {
    Shared& s = m.template shared<Shared>();
    m.put(s.cells[C::bytes / 4 - 1 - m.thread()], m.thread());
    m.sync_warp();
    if (m.thread() == 0) m.store(a.to, m.get(s.cells[C::bytes / 4 - 32]));
  }
};
template <int bytes_>
struct Bytes {
  static constexpr int bytes = bytes_;
};

int value_at(const Memory& memory, const OwnedStream& stream) {
  int value = 0;
  copy_out(&value, memory.data(), sizeof value, stream.get());
  stream.synchronize();
  return value;
}
cudaStream_t handle(const OwnedStream& stream) { return static_cast<cudaStream_t>(stream.get().handle()); }

TEST_F(CudaErrors, AnImpossibleLaunchIsNamedAndHarmless) {
  const OwnedStream stream;
  const Memory memory(sizeof(int));
  Launcher launcher(handle(stream));
  try {
    launcher.launch<Greedy, Bytes<300 * 1024>>(3, {static_cast<int*>(memory.data())}, false);
    FAIL() << "threw nothing";
  } catch (const DeviceError& error) {
    EXPECT_FALSE(error.lost());
    EXPECT_NE(std::string(error.what()).find("kernel Greedy, 3 blocks of 32 threads and 307200 bytes of shared memory"),
              std::string::npos)
        << error.what();
  }
  try {
    launcher.launch<Store, Nothing>(std::int64_t{1} << 31, {static_cast<int*>(memory.data())}, false);
    FAIL() << "threw nothing";
  } catch (const InvalidArgument& error) {
    EXPECT_NE(std::string(error.what()).find("kernel Store, 2147483648 blocks"), std::string::npos) << error.what();
  }
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  launcher.launch<Store, Nothing>(1, {static_cast<int*>(memory.data())}, false);
  EXPECT_EQ(value_at(memory, stream), 7);
}

// The first thread to come raises a kernel's limit beyond 48 KiB, once for each device.
TEST_F(CudaErrors, ThreadsLaunchTheSameKernel) {
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&right] {
      const OwnedStream stream;
      const Memory memory(sizeof(int));
      for (int repeat = 0; repeat < 50; ++repeat)
        Launcher(handle(stream)).launch<Greedy, Bytes<60 * 1024>>(1, {static_cast<int*>(memory.data())}, false);
      if (value_at(memory, stream) == 31) ++right;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 8);
}

TEST_F(CudaErrors, NoSuchDevice) {
  EXPECT_THROW(DeviceScope(4096), Unavailable);
  EXPECT_EQ(why_not(4096), "device 4096 is not there: cuda has " + std::to_string(device_count()));
  EXPECT_EQ(why_not(0), "");
}

TEST_F(CudaErrors, TooMuchSharedMemoryIsRefusedWhenPlanned) {
  EXPECT_EQ(lacks_shared(0, 60 * 1024), "");
  const std::string why = lacks_shared(0, 1 << 20);
  EXPECT_EQ(why.rfind("takes 1048576 bytes of shared memory a block", 0), 0u) << why;
}

// Prints what `f` throws; true if the error says that the device is lost.
template <class F>
bool says_lost(const char* what, F f) {
  try {
    f();
  } catch (const DeviceError& error) {
    std::fprintf(stderr, "%s: %s\n", what, error.what());
    return error.lost();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: not a DeviceError: %s\n", what, error.what());
  }
  return false;
}

[[noreturn]] void lose_the_device() {
  bool all = true;
  const Execution on_gpu{.backend = Backend::cuda};
  const Array image(Shape{100, 100}, Type::u8);
  const DeviceArray there(image.shape(), Type::u8);
  const SatPlan plan(image.shape(), Type::u8, {}, on_gpu);
  Workspace workspace(plan);
  SatTable table = plan.allocate(), here = plan.allocate(MemoryPlace{});
  {
    const OwnedStream stream;
    Launcher(handle(stream)).launch<Store, Nothing>(1, {reinterpret_cast<int*>(std::uintptr_t{64})}, false);
    all = says_lost("synchronize", [&] { stream.synchronize(); }) && all;
    all = says_lost("launch", [&] { Launcher(handle(stream)).launch<Store, Nothing>(1, {nullptr}, false); }) && all;
  }
  all = says_lost("wait", [&] { workspace.wait(); }) && all;
  all = says_lost("execute", [&] { plan.execute({there.view(), table.sum()}, workspace), workspace.wait(); }) && all;
  all = says_lost("staged execute", [&] { plan.execute(image.view(), here, workspace); }) && all;
  all = says_lost("copy", [&] { table.copy_to({}); }) && all;
  all = says_lost("workspace", [&] { Workspace{plan}; }) && all;
  all = says_lost("device array", [&] { DeviceArray::copy_of(image.view()); }) && all;
  all = says_lost("region", [&] { region_sums(table, {{0, 0, 10, 10}}); }) && all;
  all = says_lost("sat", [&] { sat(image.view(), {}, on_gpu); }) && all;
  const auto tensor = [&] { integral_histogram(image.view(), Binning::uniform(4, 0, 256), {}, on_gpu); };
  all = says_lost("histogram", tensor) && all;
  const bool none_left = devices().empty();
  std::string why_not;
  for (const BackendInfo& row : backends())
    if (row.backend == Backend::cuda) why_not = row.why_not;
  std::fprintf(stderr, "backends: %s\n%s\n", why_not.c_str(), all && none_left ? "all said it" : "not all said it");
  std::exit(all && none_left ? 0 : 1);
}

using CudaErrorsDeathTest = CudaErrors;
TEST_F(CudaErrorsDeathTest, ALostDeviceIsSaidByAllThatComesAfter) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a separate process, not a fork of one with a device
  EXPECT_EXIT(lose_the_device(), testing::ExitedWithCode(0),
              "synchronize: the queued work: .*the last kernel that this thread launched was Store.*context is lost.*"
              "must be restarted.*all said it");
}

}  // namespace
}  // namespace areal::cuda
