#pragma once
// Images of random bytes that are made fast.

#include <algorithm>
#include <areal/view.hpp>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

namespace areal::bench {

/// Fills a contiguous 8u image with splitmix64's bytes, on all CPUs.
inline void fill_noise(const View& image, std::uint64_t seed) {
  auto* const bytes = static_cast<std::uint8_t*>(image.data);
  const auto n = static_cast<std::uint64_t>(image.shape.width * image.shape.height);
  const auto fill = [=](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t i = begin; i < end; i += 8) {
      std::uint64_t z = (seed << 40) + (i + 8) * 0x9e3779b97f4a7c15u;
      z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
      z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
      z ^= z >> 31;
      std::memcpy(bytes + i, &z, std::min<std::uint64_t>(8, end - i));
    }
  };
  const std::uint64_t threads = n < (1 << 20) ? 1 : std::max(1U, std::thread::hardware_concurrency());
  const std::uint64_t part = (n / threads + 7) / 8 * 8;
  std::vector<std::thread> others;
  for (std::uint64_t i = 1; i < threads && i * part < n; ++i)
    others.emplace_back([&, i] { fill(i * part, i + 1 == threads ? n : std::min(n, (i + 1) * part)); });
  fill(0, threads == 1 ? n : std::min(n, part));
  for (std::thread& other : others) other.join();
}

}  // namespace areal::bench
