#pragma once
// The address groups that a request to global memory touches.

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include "simt/checks/requests.hpp"

namespace areal::simt {

/// The addresses of a request, without gaps for inactive lanes.
struct Dense {
  explicit Dense(const Request& request) {
    for (std::uint32_t mask = request.mask; mask != 0; mask &= mask - 1)
      at[n++] = request.at[static_cast<std::size_t>(std::countr_zero(mask))];
  }
  std::array<std::uint64_t, 32> at;
  std::size_t n = 0;
};

/// The number of different values of unit(at).
template <class Unit>
std::uint64_t distinct(const Dense& dense, Unit unit) {
  std::array<std::uint64_t, 32> units;
  bool ascending = true;
  for (std::size_t i = 0; i < dense.n; ++i) {
    units[i] = unit(dense.at[i]);
    ascending &= i == 0 || units[i - 1] <= units[i];
  }
  if (!ascending) std::sort(units.begin(), units.begin() + dense.n);
  return static_cast<std::uint64_t>(std::unique(units.begin(), units.begin() + dense.n) - units.begin());
}

/// Groups of w accesses of that many bytes. Coalesced: no more groups than consecutive accesses from the same lowest
/// address would touch.
struct Touched {
  std::uint64_t groups;
  bool coalesced;
};
inline Touched touched(const Dense& dense, std::uint64_t bytes, unsigned w) {
  const std::uint64_t group = w * bytes;
  const std::uint64_t groups = distinct(dense, [group](std::uint64_t at) { return at / group; });
  std::uint64_t lowest = ~std::uint64_t{0};
  for (std::size_t i = 0; i < dense.n; ++i) lowest = std::min(lowest, dense.at[i]);
  return {groups, groups <= (lowest + bytes * dense.n - 1) / group - lowest / group + 1};
}

}  // namespace areal::simt
