#pragma once
// Launches kernel objects on a CUDA stream: the launcher for schedules. One __global__ function launches all.

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

/// The same for a kernel of clusters, which has no code for machines without them.
template <class K>
__global__ void __launch_bounds__(K::threads, K::resident) run_clusters(const __grid_constant__ typename K::Args args) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  K{Machine{}, args}();
#endif
}

class Launcher {
 public:
  using Settings = int;                       ///< number of the device
  static constexpr int largest_cluster = 16;  ///< blocks
  static constexpr const char* name = "cuda";

  /// Launches go to the current device, which must be the stream's. Calls `on_launch`, if set, for each.
  explicit Launcher(cudaStream_t stream, const LaunchReport* on_launch = nullptr)
      : stream_(stream), on_launch_(on_launch != nullptr && *on_launch ? on_launch : nullptr) {}
  /// For a DevicePlan.
  Launcher(int /*device*/, Stream stream, const LaunchReport* on_launch)
      : Launcher(static_cast<cudaStream_t>(stream.handle()), on_launch) {}

  /// Throws the launch's error. With `overlap`, the launch may begin before the previous one has ended.
  template <template <class, class> class K, class C>
  void launch(std::int64_t blocks, const typename K<Machine, C>::Args& args, bool overlap) {
    using Kernel = K<Machine, C>;
    if (blocks == 0) return;
    const Launch launch = launch_of<Kernel>(blocks);
    if (blocks > std::numeric_limits<int>::max()) throw_too_many_blocks(launch);
    grant<Kernel>(launch);
    cudaLaunchConfig_t config = config_of(launch);
    cudaLaunchAttribute attribute = overlap_attribute();
    config.attrs = &attribute;
    config.numAttrs = overlap ? 1 : 0;  // devices before sm_90 ignore it
    require(cudaLaunchKernelEx(&config, run<Kernel>, args), launch);
    if (on_launch_ != nullptr) tell(reinterpret_cast<const void*>(&run<Kernel>), launch);
  }

  /// The same with all blocks running at once: none begins before the device can hold all of them, next to any other
  /// work (a cooperative launch). Returns false without a launch if it never can.
  template <template <class, class> class K, class C>
  bool launch_together(std::int64_t blocks, const typename K<Machine, C>::Args& args) {
    using Kernel = K<Machine, C>;
    const Launch launch = launch_of<Kernel>(blocks);
    if (blocks > most_blocks<Kernel>(launch)) return false;
    cudaLaunchConfig_t config = config_of(launch);
    cudaLaunchAttribute attribute = together_attribute();
    config.attrs = &attribute;
    config.numAttrs = 1;
    return launched_together(cudaLaunchKernelEx(&config, run<Kernel>, args),
                             reinterpret_cast<const void*>(&run<Kernel>), launch);
  }

  /// The most blocks that launch_together supports on the current device; 0 if it supports none.
  template <template <class, class> class K, class C>
  std::int64_t most_together() const {
    return most_blocks<K<Machine, C>>(launch_of<K<Machine, C>>(1));
  }

  /// Whether the current device has multiply_tiles.
  static bool multiplies_tiles() {
    int device = 0, major = 0, minor = 0;
    check(cudaGetDevice(&device), "the current device");
    check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device), "a property of the device");
    check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device), "a property of the device");
    return major == 9 && minor == 0;
  }

  /// Whether this kernel's code for the current device has multiply_bits.
  template <template <class, class> class K, class C>
  bool multiplies_bits() const {
    using Kernel = K<Machine, C>;
    int device = 0;
    check(cudaGetDevice(&device), "the current device");
    thread_local std::map<int, bool> known;  // a query takes longer than a launch
    if (const auto at = known.find(device); at != known.end()) return at->second;
    cudaFuncAttributes is{};
    require(cudaFuncGetAttributes(&is, run<Kernel>), launch_of<Kernel>(1));
    return known[device] = is.ptxVersion >= 80;
  }

  /// The clusters of `blocks_each` blocks that the current device holds at once if it runs nothing else. 0: it has no
  /// clusters, or none as large, or less shared memory, or this kernel was compiled for devices before sm_90.
  template <template <class, class> class K, class C>
  int most_clusters(int blocks_each) const {
    using Kernel = K<Machine, C>;
    int device = 0;
    check(cudaGetDevice(&device), "the current device");
    thread_local std::map<std::pair<int, int>, int> known;  // a query takes longer than a launch
    if (const auto at = known.find({device, blocks_each}); at != known.end()) return at->second;
    return known[{device, blocks_each}] =
               clusters_held(run_clusters<Kernel>, launch_of<Kernel>(blocks_each), blocks_each);
  }

  /// A grid of clusters, all of them resident. Throws InvalidArgument for more than most_clusters, and the launch's
  /// error.
  template <template <class, class> class K, class C>
  void launch_clusters(int blocks_each, std::int64_t clusters, const typename K<Machine, C>::Args& args,
                       bool overlap = false) {
    using Kernel = K<Machine, C>;
    if (clusters == 0) return;
    const Launch launch = launch_of<Kernel>(clusters * blocks_each);
    if (const int most = most_clusters<K, C>(blocks_each); clusters > most)
      throw_too_many_clusters(launch, blocks_each, most);
    cudaLaunchConfig_t config = config_of(launch);
    cudaLaunchAttribute attributes[2] = {cluster_attribute(blocks_each), overlap_attribute()};
    config.attrs = attributes;
    config.numAttrs = overlap ? 2 : 1;
    require(cudaLaunchKernelEx(&config, run_clusters<Kernel>, args), launch);
    if (on_launch_ != nullptr) tell(reinterpret_cast<const void*>(&run_clusters<Kernel>), launch);
  }
  /// The same, but none begins before the device can hold all of them, as launch_together.
  template <template <class, class> class K, class C>
  bool launch_clusters_together(int blocks_each, std::int64_t clusters, const typename K<Machine, C>::Args& args) {
    using Kernel = K<Machine, C>;
    const Launch launch = launch_of<Kernel>(clusters * blocks_each);
    if (clusters > most_clusters<K, C>(blocks_each)) return false;
    cudaLaunchConfig_t config = config_of(launch);
    cudaLaunchAttribute attributes[2] = {cluster_attribute(blocks_each), together_attribute()};
    config.attrs = attributes;
    config.numAttrs = 2;
    return launched_together(cudaLaunchKernelEx(&config, run_clusters<Kernel>, args),
                             reinterpret_cast<const void*>(&run_clusters<Kernel>), launch);
  }

  /// Sets n bytes from p on.
  void fill(void* p, int byte, std::size_t n) { check(cudaMemsetAsync(p, byte, n, stream_), "a fill"); }
  /// Zeroes a new workspace.
  void clear(void* p, std::size_t n) { cuda::clear(p, n, stream()); }
  void copy_in(void* to, const void* from, std::size_t n) { cuda::copy_in(to, from, n, stream()); }
  static std::string lacks_shared(int device, std::size_t bytes) { return cuda::lacks_shared(device, bytes); }

 private:
  template <class Kernel>
  static constexpr std::size_t shared_of = std::is_empty_v<typename Kernel::Shared> ? 0
                                                                                    : sizeof(typename Kernel::Shared);
  template <class Kernel>
  static Launch launch_of(std::int64_t blocks) {
    return {typeid(Kernel).name(), blocks, Kernel::threads, shared_of<Kernel>};
  }
  cudaLaunchConfig_t config_of(const Launch& launch) const {
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(static_cast<unsigned>(launch.blocks));
    config.blockDim = dim3(static_cast<unsigned>(launch.threads));
    config.dynamicSmemBytes = launch.shared_bytes;
    config.stream = stream_;
    return config;
  }
  static cudaLaunchAttribute overlap_attribute() {
    cudaLaunchAttribute attribute;
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    return attribute;
  }
  static cudaLaunchAttribute together_attribute() {
    cudaLaunchAttribute attribute;
    attribute.id = cudaLaunchAttributeCooperative;
    attribute.val.cooperative = 1;
    return attribute;
  }
  static cudaLaunchAttribute cluster_attribute(int blocks_each) {
    cudaLaunchAttribute attribute;
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = static_cast<unsigned>(blocks_each);
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    return attribute;
  }

  /// Blocks of that kernel that the current device holds at once if it runs nothing else; 0 if it cannot launch them
  /// together.
  template <class Kernel>
  std::int64_t most_blocks(const Launch& launch) const {
    int device = 0;
    check(cudaGetDevice(&device), "the current device");
    thread_local std::map<int, std::int64_t> known;  // a query takes longer than a launch
    if (const auto at = known.find(device); at != known.end()) return at->second;
    int shared = 0;
    check(cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device), "a property of the device");
    if (launch.shared_bytes > static_cast<std::size_t>(shared)) return known[device] = 0;
    grant<Kernel>(launch);
    return known[device] = blocks_held(run<Kernel>, launch);
  }
  template <class Kernel>
  static void grant(const Launch& launch) {
    if constexpr (shared_of < Kernel >> shared_without_asking) {
      static constinit std::atomic<std::uint64_t> granted{0};
      grant_shared(reinterpret_cast<const void*>(&run<Kernel>), launch, granted);
    }
  }

  // In this header, because each shared library or program with kernels has its own CUDA runtime, which alone knows
  // them and keeps the last error.
  static void require(cudaError_t status, const Launch& launch) {
    if (status != cudaSuccess) cudaGetLastError();  // clears the error, so that no later call reports it
    check(status, launch);
  }
  /// Extra shared memory for a kernel is requested once for each device, which has a bit in `granted`.
  static void grant_shared(const void* kernel, const Launch& launch, std::atomic<std::uint64_t>& granted) {
    int device = 0;
    check(cudaGetDevice(&device), "the current device");
    const std::uint64_t bit = device < 64 ? std::uint64_t{1} << device : 0;  // devices beyond request it each time
    if ((granted.load(std::memory_order_relaxed) & bit) != 0) return;
    require(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 static_cast<int>(launch.shared_bytes)),
            launch);
    granted.fetch_or(bit, std::memory_order_relaxed);
  }

  template <class Args>
  static std::int64_t blocks_held(void (*kernel)(Args), const Launch& launch) {
    int device = 0, can = 0, multiprocessors = 0, each = 0;
    check(cudaGetDevice(&device), "the current device");
    check(cudaDeviceGetAttribute(&can, cudaDevAttrCooperativeLaunch, device), "a property of the device");
    check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device), "a property of the device");
    if (can == 0) return 0;
    require(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, launch.threads, launch.shared_bytes), launch);
    return static_cast<std::int64_t>(each) * multiprocessors;
  }
  /// False also if the part of the device that a program is confined to is too small.
  bool launched_together(cudaError_t status, const void* kernel, const Launch& launch) const {
    if (status == cudaErrorCooperativeLaunchTooLarge) {
      cudaGetLastError();
      return false;
    }
    require(status, launch);
    if (on_launch_ != nullptr) tell(kernel, launch, true);
    return true;
  }

  /// `one` is the launch of one cluster. Requests what a launch of clusters needs on the current device.
  template <class Args>
  int clusters_held(void (*kernel)(Args), const Launch& one, int blocks_each) const {
    if (blocks_each < 1 || blocks_each > 16) return 0;
    cudaFuncAttributes is{};
    require(cudaFuncGetAttributes(&is, kernel), one);
    if (is.ptxVersion < 90) return 0;
    if (cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(one.shared_bytes)) !=
        cudaSuccess) {
      cudaGetLastError();  // more than this device allows
      return 0;
    }
    // Every device with clusters supports those of 8; larger ones are optional.
    if (blocks_each > 8) require(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1), one);
    cudaLaunchConfig_t config = config_of(one);
    cudaLaunchAttribute attribute = cluster_attribute(blocks_each);
    config.attrs = &attribute;
    config.numAttrs = 1;
    int most = 0;
    const cudaError_t status = cudaOccupancyMaxActiveClusters(&most, kernel, &config);
    if (status == cudaErrorInvalidClusterSize) {
      cudaGetLastError();
      return 0;
    }
    require(status, one);
    return most;
  }

  void tell(const void* kernel, const Launch& launch, bool together = false) const {
    int device = 0;
    check(cudaGetDevice(&device), "the current device");
    thread_local std::map<std::pair<const void*, int>, LaunchCounts> known;  // a query takes longer than a launch
    const auto [at, is_new] = known.try_emplace({kernel, device});
    LaunchCounts& counts = at->second;
    if (is_new) {
      counts = counts_of(launch);
      check(
          cudaOccupancyMaxActiveBlocksPerMultiprocessor(&counts.resident, kernel, launch.threads, launch.shared_bytes),
          "the blocks that a multiprocessor holds");
    }
    counts.blocks = launch.blocks, counts.together = together;
    (*on_launch_)(counts);
  }

  Stream stream() const { return Stream::cuda(stream_); }

  cudaStream_t stream_;
  const LaunchReport* on_launch_;
};

}  // namespace areal::cuda
