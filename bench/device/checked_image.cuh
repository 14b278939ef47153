#pragma once
// Images of whole numbers that the device makes itself, and the check of tables and tensors made of them. Sums of these
// pixels are exact in the table's type. So a table is correct if every entry's difference from its three neighbours is
// the pixel (or its square), and a tensor if that difference is 1 for the pixel's bin and 0 for others: no sum is
// computed twice.

#include <cuda_runtime.h>
#include <areal/error.hpp>
#include <areal/type_pair.hpp>
#include <cstdint>
#include <string>
#include "cuda_device.hpp"

namespace areal::bench {

/// The pixel's value: a hash of its position. Tables of 32f hold integers up to 2^24 exactly. For signed input the sums
/// of -1, 0 and 1 stay far below that; for unsigned input one pixel in 64 is 1, which works up to 2^30 pixels.
enum class Values { bytes, signs, sparse };

/// Those of tables of these types. Throws Unavailable where the table cannot hold the sums of n of them exactly.
inline Values values_of(TypePair types, std::int64_t n) {
  if (types.table != Type::f32) return is_signed_integer(types.input) ? Values::signs : Values::bytes;
  if (is_float(types.input) || is_signed_integer(types.input)) return Values::signs;
  if (n > std::int64_t{1} << 29) throw Unavailable("32f cannot hold the sums of so many integers exactly");
  return Values::sparse;
}

__host__ __device__ inline unsigned hash(std::int64_t i) {
  auto x = static_cast<unsigned long long>(i) * 0x9e3779b97f4a7c15ULL;
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93ULL;
  return static_cast<unsigned>(x >> 32);
}
__host__ __device__ inline int pixel(std::int64_t i, Values values) {
  const unsigned h = hash(i);
  if (values == Values::signs) return static_cast<int>(h % 3) - 1;
  if (values == Values::sparse) return h % 64 == 0;
  return static_cast<int>(h & 255);
}

template <class T>
__global__ void fill(T* image, std::int64_t n, Values values) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step)
    image[i] = static_cast<T>(pixel(i, values));
}

/// The planes of one image, each width x height at `pitch` entries after `skip` (1 for border zero) rows and columns of
/// zeros. If bins is not 0, plane k is bin k's.
struct Planes {
  std::int64_t width, height, pitch, bins, batch;
  int skip;
  bool squared = false;  // of the pixels' squares
};

/// Counts the wrong entries; `wrong[1]` is one of them.
template <class T>
__global__ void compare(const T* table, Planes p, Values values, unsigned long long* wrong) {
  const std::int64_t planes = p.batch * (p.bins == 0 ? 1 : p.bins), rows = p.height + p.skip,
                     columns = p.width + p.skip;
  const std::int64_t n = planes * rows * columns, step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) {
    const std::int64_t x = i % columns, y = i / columns % rows, plane = i / columns / rows;
    const T* const at = table + (plane * rows + y) * p.pitch + x;
    const T left = x > 0 ? at[-1] : T(0), above = y > 0 ? at[-p.pitch] : T(0);
    const T corner = x > 0 && y > 0 ? at[-p.pitch - 1] : T(0);
    T expected = 0;
    if (x >= p.skip && y >= p.skip) {
      const std::int64_t image = p.bins == 0 ? plane : plane / p.bins;
      const int value = pixel((image * p.height + y - p.skip) * p.width + x - p.skip, values);
      const int added = p.squared ? value * value : value;
      expected = p.bins == 0 ? static_cast<T>(added) : static_cast<T>(value * p.bins / 256 == plane % p.bins);
    }
    // Compares single differences, which are all exact in floats. x - x is not 0 if x is not a finite number.
    if (static_cast<T>(static_cast<T>(at[0] - left) - static_cast<T>(above - corner)) != expected) {
      atomicAdd(wrong, 1ULL);
      wrong[1] = static_cast<unsigned long long>(i);
    }
  }
}

inline constexpr unsigned many_blocks = 132 * 16;

template <class Do>
void with_type(Type type, const Do& run) {
  switch (type) {
    case Type::u8:
      return run(std::uint8_t{});
    case Type::s8:
      return run(std::int8_t{});
    case Type::u16:
      return run(std::uint16_t{});
    case Type::s16:
      return run(std::int16_t{});
    case Type::u32:
    case Type::s32:  // the same bits
      return run(std::uint32_t{});
    case Type::u64:
    case Type::s64:
      return run(std::uint64_t{});
    case Type::f32:
      return run(float{});
    case Type::f64:
      return run(double{});
    default:
      throw Unavailable("races do not support pixels of type " + std::string(name_of(type)));
  }
}

/// An image of n such pixels.
inline void fill_image(void* image, Type type, std::int64_t n, Values values, cudaStream_t stream) {
  with_type(type, [&](auto t) { fill<<<many_blocks, 256, 0, stream>>>(static_cast<decltype(t)*>(image), n, values); });
  check(cudaGetLastError());
}

/// A wrong result, or a lost device.
struct Wrong : Error {
  using Error::Error;
};
struct Lost : Error {
  using Error::Error;
};

/// After an exception: true if others may still run.
inline void require_alive(const std::string& name, const std::exception& e) {
  cudaGetLastError();
  if (cudaDeviceSynchronize() != cudaSuccess) throw Lost(name + ": " + e.what() + "; the device is lost");
}

/// Throws Wrong if an entry of the table or the tensor is wrong.
inline void require_right(const std::string& name, const void* table, Type type, const Planes& planes, Values values,
                          cudaStream_t stream) {
  const Memory wrong(2 * sizeof(unsigned long long));
  auto* const counter = static_cast<unsigned long long*>(wrong.data());
  check(cudaMemsetAsync(counter, 0, 2 * sizeof *counter, stream));
  with_type(type, [&](auto t) {
    using T = decltype(t);
    if constexpr (sizeof(T) >= 4)
      compare<<<many_blocks, 256, 0, stream>>>(static_cast<const T*>(table), planes, values, counter);
    else
      throw Unavailable("results of " + std::string(name_of(type)) + " cannot be checked");
  });
  check(cudaGetLastError());
  unsigned long long found[2];
  check(cudaMemcpyAsync(found, counter, sizeof found, cudaMemcpyDeviceToHost, stream));
  check(cudaStreamSynchronize(stream));
  if (found[0] == 0) return;
  const auto columns = static_cast<unsigned long long>(planes.width + planes.skip);
  throw Wrong(name + ": " + std::to_string(found[0]) + " entries are wrong, one of them in column " +
              std::to_string(found[1] % columns) + " of row " + std::to_string(found[1] / columns));
}

}  // namespace areal::bench
