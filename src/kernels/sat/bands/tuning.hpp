#pragma once
// Types and tuning of bands.

#include <areal/type.hpp>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace areal::kernels {

/// The number of warps in each role, and the size of a step.
struct BandsTuning {
  int columns;     ///< of a step
  int rows;        ///< of a writer, at most
  int exchangers;  ///< also the number of steps in flight
  int fetchers;
  int summers = 8, writers = 16;
  int group = 5;  ///< the most rows that a writer scans together, limited by registers
};
/// By bytes of a pixel and of a sum. Flat bands leave little time beyond the exchange, so they have more steps in
/// flight; the ring holds few steps of high ones, so it gets the memory. Measured on one H200, 2026-11:
/// docs/notes/cuda-sat.md.
constexpr BandsTuning bands_tuning(int in, int out, bool flat) {
  using Tuning = BandsTuning;
  if (out == 8)
    return flat ? Tuning{.columns = 64, .rows = 3, .exchangers = 10, .fetchers = 2, .summers = 4}
                : Tuning{.columns = 64, .rows = 5, .exchangers = 4, .fetchers = 4, .group = 3};
  if (in == 4)
    return flat ? Tuning{.columns = 128, .rows = 3, .exchangers = 6, .fetchers = 2}
                : Tuning{.columns = 128, .rows = 5, .exchangers = 4, .fetchers = 4};
  if (in == 2)
    return flat ? Tuning{.columns = 128, .rows = 3, .exchangers = 6, .fetchers = 2}
                : Tuning{.columns = 128, .rows = 5, .exchangers = 4, .fetchers = 2, .group = 3};
  return flat ? Tuning{.columns = 256, .rows = 3, .exchangers = 4, .fetchers = 2, .group = 2}
              : Tuning{.columns = 256, .rows = 5, .exchangers = 5, .fetchers = 2, .group = 2};
}

/// One configuration of the kernel.
template <class In_, class T_, bool flat, bool reverse_>
struct BandsConfig {
  static constexpr BandsTuning tuning = bands_tuning(sizeof(In_), sizeof(T_), flat);
  using In = In_;
  using T = T_;
  static constexpr int columns = tuning.columns, rows = tuning.rows, exchangers = tuning.exchangers,
                       fetchers = tuning.fetchers, summers = tuning.summers, writers = tuning.writers,
                       group = tuning.group < rows ? tuning.group : rows;
  static constexpr bool reverse = reverse_;
  static constexpr int early = 1;                          ///< steps fetched before the cluster's first barrier
  static constexpr std::size_t shared_bytes = 227 * 1024;  ///< the most that a block can have, on sm_90 and sm_100
};

}  // namespace areal::kernels
