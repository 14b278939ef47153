// CUB's one-dimensional scan as a peer of `areal bench`, from the toolkit of this build.
#include <thrust/iterator/transform_iterator.h>
#include <cub/device/device_scan.cuh>
#include <cub/version.cuh>
#include <memory>
#include <type_traits>
#include "cuda_device.hpp"
#include "device_peers.hpp"

namespace areal::bench {
namespace {

template <class T>
struct As {
  template <class In>
  __host__ __device__ T operator()(In pixel) const {
    return static_cast<T>(pixel);
  }
};

template <class In, class T>
std::function<void()> scan(const Scene& scene, std::shared_ptr<Memory> table) {
  const auto* const pixels = static_cast<const In*>(scene.image);
  const auto in = [&] {  // equal types directly, so that CUB may load vectors
    if constexpr (std::is_same_v<In, T>)
      return pixels;
    else
      return thrust::make_transform_iterator(pixels, As<T>{});
  }();
  const std::int64_t n = scene.width * scene.height;
  const auto call = [in, n, table, stream = scene.stream](void* memory, std::size_t& bytes) {
    check(cub::DeviceScan::InclusiveSum(memory, bytes, in, static_cast<T*>(table->data()), n, stream));
  };
  std::size_t bytes = 0;
  call(nullptr, bytes);
  auto memory = std::make_shared<Memory>(bytes);
  return [call, memory, bytes] {
    std::size_t given = bytes;
    call(memory->data(), given);
  };
}

// Signed tables have the bits of unsigned ones, and so have signed pixels of the table's size.
std::function<void()> scan_of(const Scene& scene, const std::shared_ptr<Memory>& table) {
  const auto from = [&](auto pixel) -> std::function<void()> {
    using In = decltype(pixel);
    switch (scene.types.table) {
      case Type::u32:
      case Type::s32:
        if constexpr (sizeof(In) <= 4 && std::is_integral_v<In>) return scan<In, std::uint32_t>(scene, table);
        break;
      case Type::u64:
      case Type::s64:
        if constexpr (std::is_integral_v<In>) return scan<In, std::uint64_t>(scene, table);
        break;
      case Type::f32:
        if constexpr (sizeof(In) == 1 || std::is_same_v<In, float>) return scan<In, float>(scene, table);
        break;
      case Type::f64:
        return scan<In, double>(scene, table);
      default:
        break;
    }
    return {};
  };
  switch (scene.types.input) {
    case Type::u8:
      return from(std::uint8_t{});
    case Type::u16:
      return from(std::uint16_t{});
    case Type::u32:
      return from(std::uint32_t{});
    case Type::s32:
      if (size_of(scene.types.table) == 4) return from(std::uint32_t{});
      return {};
    case Type::f32:
      return from(float{});
    case Type::f64:
      return from(double{});
    default:
      return {};
  }
}

}  // namespace

std::optional<DevicePeer> cub_scan(const Scene& scene, std::string& missing) {
  if (scene.squares) {
    missing = "CUB has no scan that computes sums and squares";
    return {};
  }
  const std::size_t entry = size_of(scene.types.table), n = static_cast<std::size_t>(scene.width * scene.height);
  auto table = std::make_shared<Memory>(n * entry);
  DevicePeer peer;
  peer.run = scan_of(scene, table);
  if (!peer.run) {
    missing = "CUB's scan was not compiled for " + name_of(scene.types);
    return {};
  }
  peer.name = "cub " + std::to_string(CUB_MAJOR_VERSION) + "." + std::to_string(CUB_MINOR_VERSION) + "." +
              std::to_string(CUB_SUBMINOR_VERSION) + " one-dimensional scan";
  peer.border = Border::none;
  peer.whole = false;
  peer.table = table->data(), peer.pitch = scene.width * static_cast<std::int64_t>(entry);  // whole for one row
  peer.fetch = [table, n, entry](void* last, void*) {
    check(cudaMemcpy(last, static_cast<const char*>(table->data()) + (n - 1) * entry, entry, cudaMemcpyDeviceToHost));
  };
  return peer;
}

}  // namespace areal::bench
