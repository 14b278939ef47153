#pragma once
// The paper's bounds for the programs, with the constants that it hides in O() and Omega().

#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>
#include "memory_machines/machine.hpp"

namespace areal::memory {

/// The terms of the bounds (section 5): n/w, nl/p, l log n.
struct Terms {
  double bandwidth = 0, latency = 0, reduction = 0;
  double sum() const { return bandwidth + latency + reduction; }
};

inline Terms terms(std::int64_t n, const Shape& shape) {
  const auto elements = static_cast<double>(n), l = static_cast<double>(shape.latency);
  return {elements / static_cast<double>(shape.width), elements * l / static_cast<double>(shape.threads),
          l * std::log2(elements)};
}

inline std::int64_t divided_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
inline std::int64_t log2_up(std::int64_t n) { return n < 2 ? 0 : std::bit_width(static_cast<std::uint64_t>(n - 1)); }

/// The three lower bounds of any program for the sum, hence for prefix-sums and tables (Theorem 3): w elements enter in
/// a unit, a thread reads one in l units, and in l units the number of remaining values at most halves.
struct Limits {
  std::int64_t bandwidth = 0, latency = 0, reduction = 0;
  std::int64_t most() const { return std::max({bandwidth, latency, reduction}); }
  const char* binding() const {
    if (bandwidth == most()) return "bandwidth";
    return latency == most() ? "latency" : "reduction";
  }
};

inline Limits limits(std::int64_t n, const Shape& shape) {
  return {divided_up(n, shape.width), shape.latency * divided_up(n, shape.threads), shape.latency * log2_up(n)};
}

/// True if the latency is hidden (section 5): all stages of the pipeline are full.
inline bool enough_threads(const Shape& shape) { return shape.width * shape.latency <= shape.threads; }
inline bool enough_elements(std::int64_t n, const Shape& shape) {
  return static_cast<double>(shape.width * shape.latency) * std::log2(static_cast<double>(n)) <= static_cast<double>(n);
}

/// The least k, a power of two within [p, n], for which the sequential-parallel prefix-sums are within a constant of
/// n/w + nl/p: min(p log p, wl log(wl)). n if there is none.
inline std::int64_t least_workspace(std::int64_t n, const Shape& shape) {
  const auto scaled = [](double x) { return x * std::log2(std::max(x, 2.0)); };
  const double wanted = std::min(scaled(static_cast<double>(shape.threads)),
                                 scaled(static_cast<double>(shape.width) * static_cast<double>(shape.latency)));
  const double least = std::max(wanted, static_cast<double>(shape.threads));
  std::int64_t k = 1;
  while (k < n && static_cast<double>(k) < least) k *= 2;
  return std::min(k, n);
}

}  // namespace areal::memory
