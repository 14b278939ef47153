#pragma once
// The shape classes of an image.

#include <areal/view.hpp>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace areal::conformance {

struct ShapeClass {
  std::string name;
  std::int64_t width, height;
};

/// The seed of this run's random data: AREAL_TEST_SEED, or a fixed one.
inline std::uint64_t base_seed() {
  const char* text = std::getenv("AREAL_TEST_SEED");
  return text ? std::strtoull(text, nullptr, 10) : 20180423u;
}

/// Empty, one, lines, primes, multiples of tile and vector widths, one off them, long, and of several tiles.
inline std::vector<ShapeClass> shape_classes() {
  std::mt19937_64 random(base_seed());
  const auto below = [&](std::uint64_t n) { return static_cast<std::int64_t>(random() % n); };
  return {{"empty", 0, 0},
          {"noColumns", 0, 7},
          {"noRows", 9, 0},
          {"one", 1, 1},
          {"column", 1, 777},
          {"row", 1777, 1},
          {"two", 2, 2},
          {"primes", 13, 7},
          {"largerPrimes", 31, 37},
          {"of16", 48, 32},
          {"of64", 128, 64},
          {"of512", 512, 128},
          {"rowsOf512", 64, 512},
          {"under64", 63, 63},
          {"over64", 65, 65},
          {"under512", 511, 127},
          {"over512", 513, 129},
          {"under1024", 1023, 33},
          {"over1024", 1025, 17},
          {"rowsUnder1024", 35, 1023},
          {"rowsOver1024", 19, 1025},
          {"tall", 5, 3001},
          {"wide", 3001, 5},
          {"tiles", 1500, 300},
          {"random", 1 + below(90), 1 + below(90)},
          {"randomLarger", 1 + below(900), 1 + below(300)}};
}

}  // namespace areal::conformance
