#pragma once
// Images of random bytes that are made fast.

#include <algorithm>
#include <areal/view.hpp>
#include <cstdint>

namespace areal::bench {

/// Fills a contiguous 8u image with splitmix64's bytes, 8 at a time: a gigabyte takes a fraction of a second.
inline void fill_noise(const View& image, std::uint64_t seed) {
  auto* const bytes = static_cast<std::uint8_t*>(image.data);
  const auto n = static_cast<std::uint64_t>(image.shape.width * image.shape.height);
  for (std::uint64_t i = 0; i < n; i += 8) {
    std::uint64_t z = (seed << 40) + (i + 8) * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    for (std::uint64_t k = 0; k < std::min<std::uint64_t>(8, n - i); ++k)
      bytes[i + k] = static_cast<std::uint8_t>(z >> (8 * k));
  }
}

}  // namespace areal::bench
