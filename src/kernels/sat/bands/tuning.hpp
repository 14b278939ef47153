#pragma once
// Types and tuning of bands.

#include <areal/type.hpp>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace areal::kernels {

/// How many warps have which role, and what a step is.
struct BandsTuning {
  int columns;     ///< of a step
  int rows;        ///< of a writer, at most
  int exchangers;  ///< as many steps are under way
  int fetchers;
  int summers = 8, writers = 16;
  int group = 5;  ///< rows that a writer scans together, at most: what registers hold
};
/// By bytes of a pixel and of a sum. Flat bands leave time for little else than the exchange, so more steps of them are
/// under way; of high ones the ring holds few, so it gets the memory. Of one H200, 2026-11: docs/notes/cuda-sat.md.
constexpr BandsTuning bands_tuning(int in, int out, bool flat) {
  if (out == 8) return flat ? BandsTuning{64, 3, 10, 2, 4} : BandsTuning{64, 5, 4, 4, 8, 16, 3};
  if (in == 4) return flat ? BandsTuning{128, 3, 6, 2} : BandsTuning{128, 5, 4, 4};
  if (in == 2) return flat ? BandsTuning{128, 3, 6, 2} : BandsTuning{128, 5, 4, 2, 8, 16, 3};
  return flat ? BandsTuning{256, 3, 4, 2, 8, 16, 2} : BandsTuning{256, 5, 5, 2, 8, 16, 2};
}

/// What one configuration of the kernel is made of.
template <class In_, class T_, bool flat, bool reverse_>
struct BandsConfig {
  static constexpr BandsTuning tuning = bands_tuning(sizeof(In_), sizeof(T_), flat);
  using In = In_;
  using T = T_;
  static constexpr int columns = tuning.columns, rows = tuning.rows, exchangers = tuning.exchangers,
                       fetchers = tuning.fetchers, summers = tuning.summers, writers = tuning.writers,
                       group = tuning.group < rows ? tuning.group : rows;
  static constexpr bool reverse = reverse_;
  static constexpr int early = 1;                          ///< steps that are fetched before the cluster meets
  static constexpr std::size_t shared_bytes = 227 * 1024;  ///< all that a block can have, on sm_90 and sm_100
};

}  // namespace areal::kernels
