#pragma once
// Launches kernel objects on a CUDA stream: the launcher that a schedule gets. One __global__ function launches all.

#include <cuda_runtime.h>
#include <areal/execution.hpp>
#include <areal/research/launch_counts.hpp>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include "cuda/device.hpp"
#include "cuda/error.hpp"
#include "cuda/machine.cuh"
#include "cuda/shared_memory.hpp"

namespace areal::cuda {

template <class K>
__global__ void __launch_bounds__(K::threads, K::resident) run(const __grid_constant__ typename K::Args args) {
  K{Machine{}, args}();
}

class Launcher {
 public:
  using Settings = int;  ///< number of the device
  static constexpr const char* name = "cuda";

  /// Launches go to the current device, which must be the stream's. `on_launch` is told of each, where there is one.
  explicit Launcher(cudaStream_t stream, const LaunchReport* on_launch = nullptr)
      : stream_(stream), on_launch_(on_launch != nullptr && *on_launch ? on_launch : nullptr) {}
  /// For a DevicePlan.
  Launcher(int /*device*/, Stream stream, const LaunchReport* on_launch)
      : Launcher(static_cast<cudaStream_t>(stream.handle()), on_launch) {}

  /// Throws what the launch answered. The launch may begin before the one before has ended where `overlap` is true.
  template <template <class, class> class K, class C>
  void launch(std::int64_t blocks, const typename K<Machine, C>::Args& args, bool overlap) {
    using Kernel = K<Machine, C>;
    if (blocks == 0) return;
    static constexpr std::size_t shared =
        std::is_empty_v<typename Kernel::Shared> ? 0 : sizeof(typename Kernel::Shared);
    const Launch launch{typeid(Kernel).name(), blocks, Kernel::threads, shared};
    if (blocks > std::numeric_limits<int>::max()) throw_too_many_blocks(launch);
    if constexpr (shared > shared_without_asking) {
      static constinit std::atomic<std::uint64_t> granted{0};
      grant_shared(reinterpret_cast<const void*>(&run<Kernel>), launch, granted);
    }
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(static_cast<unsigned>(blocks));
    config.blockDim = dim3(Kernel::threads);
    config.dynamicSmemBytes = shared;
    config.stream = stream_;
    cudaLaunchAttribute attribute;
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    config.attrs = &attribute;
    config.numAttrs = overlap ? 1 : 0;  // devices before sm_90 ignore it
    require(cudaLaunchKernelEx(&config, run<Kernel>, args), launch);
    if (on_launch_ != nullptr) tell(reinterpret_cast<const void*>(&run<Kernel>), launch);
  }

  /// Sets n bytes from p on.
  void fill(void* p, int byte, std::size_t n) { check(cudaMemsetAsync(p, byte, n, stream_), "a fill"); }
  /// What makes a workspace ready.
  void clear(void* p, std::size_t n) { cuda::clear(p, n, stream()); }
  void copy_in(void* to, const void* from, std::size_t n) { cuda::copy_in(to, from, n, stream()); }
  static void require_shared(int device, std::size_t bytes, const std::string& what) {
    cuda::require_shared(device, bytes, what);
  }

 private:
  // These two stand here because each shared library or program with kernels has a CUDA runtime of its own, which alone
  // knows them, and keeps the last error.
  static void require(cudaError_t status, const Launch& launch) {
    if (status != cudaSuccess) cudaGetLastError();  // said now, and not by the next who asks
    check(status, launch);
  }
  /// What a kernel needs beyond what every kernel may have is asked of each device once: it has a bit in `granted`.
  static void grant_shared(const void* kernel, const Launch& launch, std::atomic<std::uint64_t>& granted) {
    int device = 0;
    check(cudaGetDevice(&device), "the current device");
    const std::uint64_t bit = device < 64 ? std::uint64_t{1} << device : 0;  // those beyond are asked each time
    if ((granted.load(std::memory_order_relaxed) & bit) != 0) return;
    require(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 static_cast<int>(launch.shared_bytes)),
            launch);
    granted.fetch_or(bit, std::memory_order_relaxed);
  }

  void tell(const void* kernel, const Launch& launch) const {
    int device = 0;
    check(cudaGetDevice(&device), "the current device");
    thread_local std::map<std::pair<const void*, int>, LaunchCounts>
        known;  // finding it out takes longer than a launch
    const auto [at, is_new] = known.try_emplace({kernel, device});
    LaunchCounts& told = at->second;
    if (is_new) {
      told = told_of(launch);
      check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&told.resident, kernel, launch.threads, launch.shared_bytes),
            "the blocks that a multiprocessor holds");
    }
    told.blocks = launch.blocks;
    (*on_launch_)(told);
  }

  Stream stream() const { return Stream::cuda(stream_); }

  cudaStream_t stream_;
  const LaunchReport* on_launch_;
};

}  // namespace areal::cuda
