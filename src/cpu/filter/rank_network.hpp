#pragma once
// Medians of 3x3 and 5x5 keys by sorting networks: the columns are sorted once for all windows that hold them, then
// only what the median needs.

#include <array>
#include <cstdint>

namespace areal::cpu {

/// Rows of keys, of which vectors may read `network_slack` more, and write as many to `out`.
inline constexpr std::int64_t network_slack = 64;
/// The most that the columns of a window lie apart.
inline constexpr std::int64_t network_most_apart = network_slack / 4;

template <class Key>
struct NetworkKernels {
  /// Medians of n windows of 3x3 (5x5) keys; window i has columns i, i + apart, .. Sorted columns go to `sorted`.
  using Medians = void (*)(const std::array<const Key*, 5>& rows, const std::array<Key*, 5>& sorted, std::int64_t n,
                           std::int64_t apart, Key* out);
  Medians of_3, of_5;
};

/// Keys of 8, 16 and 32 bits.
template <class Key>
const NetworkKernels<Key>& network_kernels();

}  // namespace areal::cpu
