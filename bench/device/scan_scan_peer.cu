// Scan-scan (scan_scan.hpp) as a peer of `areal bench`: the baseline of Chen 2018.
#include <memory>
#include "cuda_device.hpp"
#include "device_peers.hpp"
#include "scan_scan.hpp"

namespace areal::bench {
namespace {

namespace scan = scan_then_scan;

struct Machine {
  __device__ static int thread() { return static_cast<int>(threadIdx.x); }
  __device__ static int threads() { return static_cast<int>(blockDim.x); }
  __device__ static void sync() { __syncthreads(); }
  template <class T>
  __device__ static T up(T value, int lanes) {
    return __shfl_up_sync(0xffffffffU, value, lanes);
  }
  template <class T>
  __device__ static T across(T value, int mask) {
    return __shfl_xor_sync(0xffffffffU, value, mask);
  }
  __device__ static scan::Words load(const std::uint8_t* p) {
    const uint4 v = *reinterpret_cast<const uint4*>(p);
    return {{v.x, v.y, v.z, v.w}};
  }
  __device__ static void store(std::uint32_t* p, const scan::Four<std::uint32_t>& v) {
    *reinterpret_cast<uint4*>(p) = make_uint4(v.at[0], v.at[1], v.at[2], v.at[3]);
  }
  __device__ static void store(float* p, const scan::Four<float>& v) {
    *reinterpret_cast<float4*>(p) = make_float4(v.at[0], v.at[1], v.at[2], v.at[3]);
  }
};

// A block for each row of a contiguous image.
template <class In, class T>
__global__ void __launch_bounds__(scan::row_threads) rows(const In* image, T* table, std::int64_t width) {
  __shared__ scan::Shared<T> shared;
  Machine m;
  const std::int64_t at = blockIdx.x * width;
  scan::row(m, shared, image + at, table + at, width);
}
template <class T>
__global__ void __launch_bounds__(scan::most_threads)
    rows_of_bytes(const std::uint8_t* image, T* table, std::int64_t width) {
  __shared__ scan::Shared<T> shared;
  Machine m;
  const std::int64_t at = blockIdx.x * width;
  scan::row_of_bytes(m, shared, image + at, table + at, width);
}
template <class T>
__global__ void __launch_bounds__(scan::columns) sum_columns(T* table, std::int64_t width, std::int64_t height) {
  const std::int64_t x = std::int64_t{blockIdx.x} * scan::columns + threadIdx.x;
  if (x < width) scan::column(table + x, width, height);
}

template <class In, class T>
std::function<void()> prepared(const Scene& scene, const std::shared_ptr<Memory>& memory) {
  const auto* const image = static_cast<const In*>(scene.image);
  auto* const table = static_cast<T*>(memory->data());
  const auto blocks = static_cast<unsigned>(scene.height);
  const auto groups = static_cast<unsigned>((scene.width + scan::columns - 1) / scan::columns);
  return [=, width = scene.width, height = scene.height, stream = scene.stream] {
    (void)memory;  // lives as long as the code that writes to it
    bool taken = false;
    if constexpr (sizeof(In) == 1)
      if (scan::by_sixteen(image, table, width)) {
        rows_of_bytes<<<blocks, static_cast<unsigned>(scan::threads_by_sixteen(width)), 0, stream>>>(image, table,
                                                                                                     width);
        taken = true;
      }
    if (!taken) rows<<<blocks, scan::row_threads, 0, stream>>>(image, table, width);
    check(cudaGetLastError());
    sum_columns<<<groups, scan::columns, 0, stream>>>(table, width, height);
    check(cudaGetLastError());
  };
}

// Signed numbers have the bits of unsigned ones.
std::function<void()> prepared_for(const Scene& scene, const std::shared_ptr<Memory>& table) {
  const auto is = [&](Type input, Type sums) { return scene.types.input == input && scene.types.table == sums; };
  if (is(Type::u8, Type::u32) || is(Type::u8, Type::s32)) return prepared<std::uint8_t, std::uint32_t>(scene, table);
  if (is(Type::u8, Type::f32)) return prepared<std::uint8_t, float>(scene, table);
  if (is(Type::u32, Type::u32) || is(Type::s32, Type::s32)) return prepared<std::uint32_t, std::uint32_t>(scene, table);
  if (is(Type::f32, Type::f32)) return prepared<float, float>(scene, table);
  if (is(Type::f64, Type::f64)) return prepared<double, double>(scene, table);
  return {};
}

}  // namespace

std::optional<DevicePeer> scan_scan(const Scene& scene, std::string& missing) {
  if (scene.squares) {
    missing = "scan-scan computes no squares";
    return {};
  }
  const std::size_t bytes = static_cast<std::size_t>(scene.width * scene.height) * size_of(scene.types.table);
  const auto table = std::make_shared<Memory>(bytes);
  DevicePeer peer;
  peer.run = prepared_for(scene, table);
  if (!peer.run) {
    missing = "scan-scan was not compiled for " + name_of(scene.types);
    return {};
  }
  peer.name = "scan-scan";
  peer.border = Border::none;
  peer.table = table->data();
  peer.pitch = scene.width * static_cast<std::int64_t>(size_of(scene.types.table));
  peer.fetch = [table, bytes](void* sums, void*) {
    check(cudaMemcpy(sums, table->data(), bytes, cudaMemcpyDeviceToHost));
  };
  return peer;
}

}  // namespace areal::bench
